from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.chunking.tokens import count
from bookchunk_assets.context.prefix import Prefix, PrefixedChunk
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.embedding.embedded import EmbeddedChunk
from bookchunk_assets.markdown.chapter import ChapterFacts
from bookchunk_assets.outputs.checks import CheckResult
from bookchunk_assets.outputs.diff import Change, Diff, diff, mark, read_marks
from bookchunk_assets.outputs.files import OutputPaths, digest_of, write_set, write_whole
from bookchunk_assets.outputs.publish import publish, unchanged
from bookchunk_assets.outputs.records import read_records, record, to_lines
from bookchunk_assets.outputs.report import Report, histogram, make_report, nearest_rank, render, sizes_of

SETTINGS = Settings(book_slug="on-rivers", title="On Rivers")
THIRD = ChapterFacts(number=3, slug="mouths", title="Mouths")


def finished(text: str, ordinal: int = 1, chapter: ChapterFacts = THIRD, **more: Any) -> PrefixedChunk:
    chunk = Chunk(
        chapter=chapter,
        ordinal=ordinal,
        kind="body",
        section_anchor="#deltas",
        heading_path=(chapter.title, "Deltas"),
        page_start=7,
        page_end=8,
        text=text,
        token_count=count(text),
        char_start=30,
        char_end=30 + len(text),
        overlap_tokens=0,
        footnotes=(),
        split=None,
    )
    return PrefixedChunk(replace(chunk, **more), Prefix("From On Rivers.", "extractive"))


# Records


def test_a_record_has_the_contract_s_keys_in_its_order() -> None:
    made = record("on-rivers", "en", finished("Every delta.", key_concepts=("delta",), split="paragraph"))
    assert list(made.items())[:11] == [
        ("id", "on-rivers-ch03-0001"),
        ("book_slug", "on-rivers"),
        ("chapter", 3),
        ("chapter_slug", "mouths"),
        ("section_anchor", "#deltas"),
        ("page_start", 7),
        ("page_end", 8),
        ("heading_path", ["Mouths", "Deltas"]),
        ("text", "Every delta."),
        ("context_prefix", "From On Rivers."),
        ("token_count", 3),
    ]
    assert list(made)[11:] == ["sha256", "metadata"]
    # sha256sum of the prefix, a blank line and the text
    assert made["sha256"] == "769ebaf11f36a80515f452a607b87dec3aafd2c6f30dd3543daa29f0dd2f847d"
    assert list(made["metadata"].items()) == [
        ("language", "en"),
        ("key_concepts", ["delta"]),
        ("is_preview", False),
        ("mentions_figures", []),
        ("mentions_scriptures", []),
        ("kind", "body"),
        ("char_start", 30),
        ("char_end", 42),
        ("overlap_tokens", 0),
        ("footnotes", []),
        ("split", "paragraph"),
        ("prefix_source", "extractive"),
    ]


@pytest.mark.parametrize(
    ("facts", "ordinal", "wanted"),
    [
        (ChapterFacts(3, "mouths", "Mouths"), 12, "on-rivers-ch03-0012"),
        (ChapterFacts(112, "mouths", "Mouths"), 12345, "on-rivers-ch112-12345"),
        (ChapterFacts(None, "สารบัญ", "Contents"), 0, "on-rivers-สารบัญ-0000"),
    ],
)
def test_ids(facts: ChapterFacts, ordinal: int, wanted: str) -> None:
    made = record("on-rivers", "en", finished("x", ordinal, facts))
    assert (made["id"], made["chapter"], made["chapter_slug"]) == (wanted, facts.number, facts.slug)


def test_a_chapter_s_own_language_comes_before_the_book_s() -> None:
    welsh = finished("Pob delta.", chapter=replace(THIRD, language="cy"))
    assert record("on-rivers", "en", welsh)["metadata"]["language"] == "cy"


