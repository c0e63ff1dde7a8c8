"""The commands from outside: what they print, what they refuse, and with which exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from bookchunk_assets.cli.instance import open_instance
from bookchunk_assets.corpus.book import survey
from bookchunk_assets.orchestration.lock import book_lock
from bookchunk_tests.conftest import Shelf

REFUSALS: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "fixtures" / "refusals.yaml").read_text("utf-8")
)
ROOT = Path(__file__).parent.parent


def standing(shelf: Shelf) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in shelf.out.parent.glob("*") if path.is_file()}


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case["name"])
def test_refusals(shelf: Shelf, case: dict[str, Any]) -> None:
    for name, text in case["files"].items():
        (shelf.book / name).unlink(missing_ok=True)
        if text is not None:
            (shelf.book / name).write_text(text, "utf-8")
    result = shelf.run("chunk", "tale")
    assert result.exit_code == 2
    lines = [line.removeprefix(f"{shelf.book}/") for line in result.stderr.splitlines()]
    assert len(lines) == len(case["told"]), result.stderr
    for line, start in zip(lines, case["told"], strict=True):
        assert line.startswith(start)
    assert not shelf.out.parent.exists(), "nothing is written"


@pytest.mark.parametrize(
    ("data", "told"),
    [(b"---\ntitle: T\nchapter: 2\n---\nab\nc\xff", "tale-ch02.md:6: byte 0xff is no UTF-8"),
     (b"---\ntitle: T\nchapter: 2\n---\nab\n\0", "tale-ch02.md:6: a NUL character")],
)  # fmt: skip
def test_bytes_that_are_no_text_leave_what_stood(shelf: Shelf, data: bytes, told: str) -> None:
    shelf.chunk()
    before = standing(shelf)
    shelf.chapter(2).write_bytes(data)
    result = shelf.run("chunk", "tale")
    assert result.exit_code == 2
    assert told in result.stderr
    assert standing(shelf) == before


def test_a_symlink_that_leaves_the_corpus(shelf: Shelf, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(shelf.chapter(2).read_text("utf-8"), "utf-8")
    shelf.chapter(2).unlink()
    shelf.chapter(2).symlink_to(outside)
    result = shelf.run("chunk", "tale")
    assert result.exit_code == 2
    assert "tale-ch02.md:1: a symlink that leaves the corpus" in result.stderr
    shelf.chapter(2).unlink()
    shelf.chapter(2).symlink_to(shelf.book / "tale-ch01.md")
    assert all("symlink" not in fault.what for fault in survey(shelf.book, shelf.root / "corpus").faults)


def test_an_unknown_target_and_a_slug_twice(shelf: Shelf) -> None:
    result = shelf.run("chunk", "nothing")
    assert result.exit_code == 2
    assert "no book of that slug" in result.stderr
    again = shelf.root / "corpus" / "another" / "tale"
    again.mkdir(parents=True)
    (again / "tale-book.json").write_bytes((shelf.book / "tale-book.json").read_bytes())
    result = shelf.run("chunk", "tale")
    assert result.exit_code == 2
    assert "the slug 'tale' is there 2 times" in result.stderr


def test_options_out_of_range(shelf: Shelf) -> None:
    assert "a target of 40 tokens" in shelf.run("chunk", "tale", "--target-tokens", "40").stderr
    assert shelf.run("chunk", "tale", "--overlap-tokens", "300").exit_code == 2


def test_a_provider_without_its_key_replaces_nothing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOYAGE_API_KEY", raising=False)
    shelf.chunk()
    before = shelf.out.read_bytes()
    result = shelf.run("chunk", "tale", "--embedding", "voyage")
    assert result.exit_code == 3
    assert "VOYAGE_API_KEY is not set" in result.stderr
    assert "--embedding local" in result.stderr
    assert shelf.out.read_bytes() == before
    assert shelf.run("chunk", "tale").exit_code == 0, "nothing was made with it, so the book goes on with what it had"


def test_a_refused_book_holds_back_no_other(shelf: Shelf) -> None:
    other = shelf.root / "corpus" / "author" / "other"
    other.mkdir()
    (other / "other-book.json").write_text('{"title": "O", "slug": "other", "author": "A"}', "utf-8")
    result = shelf.run("chunk", str(shelf.root / "corpus"))
    assert result.exit_code == 2
    assert "other-book.json:1: no chapters beside it" in result.stderr
    assert "Verdict: PASS" in result.stdout
    assert "Total: 2 books, 1 PASS" in result.stdout


def test_the_report(shelf: Shelf) -> None:
    result = shelf.run("chunk", "tale", "--quiet")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "Phase 04a — Chunking",
        "  Chapters chunked:    3 / 3",
        "  Total chunks:        6 (+6 added, ~0 modified, -0 removed, 0 unchanged)",
        "  Tokens / chunk:      avg 10, p95 18, max 18 (target 512)",
        "  Overlap:             0 tokens avg (target 64)",
        "  Context prefix gen:  $0.00 in API spend (6 generated, 0 reused, extractive)",
        "  Embeddings:          none",
        f"  Output:              {shelf.out}",
        "",
        "  Verdict: PASS — advance to /book-rag-push",
    ]
    assert result.stderr == ""
    report = json.loads((shelf.out.parent / "report.json").read_bytes())
    assert set(report["seconds"]) >= {"parsed_chapter", "recursive_chunks", "chunks_jsonl"}
    assert report["checks"][0]["name"] == "schema_valid"


def test_json_is_one_object_and_nothing_else(shelf: Shelf) -> None:
    report = shelf.chunk()
    assert list(report) == [
        "slug", "status", "verdict", "chapters", "chunks", "tokens", "overlap", "context", "embeddings", "checks",
        "warnings", "output",
    ]  # fmt: skip


def test_status_names_causes_and_records_nothing(shelf: Shelf) -> None:
    stale = json.loads(shelf.run("status", "tale", "--json").stdout)
    assert {(each["stage"], each["cause"]) for each in stale if each["partition"] == "tale/ch01"} >= {
        ("parsed_chapter", "never made")
    }
    shelf.chunk()
    assert json.loads(shelf.run("status", "tale", "--json").stdout) == []
    shelf.write(2, None, "Edited.")
    for _ in range(2):
        stale = json.loads(shelf.run("status", "tale", "--json").stdout)
        assert stale[0] == {"partition": "tale/ch02", "stage": "parsed_chapter", "cause": "chapter_file changed"}
        assert {each["partition"] for each in stale} == {"tale/ch02", "tale"}
    assert "tale/ch02: parsed_chapter: chapter_file changed" in shelf.run("status").stdout


def test_diff_tells_what_the_last_run_changed(shelf: Shelf) -> None:
    assert shelf.run("diff", "tale").exit_code == 2
    shelf.chunk()
    shelf.write(2, None, "Edited.")
    shelf.chunk()
    told = json.loads(shelf.run("diff", "tale", "--json").stdout)
    assert told["summary"] == {"added": 0, "modified": 1, "unchanged": 5, "removed": 0, "moved": 0}
    assert "modified  tale-ch02-0002" in shelf.run("diff", "tale").stdout
    shelf.chunk()
    assert json.loads(shelf.run("diff", "tale", "--json").stdout)["summary"]["unchanged"] == 6


def test_out_writes_beside_and_leaves_the_book_s_files_alone(shelf: Shelf, tmp_path: Path) -> None:
    shelf.chunk()
    before = standing(shelf)
    out = tmp_path / "there" / "mine.jsonl"
    shelf.chunk("--out", str(out), "--target-tokens", "64", "--overlap-tokens", "8")
    assert sorted(path.name for path in out.parent.iterdir()) == ["mine.diff.json", "mine.jsonl", "mine.report.json"]
    assert standing(shelf) == before
    assert "back to the manifest's" not in shelf.run("chunk", "tale").stderr, "the book's record is left alone"
    after = standing(shelf)
    assert after["chunks.jsonl"] == before["chunks.jsonl"]


@pytest.mark.parametrize("name", ["folder", "notes.md", "one.json"])
def test_out_replaces_nothing_but_chunks(shelf: Shelf, name: str) -> None:
    mine = shelf.root / "mine"
    (mine / "folder").mkdir(parents=True)
    (mine / "notes.md").write_text("mine", "utf-8")
    (mine / "one.json").write_text('{"title": "T"}', "utf-8")
    result = shelf.run("chunk", "tale", "--out", str(mine / name))
    assert result.exit_code == 2
    assert result.stderr.startswith(f"{mine / name}:1: ")
    assert sorted(path.name for path in mine.iterdir()) == ["folder", "notes.md", "one.json"]
    assert (mine / "notes.md").read_text("utf-8") == "mine"


def test_status_says_where_a_plain_command_goes_back(shelf: Shelf) -> None:
    shelf.chunk("--target-tokens", "64", "--overlap-tokens", "8")
    assert "a plain `chunk` leaves them" in shelf.run("status", "tale").stderr
    shelf.chunk()
    assert shelf.run("status", "tale").stderr == ""


def test_a_chapter_without_text_is_a_warning(shelf: Shelf) -> None:
    shelf.chapter(2).write_text("---\ntitle: Two\nchapter: 2\ncontent_sha256: abc\n---\n\n", "utf-8")
    warnings = shelf.chunk()["warnings"]
    assert any("no text" in warning for warning in warnings)
    assert any("content_sha256" in warning for warning in warnings)


def test_a_second_process_waits_and_says_so(shelf: Shelf) -> None:
    command = [sys.executable, "-c", "from bookchunk_assets.cli import main; main()", "chunk", str(shelf.book)]
    with open_instance() as instance, book_lock(instance, "tale"):
        child = subprocess.Popen(
            command,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stderr is not None
        assert "another process works on it" in child.stderr.readline()
        time.sleep(0.3)
        assert child.poll() is None
        assert not shelf.out.exists()
    out, _ = child.communicate(timeout=60)
    assert (child.returncode, "Verdict: PASS" in out) == (0, True)


def test_the_core_knows_no_dagster() -> None:
    core = "corpus.targets corpus.book markdown.parse chunking.chunker context.extractive outputs.checks outputs.publish outputs.report"
    code = "import sys, importlib\n" + "".join(
        f"importlib.import_module('bookchunk_assets.{m}')\n" for m in core.split()
    )
    code += "sys.exit(any(m == 'dagster' or m.startswith('dagster.') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
