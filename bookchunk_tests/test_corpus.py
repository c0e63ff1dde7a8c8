"""Reading a corpus: text, slugs, front matter, manifests, books and targets. What is refused is in ``test_cli``."""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookchunk_assets.corpus.book import survey
from bookchunk_assets.corpus.faults import Refused
from bookchunk_assets.corpus.frontmatter import ChapterFrontmatter, split_front_matter
from bookchunk_assets.corpus.manifest import Manifest, read_manifest
from bookchunk_assets.corpus.slug import slugify
from bookchunk_assets.corpus.targets import books_under, find_books
from bookchunk_assets.corpus.text import NoText, decode


def write_book(folder: Path, files: Mapping[str, str | bytes], **manifest: Any) -> Path:
    folder.mkdir(parents=True)
    told = {"title": "T", "slug": unicodedata.normalize("NFC", folder.name), "author": "A"} | manifest
    (folder / f"{folder.name}-book.json").write_text(json.dumps(told), "utf-8")
    for name, text in files.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def chapter(number: int, *lines: str, body: str = "Text.\n") -> str:
    return "\n".join(["---", "title: T", f"chapter: {number}", *lines, "---", body])


# text


@pytest.mark.parametrize("data", [
    "é\nb\nc\n".encode(),
    "\ufeffé\nb\nc\n".encode(),
    "é\r\nb\rc\n".encode(),
    "e\u0301\nb\r\nc\r".encode(),
])  # fmt: skip
def test_one_text_however_it_is_saved(data: bytes) -> None:
    assert decode(data) == "é\nb\nc\n"


@pytest.mark.parametrize(("data", "line"), [
    (b"a\nb\xff", 2), (b"\xff\xfea\x00", 1), (b"a\r\nb\rc\xc3", 3), (b"a\r\n\rb\0", 3), (b"\xed\xa0\x80", 1),
])  # fmt: skip
def test_bytes_that_are_no_text_are_told_with_their_line(data: bytes, line: int) -> None:
    with pytest.raises(NoText) as refused:
        decode(data)
    assert refused.value.line == line


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff")))
def test_decoding_is_done_once(text: str) -> None:
    once = decode(text.encode())
    assert "\r" not in once
    assert decode(once.encode()) == once


# slugs


@pytest.mark.parametrize(("title", "slug"), [
    ("The Forgotten Ways", "the-forgotten-ways"),
    ("  A -- B – C  ", "a-b-c"),
    ("snake_case & C++", "snake_case-c"),
    ("บทที่ ๓ ความรัก", "บทที่-๓-ความรัก"),
    ("Überblick: Straße", "überblick-straße"),
    ("e\u0301te\u0301", "été"),
    ("नमस्ते", "नमस्ते"),
    ("!?🙂", ""),
])  # fmt: skip
def test_slugs_keep_every_script(title: str, slug: str) -> None:
    assert slugify(title) == slug


# front matter


def test_scalars_mean_what_is_written() -> None:
    front = split_front_matter(
        "---\ntitle: 2020-01-01\nchapter: 010\nlanguage: no\nslug: ~\nkey_concepts: [1984, 2.50, yes, ]\n"
        "mentions_figures: Figure 1\nis_preview: yes\nother: !!python/object:os.system {deep: [x]}\n...\nBody"
    )
    fields = ChapterFrontmatter.model_validate(front.data)
    assert (fields.title, fields.chapter, fields.language, fields.slug) == ("2020-01-01", 10, "no", None)
    assert fields.key_concepts == ["1984", "2.50", "yes"]
    assert fields.mentions_figures == ["Figure 1"]
    assert fields.is_preview is True
    assert front.lines["is_preview"] == 8


@pytest.mark.parametrize(("text", "body"), [
    ("---\ntitle: T\n---\nBody", "Body"),
    ("--- \ntitle: T\n...\t\nBody", "Body"),
    ("---\n---\nBody", "Body"),
    ("---\ntitle: |\n  a\n  --- b\n---", ""),
    ("\n---\ntitle: T\n---\nBody", "\n---\ntitle: T\n---\nBody"),
    ("---\ntitle: T\n", "---\ntitle: T\n"),
    ("---\nWords between rules.\n---\nBody", "---\nWords between rules.\n---\nBody"),
    ("----\ntitle: T\n----\nBody", "----\ntitle: T\n----\nBody"),
])  # fmt: skip
def test_where_the_body_starts(text: str, body: str) -> None:
    assert text[split_front_matter(text).body_start :] == body


@given(st.text("ab1:-?[]{}&*!|>'\"#%~@`,. \n\t\x07é") | st.sampled_from(["[" * 5000, "a: " + "[" * 900 + "]" * 900]))
def test_no_front_matter_crashes(head: str) -> None:
    text = f"---\n{head}\n---\nBody"
    front = split_front_matter(text)
    assert (front.problem is None) == front.present
    assert text[front.body_start :].endswith("Body")


# manifests