def test_lines_are_one_a_record_for_every_reader(tmp_path: Path) -> None:
    texts = ["a\u2028b\u2029c\x85d\x0be\x0c\x1cf\r\ng", 'tabs\t, "quotes" and \\', "ไทย 😀"]
    records = [record("on-rivers", "en", finished(text, n)) for n, text in enumerate(texts, 1)]
    path = tmp_path / "chunks.jsonl"
    path.write_bytes(b"".join(to_lines(records)))
    assert len(path.read_text("utf-8").splitlines()) == len(texts)
    assert "ไทย 😀" in path.read_text("utf-8")
    assert list(read_records(path)) == records


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b'{"id": "a"}\n{"id": "b', 2),
        (b"[1, 2]\n", 1),
        (b"\xff\xfe\n", 1),
        (b"\n", 1),
        (b"[" * 100_000, 1),
        (b"PAR1\x00\x00", 1),
    ],
    ids=["cut off", "no object", "no UTF-8", "blank", "endless nesting", "binary"],
)
def test_a_file_that_holds_no_records_says_where(tmp_path: Path, data: bytes, line: int) -> None:
    path = tmp_path / "chunks.jsonl"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=rf"chunks\.jsonl:{line}: no "):
        list(read_records(path))


# Files


def test_a_book_s_files_stand_in_ingest() -> None:
    assert OutputPaths.of_book(Path("corpus/heron/on-rivers")) == OutputPaths(
        chunks=Path("corpus/heron/on-rivers/.ingest/chunks.jsonl"),
        diff=Path("corpus/heron/on-rivers/.ingest/chunks.diff.json"),
        report=Path("corpus/heron/on-rivers/.ingest/report.json"),
        embeddings=Path("corpus/heron/on-rivers/.ingest/embeddings.parquet"),
    )


@pytest.mark.parametrize(("name", "stem"), [("mine.jsonl", "mine"), ("v1.2.jsonl", "v1.2"), ("mine", "mine")])
def test_out_puts_the_others_beside(name: str, stem: str) -> None:
    paths = OutputPaths.beside(Path("there") / name)
    assert paths.chunks == Path("there") / name
    assert [path.as_posix() for path in (paths.diff, paths.embeddings, paths.report)] == [
        f"there/{stem}.diff.json",
        f"there/{stem}.embeddings.parquet",
        f"there/{stem}.report.json",
    ]


def test_a_write_that_fails_leaves_what_stood(tmp_path: Path) -> None:
    path = tmp_path / "chunks.jsonl"
    write_whole(path, [b"old"])

    def torn() -> Iterator[bytes]:
        yield b"new"
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        write_whole(path, torn())
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"chunks.jsonl": b"old"}


