"""Kind ``documents`` from outside: the same commands, partitions, diff and checks as a book's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bookchunk_tests.conftest import Shelf

FAQ = "🚚 Delivery\n\nQ1: How long?\nThree days.\n\nQ2: How much?\nNothing.\n\n    Q9: not code here?\n"
LISTING = "# แม่น้ำ\n\n" + "\n".join(
    f"- [แม่น้ำ{name}]({n})" for n, name in enumerate("ปิง วัง ยม น่าน โขง มูล ชี ป่าสัก".split())
)
FACTS = "---\ntitle: Facts\nlanguage: th\nis_preview: true\nkey_concepts: [ferry, canal]\n---\nThe ferry is late.\n"


@pytest.fixture
def folder(shelf: Shelf) -> Shelf:
    for path in shelf.book.glob("*.md"):
        path.unlink()
    shelf.manifest(kind="documents")
    write(shelf, {"Read me.txt": FAQ, "แม่น้ำ.md": LISTING, "facts.md": FACTS})
    return shelf


def write(shelf: Shelf, files: dict[str, str]) -> None:
    for name, text in files.items():
        (shelf.book / name).write_text(text, "utf-8")


def by_id(shelf: Shelf) -> dict[str, dict[str, Any]]:
    return {record["id"]: record for record in shelf.records()}


def test_documents_become_chunks(folder: Shelf) -> None:
    report = folder.chunk()
    assert (report["verdict"], report["chapters"]) == ("PASS", {"done": 3, "total": 3})
    assert report["warnings"] == []
    records = by_id(folder)
    assert list(records) == [
        "tale-facts-0001", "tale-read-me-0001", "tale-read-me-0002", "tale-แม่น้ำ-0000", "tale-แม่น้ำ-0001",
    ]  # fmt: skip
    assert {(r["chapter"], r["chapter_slug"]) for r in records.values()} == {
        (None, "facts"),
        (None, "read-me"),
        (None, "แม่น้ำ"),
    }
    question = records["tale-read-me-0001"]
    assert (question["heading_path"], question["section_anchor"]) == (["Delivery", "How long?"], "#delivery-q1")
    assert question["text"] == "🚚 Delivery\n\nQ1: How long?\nThree days."
    source = (folder.book / "Read me.txt").read_text("utf-8")
    assert source[question["metadata"]["char_start"] : question["metadata"]["char_end"]] == question["text"]


def test_a_document_says_what_it_is(folder: Shelf) -> None:
    folder.chunk()
    told = by_id(folder)["tale-facts-0001"]
    assert told["heading_path"] == ["Facts"]
    metadata = told["metadata"]
    assert (metadata["language"], metadata["is_preview"], metadata["key_concepts"]) == ("th", True, ["ferry"])


def test_the_contents_chunk(folder: Shelf) -> None:
    folder.chunk()
    records = by_id(folder)
    contents, listed = records["tale-แม่น้ำ-0000"], records["tale-แม่น้ำ-0001"]
    assert contents["text"] == "แม่น้ำ\n\n" + "\n".join(f"- แม่น้ำ{name}" for name in "ปิง วัง ยม น่าน โขง มูล ชี ป่าสัก".split())
    assert (contents["section_anchor"], contents["heading_path"]) == ("#toc", ["แม่น้ำ"])
    assert "which lists แม่น้ำปิง" in contents["context_prefix"]
    metadata = contents["metadata"]
    assert (metadata["kind"], metadata["overlap_tokens"], metadata["footnotes"], metadata["split"]) == (
        "contents",
        0,
        [],
        None,
    )
    span = [metadata[key] for key in ("char_start", "char_end")]
    assert span == [listed["metadata"][key] for key in ("char_start", "char_end")], "all that it lists"


def test_a_changed_setting_runs_what_it_must(folder: Shelf) -> None:
    folder.chunk()
    folder.ran()
    bodies = {name: record for name, record in by_id(folder).items() if record["metadata"]["kind"] == "body"}
    folder.manifest(kind="documents", rag={"contents_chunk": False})
    report = folder.chunk()
    assert set(folder.ran()) == {"recursive_chunks", "context_prefixes", "chunk_embeddings", "chunks_jsonl"}
    assert (report["verdict"], report["chunks"]["removed"], report["chunks"]["unchanged"]) == ("PASS", 1, 4)
    assert by_id(folder) == bodies
    folder.manifest(kind="documents")
    assert folder.chunk()["chunks"]["added"] == 1


def test_status_and_diff_of_an_edited_document(folder: Shelf) -> None:
    folder.chunk()
    folder.ran()
    write(folder, {"Read me.txt": FAQ.replace("Nothing.", "Nothing, for friends.")})
    stale = json.loads(folder.run("status", "tale", "--json").stdout)
    assert stale[0] == {"partition": "tale/read-me", "stage": "parsed_chapter", "cause": "chapter_file changed"}
    assert {each["partition"] for each in stale} == {"tale/read-me", "tale"}
    folder.chunk()
    assert {name for chapters in folder.ran().values() for name in chapters} == {"read-me", "tale"}
    told = json.loads(folder.run("diff", "tale", "--json").stdout)
    assert told["summary"] == {"added": 0, "modified": 1, "unchanged": 4, "removed": 0, "moved": 0}
    assert told["chunks"]["tale-read-me-0002"] == {"__diff": "modified"}


def test_a_new_question_moves_the_ones_after_it(folder: Shelf) -> None:
    folder.chunk()
    write(folder, {"Read me.txt": FAQ.replace("Q2", "Q3").replace("Q1:", "Q1: Who?\nWe.\n\nQ2:")})
    folder.chunk()
    told = json.loads(folder.run("diff", "tale", "--json").stdout)
    assert told["summary"]["removed"] == 0
    assert told["chunks"]["tale-read-me-0003"]["__diff"] == "added"


def test_a_renamed_and_a_removed_document(folder: Shelf) -> None:
    folder.chunk()
    (folder.book / "facts.md").rename(folder.book / "figures.md")
    (folder.book / "Read me.txt").unlink()
    report = folder.chunk()
    assert (report["chunks"]["added"], report["chunks"]["removed"], report["chunks"]["moved"]) == (1, 3, 1)
    assert {record["chapter_slug"] for record in folder.records()} == {"figures", "แม่น้ำ"}


def test_a_text_file_is_no_markdown_file(folder: Shelf) -> None:
    code = "Q1: a?\n\nSee:\n\n    Q2: b?\n\n  Q3: c?\n"
    write(folder, {"a.txt": code, "b.md": code})
    folder.chunk()
    split = {name: record["text"] for name, record in by_id(folder).items() if name.startswith(("tale-a-", "tale-b-"))}
    assert split == {"tale-a-0001": code.strip(), "tale-b-0001": code.strip()}
    (folder.book / "a.txt").rename(folder.book / "a.md")
    stale = json.loads(folder.run("status", "tale", "--json").stdout)
    assert stale[0]["partition"] == "tale/a"


def test_line_endings_of_a_document_change_nothing(folder: Shelf) -> None:
    folder.chunk()
    folder.ran()
    before = folder.out.read_bytes()
    (folder.book / "Read me.txt").write_bytes(b"\xef\xbb\xbf" + FAQ.replace("\n", "\r\n").encode())
    assert folder.chunk()["chunks"]["unchanged"] == 5
    assert folder.ran() == {"parsed_chapter": {"read-me"}}
    assert folder.out.read_bytes() == before


def test_documents_without_text(folder: Shelf) -> None:
    for path in folder.book.glob("*.[mt]*"):
        path.unlink()
    write(folder, {"empty.txt": "", "blank.md": "---\ntitle: x\n---\n\n"})
    report = folder.chunk()
    assert (report["verdict"], report["chunks"]["total"], len(report["warnings"])) == ("PASS", 0, 2)
    assert folder.out.read_bytes() == b""