def sound(**fields: Any) -> Manifest:
    told = {"title": "T", "slug": "tale", "author": "A"} | fields
    manifest = read_manifest("m", json.dumps(told).encode(), "tale")
    assert isinstance(manifest, Manifest), manifest
    return manifest


def test_what_a_manifest_is_silent_of() -> None:
    silent = sound(language=None, kind=None, rag=None, audio={"kind": "mp3"})
    assert (silent.language, silent.kind, silent.rag.chunk_target_tokens, silent.rag.context) == (
        "en",
        "book",
        512,
        None,
    )
    assert sound(rag={"chunk_target_tokens": None, "chunk_overlap_tokens": 0}).rag.chunk_overlap_tokens == 0


def test_authors_however_they_are_written() -> None:
    assert sound().names == ("A",)
    assert sound(author=None, authors="B").names == ("B",)
    assert sound(author=["A", "B"], authors=[]).names == ("A", "B")
    assert sound(author=None, kind="documents").names == ()


@pytest.mark.parametrize("data", [
    b"", b"[]", b"null", b"[" * 100_000, b'{"title": ' + b"1" * 5000 + b"}", b"\xff", b'{"title": "\\ud800"}',
])  # fmt: skip
def test_no_manifest_crashes(data: bytes) -> None:
    faults = read_manifest("m", data, "tale")
    assert isinstance(faults, list)
    assert faults


@pytest.mark.parametrize("slug", ["", ".", "..", ".x", "a/b", "a\\b", "a b", "a...b", "-x", "a\tb", "a\n"])
def test_no_plain_name(slug: str) -> None:
    faults = read_manifest("m", json.dumps({"title": "T", "slug": slug, "author": "A"}).encode(), slug)
    assert isinstance(faults, list)
    assert "no plain name" in faults[0].what


# books


def test_chapters_stand_by_number(tmp_path: Path) -> None:
    files = {f"tale-ch{n}.md": chapter(n) for n in (100, 11, 2)} | {"tale-chx.md": chapter(1)}
    others = {"notes.md": "No chapter.", "tale-ch3.txt": "No chapter.", "other-ch01.md": "No chapter."}
    found = survey(write_book(tmp_path / "tale", files | others), tmp_path)
    assert found.book
    assert [c.key for c in found.book.chapters] == ["ch01", "ch02", "ch11", "ch100"]
    assert found.book.chapters[0].path.name == "tale-chx.md"
    assert (found.faults, found.warnings) == ((), ())


def test_documents_stand_by_key(tmp_path: Path) -> None:
    files = {"Über uns.md": "# U\n", "a.txt": "---\nbroken: [\n---\nA", "b.md": chapter(1), ".c.md": "C", "d.rst": "D"}
    book = write_book(tmp_path / "faq", files, kind="documents")
    (book / "folder.md").mkdir()
    found = survey(book, tmp_path)
    assert found.book
    assert [c.key for c in found.book.chapters] == ["a", "b", "über-uns"]
    assert (found.faults, found.warnings) == ((), ())


def test_sound_chapters_go_on(tmp_path: Path) -> None:
    files = {"tale-ch01.md": chapter(1), "tale-ch02.md": "x\0", "tale-ch03.md": chapter(4), "tale-ch04.md": chapter(4)}
    found = survey(write_book(tmp_path / "tale", files), tmp_path)
    assert found.book
    assert [c.key for c in found.book.chapters] == ["ch01"]
    assert [(Path(f.file).name, f.line) for f in found.faults] == [
        ("tale-ch02.md", 1), ("tale-ch03.md", 3), ("tale-ch04.md", 3),
    ]  # fmt: skip


def test_the_version_follows_the_bytes_and_how_they_are_read(tmp_path: Path) -> None:
    def versions(folder: str, name: str, text: str, **manifest: Any) -> list[str]:
        book = survey(write_book(tmp_path / folder / "tale", {name: text}, **manifest), tmp_path).book
        assert book
        return [c.version for c in book.chapters]

    one = versions("a", "tale-ch01.md", chapter(1))
    assert versions("b", "tale-ch7.md", chapter(1)) == one
    assert versions("c", "tale-ch01.md", chapter(1, body="Else.")) != one
    as_document = versions("d", "x.md", chapter(1), kind="documents")
    assert as_document not in (one, versions("e", "x.txt", chapter(1), kind="documents"))


def test_a_name_in_another_normal_form(tmp_path: Path) -> None:
    name = "cafe\u0301"
    found = survey(write_book(tmp_path / name, {f"{name}-ch01.md": chapter(1, "book_slug: café")}), tmp_path)
    assert found.faults == ()
    assert found.book
    assert found.book.manifest.slug == "café"
    assert len(found.book.chapters) == 1