def test_a_killed_write_leaves_what_stood_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    path = tmp_path / "chunks.jsonl"
    write_whole(path, [b"old"])
    write_and_hang = (
        "import sys, time; from pathlib import Path; from bookchunk_assets.outputs.files import write_whole\n"
        "def parts():\n"
        "    yield b'n' * 1_000_000\n"
        "    print('half', flush=True)\n"
        "    time.sleep(60)\n"
        "write_whole(Path(sys.argv[1]), parts())"
    )
    with subprocess.Popen([sys.executable, "-c", write_and_hang, str(path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"half\n"
        os.kill(writer.pid, signal.SIGKILL)
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 2
    digest = write_whole(path, [b"n", b"ew"])
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"chunks.jsonl": b"new"}
    assert digest == digest_of(path)


def test_a_set_is_new_only_where_all_of_it_is_written(tmp_path: Path) -> None:
    chunks, changes = tmp_path / "chunks.jsonl", tmp_path / "chunks.diff.json"
    write_set({chunks: [b"old"], changes: [b"old diff"]})

    def torn() -> Iterator[bytes]:
        yield b"new diff"
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        write_set({chunks: [b"new"], changes: torn()})
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {
        "chunks.jsonl": b"old",
        "chunks.diff.json": b"old diff",
    }


def test_a_file_that_is_not_there_has_no_digest(tmp_path: Path) -> None:
    assert digest_of(tmp_path / "chunks.jsonl") is None


# Diff

Stood = dict[str, Any]


def stood(name: str, text: str, prefix: str = "p", path: tuple[str, ...] = ("Mouths",)) -> Stood:
    return {"id": name, "text": text, "sha256": f"{prefix} {text}", "heading_path": list(path)}


def compared(old: list[Stood], new: list[Stood]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(diff(map(mark, old), map(mark, new)).to_json())
    return found


def test_nothing_changed() -> None:
    same = [stood("1", "a"), stood("2", "b")]
    assert compared(same, same) == {
        "summary": {"added": 0, "modified": 0, "unchanged": 2, "removed": 0, "moved": 0},
        "chunks": {"1": {"__diff": "unchanged"}, "2": {"__diff": "unchanged"}},
    }


def test_every_state() -> None:
    old = [stood("1", "a"), stood("2", "b"), stood("3", "c"), stood("4", "d")]
    new = [stood("1", "a"), stood("2", "B"), stood("3", "c", prefix="other"), stood("5", "e")]
    assert compared(old, new) == {
        "summary": {"added": 1, "modified": 2, "unchanged": 1, "removed": 1, "moved": 0},
        "chunks": {
            "1": {"__diff": "unchanged"},
            "2": {"__diff": "modified"},
            "3": {"__diff": "modified"},
            "5": {"__diff": "added"},
            "4": {"__diff": "removed"},
        },
    }


@pytest.mark.parametrize(
    ("old", "new", "moves"),
    [
        # one put before the others moves them all
        ("a b c", "x a b c", {"2": "1", "3": "2", "4": "3"}),
        ("a b c", "b c", {"1": "2", "2": "3"}),
        ("a b", "b a", {"1": "2", "2": "1"}),
        # still there under its own id: the second one is new
        ("a b", "a a", {}),
        ("a", "a a a", {}),
        # two of the same, both gone from where they stood: each moves once
        ("a a b", "b a a", {"1": "3", "3": "1"}),
        ("a x", "x a a", {"1": "2", "2": "1"}),
    ],
)
def test_moves(old: str, new: str, moves: dict[str, str]) -> None:
    def numbered(texts: str) -> list[Stood]:
        return [stood(str(n), text) for n, text in enumerate(texts.split(), 1)]

    found = compared(numbered(old), numbered(new))
    assert {name: c["moved_from"] for name, c in found["chunks"].items() if "moved_from" in c} == moves
    assert found["summary"]["moved"] == len(moves)


def test_the_same_text_under_other_headings_has_not_moved() -> None:
    old, new = [stood("1", "a")], [stood("2", "a", path=("Springs",))]
    assert compared(old, new)["chunks"] == {"2": {"__diff": "added"}, "1": {"__diff": "removed"}}


def test_a_passage_can_move_and_take_another_prefix() -> None:
    old, new = [stood("1", "a")], [stood("2", "a", prefix="follows x")]
    assert compared(old, new)["chunks"]["2"] == {"__diff": "added", "moved_from": "1"}


def test_marks_of_no_file_and_of_no_chunks(tmp_path: Path) -> None:
    path = tmp_path / "chunks.jsonl"
    assert read_marks(path) == []
    path.write_text('{"id": "1", "text": "a"}\n', "utf-8")
    with pytest.raises(ValueError, match="heading_path"):
        read_marks(path)


# Publish


def published(folder: Path, *texts: str) -> dict[str, int]:
    paths = OutputPaths.of_book(folder)
    publish(paths, SETTINGS, [[EmbeddedChunk(finished(text, n)) for n, text in enumerate(texts, 1)]])
    assert len(list(read_records(paths.chunks))) == len(texts)
    summary: dict[str, int] = json.loads(paths.diff.read_bytes())["summary"]
    return summary


def test_publishing_twice_changes_nothing(tmp_path: Path) -> None:
    assert published(tmp_path, "a", "b") == {"added": 2, "modified": 0, "unchanged": 0, "removed": 0, "moved": 0}
    before = OutputPaths.of_book(tmp_path).chunks.read_bytes()
    assert published(tmp_path, "a", "b") == {"added": 0, "modified": 0, "unchanged": 2, "removed": 0, "moved": 0}
    assert OutputPaths.of_book(tmp_path).chunks.read_bytes() == before


def test_a_run_that_writes_nothing_tells_so_in_the_diff(tmp_path: Path) -> None:
    paths = OutputPaths.of_book(tmp_path)
    publish(paths, SETTINGS, [[EmbeddedChunk(finished("a"))]])
    assert json.loads(paths.diff.read_bytes())["chunks"] == {"on-rivers-ch03-0001": {"__diff": "added"}}
    unchanged(paths)
    assert json.loads(paths.diff.read_bytes())["chunks"] == {"on-rivers-ch03-0001": {"__diff": "unchanged"}}


@pytest.mark.parametrize("data", [b"garbage", b"{}\n", b'{"id": "a"\n', b"\xff"])
def test_an_old_file_that_cannot_be_read_is_kept(tmp_path: Path, data: bytes) -> None:
    paths = OutputPaths.of_book(tmp_path)
    write_whole(paths.chunks, [data])
    made = publish(paths, SETTINGS, [[EmbeddedChunk(finished("a"))]])
    assert made.difference.summary["added"] == 1
    assert [str(paths.chunks) in warning and "chunks.jsonl.bad" in warning for warning in made.warnings] == [True]
    assert (paths.chunks.parent / "chunks.jsonl.bad").read_bytes() == data


def test_vectors_go_where_none_are_asked_for(tmp_path: Path) -> None:
    paths = OutputPaths.of_book(tmp_path)
    write_whole(paths.embeddings, [b"PAR1"])
    publish(paths, SETTINGS, [[EmbeddedChunk(finished("a"))]])
    assert not paths.embeddings.exists()


# Report


def passed(name: str, ok: bool = True, warns: bool = False) -> CheckResult:
    return CheckResult(name, ok, f"what {name} says", () if ok else ("on-rivers-ch03-0001: why",), warns)


def a_report(*checks: CheckResult, **more: Any) -> Report:
    records = [
        {"token_count": tokens, "chapter_slug": "mouths", "section_anchor": anchor, "metadata": metadata}
        for tokens, anchor, metadata in [
            (500, "#deltas", {"kind": "body", "overlap_tokens": 0, "prefix_source": "extractive"}),
            (300, "#deltas", {"kind": "footnote", "overlap_tokens": 0, "prefix_source": "extractive"}),
            (511, "#deltas", {"kind": "body", "overlap_tokens": 62, "prefix_source": "extractive"}),
            (528, "#deltas", {"kind": "body", "overlap_tokens": 59, "prefix_source": "extractive"}),
            (100, "#bars", {"kind": "body", "overlap_tokens": 0, "prefix_source": "extractive"}),
        ]
    ]
    changes = ["added", "modified", "unchanged", "unchanged", "unchanged", "removed", "removed"]
    made = make_report(
        SETTINGS,
        chapters=18,
        sizes=sizes_of(records),
        difference=Diff({str(n): Change(state, "9" if n == 0 else None) for n, state in enumerate(changes)}),
        generated=2,
        checks=checks or (passed("schema_valid"),),
        warnings=(),
        output="corpus/heron/on-rivers/.ingest/chunks.jsonl",
    )
    return replace(made, **more)


def test_the_printed_block() -> None:
    assert render(a_report()) == (
        "Phase 04a — Chunking\n"
        "  Chapters chunked:    18 / 18\n"
        "  Total chunks:        5 (+1 added, ~1 modified, -2 removed, 3 unchanged)\n"
        "  Tokens / chunk:      avg 388, p95 528, max 528 (target 512)\n"
        "  Overlap:             60 tokens avg (target 64)\n"
        "  Context prefix gen:  $0.00 in API spend (2 generated, 3 reused, extractive)\n"
        "  Embeddings:          none\n"
        "  Output:              corpus/heron/on-rivers/.ingest/chunks.jsonl\n"
        "\n"
        "  Verdict: PASS — advance to /book-rag-push"
    )


def test_the_contract_s_example() -> None:
    report = a_report(
        chunks={"total": 4237, "added": 12, "modified": 7, "moved": 0, "removed": 3, "unchanged": 4218},
        tokens={"mean": 487.2, "p95": 511, "max": 528, "target": 512},
        overlap={"mean": 61.8, "target": 64},
        context={"dollars": 0.8449, "generated": 7, "reused": 4230, "model": "claude-haiku-4-5"},
        embeddings={
            "embedded": 7,
            "reused": 4230,
            "model": "voyage-3-large",
            "dimensions": 1024,
            "dollars": 0.01,
        },
    )
    assert render(report).split("\n")[2:7] == [
        "  Total chunks:        4237 (+12 added, ~7 modified, -3 removed, 4218 unchanged)",
        "  Tokens / chunk:      avg 487, p95 511, max 528 (target 512)",
        "  Overlap:             62 tokens avg (target 64)",
        "  Context prefix gen:  $0.84 in API spend (7 generated, 4230 reused, claude-haiku-4-5)",
        "  Embeddings:          7 embedded, 4230 reused (voyage-3-large, 1024 dimensions)",
    ]


def test_a_failed_check_fails_the_verdict_and_is_named() -> None:
    report = a_report(passed("schema_valid"), passed("text_size", ok=False), passed("ids_unique", ok=False))
    assert (report.status, report.verdict) == (1, "FAIL")
    assert render(report).endswith("\n\n  Verdict: FAIL — text_size, ids_unique")


def test_a_warning_leaves_the_verdict_alone() -> None:
    report = a_report(passed("token_sum", ok=False, warns=True))
    assert (report.status, report.verdict) == (0, "PASS")
    assert any("token_sum" in warning for warning in report.warnings)


def test_the_json_of_a_book() -> None:
    made = replace(a_report(), seconds={"parsed_chapter": 0.5})
    told = json.loads(json.dumps(made.summary()))
    assert list(told) == [
        "slug",
        "status",
        "verdict",
        "chapters",
        "chunks",
        "tokens",
        "overlap",
        "context",
        "embeddings",
        "checks",
        "warnings",
        "output",
    ]
    assert told["chapters"] == {"done": 18, "total": 18}
    assert told["chunks"] == {"total": 5, "added": 1, "modified": 1, "moved": 1, "removed": 2, "unchanged": 3}
    assert told["tokens"] == {"mean": 387.8, "p95": 528, "max": 528, "target": 512}
    assert told["overlap"] == {"mean": 60.5, "target": 64}
    assert told["context"] == {"dollars": 0.0, "generated": 2, "reused": 3, "model": "extractive"}
    assert list(told["embeddings"]) == ["embedded", "reused", "model", "dimensions", "dollars"]
    assert [(check["name"], check["passed"]) for check in told["checks"]] == [("schema_valid", True)]
    whole = json.loads(made.to_json())
    assert whole == told | {"seconds": {"parsed_chapter": 0.5}, "spend": {}}


def test_a_book_without_chunks_has_a_report() -> None:
    nothing = make_report(
        SETTINGS,
        chapters=1,
        sizes=sizes_of([]),
        difference=Diff({}),
        generated=0,
        checks=(),
        warnings=(),
        output="chunks.jsonl",
    )
    assert "avg 0, p95 0, max 0 (target 512)" in render(nothing)
    assert histogram([]) == "no chunks"


@pytest.mark.parametrize(
    ("values", "percent", "rank"),
    [([], 95, 0), ([7], 95, 7), (range(1, 101), 95, 95), ([3, 1, 2], 50, 2), (range(20), 95, 18)],
)
def test_nearest_rank(values: list[int], percent: int, rank: int) -> None:
    assert nearest_rank(values, percent) == rank


def test_the_histogram_has_a_bar_for_each_step() -> None:
    bars = [line.split() for line in histogram([10, 60, 70, 120, 130, 130, 149]).splitlines()[1:-1]]
    assert [(span, int(many)) for span, _, many in bars] == [("0–49", 1), ("50–99", 2), ("100–149", 4)]
    assert [len(bar) for _, bar, _ in bars] == [10, 20, 40]