def test_a_chapter_without_text_is_a_warning(tmp_path: Path) -> None:
    found = survey(write_book(tmp_path / "tale", {"tale-ch01.md": chapter(1, body=" \n\n")}), tmp_path)
    assert found.faults == ()
    assert found.warnings == (f"{tmp_path}/tale/tale-ch01.md: a chapter with no text",)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(("claim", "warnings"), [
    (sha256("Text.\n"), 0), (sha256("Text."), 0), (sha256("Text.\r\n").upper(), 0), (sha256("Text"), 1), ("soon", 1),
])  # fmt: skip
def test_a_claimed_digest_is_a_warning_at_most(tmp_path: Path, claim: str, warnings: int) -> None:
    text = chapter(1, f"content_sha256: {claim}").replace("\n", "\r\n").encode()
    found = survey(write_book(tmp_path / "tale", {"tale-ch01.md": text}), tmp_path)
    assert found.faults == ()
    assert len(found.warnings) == warnings


def test_links_pipes_and_folders(tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text(chapter(1), "utf-8")
    corpus = tmp_path / "corpus"
    book = write_book(corpus / "tale", {"tale-ch01.md": chapter(1)})
    (corpus / "inside.md").write_text(chapter(2), "utf-8")
    (book / "tale-ch02.md").symlink_to("../inside.md")
    (book / "tale-ch03.md").symlink_to(tmp_path / "outside.md")
    (book / "tale-ch04.md").symlink_to("tale-ch04.md")
    (book / "tale-ch05.md").symlink_to("nowhere.md")
    (book / "tale-ch06.md").mkdir()
    os.mkfifo(book / "tale-ch07.md")
    found = survey(book, corpus)
    assert found.book
    assert [c.key for c in found.book.chapters] == ["ch01", "ch02"]
    told = {Path(fault.file).stem[-2:]: fault.what for fault in found.faults}
    assert sorted(told) == ["03", "04", "05", "06", "07"]
    assert "leaves the corpus" in told["03"]
    assert all("cannot be read" in told[n] for n in ("04", "05"))
    assert all("no regular file" in told[n] for n in ("06", "07"))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    book = write_book(tmp_path / "tale", {"tale-ch01.md": chapter(1)})
    (book / "tale-ch01.md").chmod(0)
    assert "cannot be read" in survey(book, tmp_path).faults[0].what


# targets


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for folder in ("anna/one", "anna/two", "ben/three"):
        book = tmp_path / "corpus" / folder
        write_book(book, {f"{book.name}-ch01.md": chapter(1)})
    write_book(tmp_path / "corpus" / "anna" / ".old" / "one", {})
    return tmp_path / "corpus"


@pytest.mark.parametrize(("target", "slugs"), [
    ("two", ["two"]), ("{corpus}/anna/two", ["two"]), ("{corpus}/anna", ["one", "two"]), ("{corpus}", ["one", "two", "three"]),
])  # fmt: skip
def test_what_a_target_names(corpus: Path, target: str, slugs: list[str]) -> None:
    places = find_books([target.format(corpus=corpus)], corpus)
    assert [place.folder.name for place in places] == slugs
    assert {place.root for place in places} == {corpus}
    assert all(survey(place.folder, place.root).faults == () for place in places)


def test_a_target_from_within(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corpus / "anna" / "one")
    (place,) = find_books([".", "../one", "one"], corpus)
    assert survey(place.folder, place.root).faults == ()


def test_books_outside_the_corpus(corpus: Path, tmp_path: Path) -> None:
    (lone,) = find_books([str(corpus / "anna" / "one")], tmp_path / "elsewhere")
    assert lone.root == corpus / "anna"
    assert {place.root for place in find_books([str(corpus)], tmp_path / "elsewhere")} == {corpus}


@pytest.mark.parametrize("target", ["four", "{corpus}/ben/four", "{corpus}/ben"])
def test_a_linked_book_leaves_the_corpus_however_it_is_named(corpus: Path, tmp_path: Path, target: str) -> None:
    (corpus / "ben" / "four").symlink_to(write_book(tmp_path / "four", {"four-ch01.md": chapter(1)}))
    place = find_books([target.format(corpus=corpus)], corpus)[0]
    assert "leaves the corpus" in survey(place.folder, place.root).faults[0].what


def test_chapters_without_a_manifest_are_a_book_to_be_refused(corpus: Path) -> None:
    (corpus / "anna" / "two" / "two-book.json").unlink()
    (place,) = find_books(["two"], corpus)
    assert [fault.what for fault in survey(place.folder, place.root).faults] == ["no manifest; write one"]


def test_every_unknown_target_is_told(corpus: Path) -> None:
    with pytest.raises(Refused) as refused:
        find_books(["four", "one", str(corpus / "anna" / ".old" / "none")], corpus)
    assert [fault.file for fault in refused.value.faults] == [f"{corpus}/anna/.old/none", "four"]


def test_one_slug_twice(corpus: Path, tmp_path: Path) -> None:
    again = write_book(tmp_path / "else" / "one", {})
    with pytest.raises(Refused, match="'one' is there 2 times"):
        find_books(["one", str(again)], corpus)
    write_book(corpus / "ben" / "one", {})
    with pytest.raises(Refused) as refused:
        books_under(corpus)
    assert [fault.file for fault in refused.value.faults] == [f"{corpus}/anna/one", f"{corpus}/ben/one"]
