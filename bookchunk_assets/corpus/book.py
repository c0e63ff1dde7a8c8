"""A book on disk: its manifest and chapter files, in order, and every fault in them."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from bookchunk_assets.corpus.faults import Fault, Refused
from bookchunk_assets.corpus.frontmatter import (
    ChapterFrontmatter,
    DocumentFrontmatter,
    FrontMatter,
    chapter_faults,
    split_front_matter,
)
from bookchunk_assets.corpus.manifest import Manifest, read_manifest
from bookchunk_assets.corpus.slug import slugify
from bookchunk_assets.corpus.text import NoText, decode

RAW_FRONT_MATTER = re.compile(
    rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*\r?\n", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class ChapterFile:
    """A sound chapter file. ``key`` names it within its book (``ch03``, or the document's slug), at ``line``;
    ``version`` is the digest of its bytes and of how they are read."""

    path: Path
    key: str
    order: tuple[int, str]
    version: str
    line: int = 1
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Book:
    """A book with a sound manifest, and its sound chapters in order."""

    folder: Path
    manifest: Manifest
    manifest_version: str
    chapters: tuple[ChapterFile, ...]


@dataclass(frozen=True, slots=True)
class Survey:
    """What a look at a book's folder found. ``book`` is None where there is no sound manifest; a caller that takes no
    half book refuses where there are ``faults``."""

    book: Book | None
    faults: tuple[Fault, ...]
    warnings: tuple[str, ...]


def version_of(data: bytes, kind: str, name: str) -> str:
    """The version of a file's bytes as read for a book of that kind."""
    how = f"{kind} {'txt' if name.endswith('.txt') else 'md'}\n"
    return hashlib.sha256(how.encode() + data).hexdigest()


def open_manifest(folder: Path, root: Path) -> tuple[Manifest, str]:
    """A book's manifest and the digest of its bytes; raises ``Refused`` with every fault in it."""
    name = folder.resolve().name
    wanted = f"{name}-book.json"
    found = sorted(folder.glob("*-book.json"))
    if not found:
        raise Refused([Fault(str(folder / wanted), 1, "no manifest; write one")])
    if wrong := [path for path in found if _nfc(path.name) != _nfc(wanted)]:
        raise Refused(
            Fault(str(path), 1, f"a book's only manifest is {wanted}; rename or remove this") for path in wrong
        )
    data = read_file(found[0], root.resolve())
    manifest = read_manifest(str(found[0]), data, name)
    if isinstance(manifest, list):
        raise Refused(manifest)
    return manifest, hashlib.sha256(data).hexdigest()


def survey(folder: Path, root: Path) -> Survey:
    """Read a book's folder; ``root`` is the corpus that no symlink may leave. Every file is read once and none kept.
    Without a sound manifest the chapters are looked at all the same, so that one look tells all that is wrong."""
    faults: list[Fault] = []
    book: Manifest | None = None
    kind, slug = "book", _nfc(folder.resolve().name)
    try:
        book, version = open_manifest(folder, root)
        kind, slug = book.kind, book.slug
    except Refused as refused:
        faults += refused.faults
    found: dict[str, list[ChapterFile]] = defaultdict(list)
    root = root.resolve()
    files = chapter_files(folder, kind, slug)
    for file in files:
        try:
            chapter = _chapter(file, root, kind, slug)
        except Refused as refused:
            faults += refused.faults
        else:
            found[chapter.key].append(chapter)
    for key, same in found.items():
        if len(same) > 1:
            told = f"{' and '.join(c.path.name for c in same)} have the same number or key, {key}; change all but one"
            faults += [Fault(str(c.path), c.line, told) for c in same]
    warnings = tuple(warning for same in found.values() for chapter in same for warning in chapter.warnings)
    if book is None:
        return Survey(None, tuple(sorted(faults)), warnings)
    if not files:
        pattern = f"{slug}-ch*.md" if kind == "book" else "*.md or *.txt"
        faults.append(Fault(str(folder / f"{slug}-book.json"), 1, f"no chapters beside it; add {pattern}"))
    chapters = sorted((same[0] for same in found.values() if len(same) == 1), key=lambda chapter: chapter.order)
    return Survey(Book(folder, book, version, tuple(chapters)), tuple(sorted(faults)), warnings)


def chapter_files(folder: Path, kind: str, slug: str) -> list[Path]:
    """The files that are chapters by name."""
    if kind == "book":
        return sorted(p for p in folder.glob("*.md") if _nfc(p.name).startswith(f"{slug}-ch"))
    return sorted(p for p in folder.glob("[!.]*") if p.suffix in (".md", ".txt") and not p.is_dir())


def _nfc(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def read_file(path: Path, root: Path) -> bytes:
    """A file's bytes; raises ``Refused`` where it cannot be read or stands outside of ``root``, a path without
    symlinks."""
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(root):
            raise Refused([Fault(str(path), 1, "a symlink that leaves the corpus; copy the file in")])
        if not real.is_file():  # opening a pipe would wait for ever
            raise Refused([Fault(str(path), 1, "no regular file; move it elsewhere")])
        return real.read_bytes()
    except (OSError, RuntimeError) as error:
        raise Refused([Fault(str(path), 1, f"cannot be read: {getattr(error, 'strerror', None) or error}")]) from None


def _chapter(path: Path, root: Path, kind: str, slug: str) -> ChapterFile:
    """A chapter of the book of that kind and slug; raises ``Refused`` with all that is wrong with it."""
    data, file = read_file(path, root), str(path)
    try:
        text = decode(data)
    except NoText as error:
        raise Refused([Fault(file, error.line, error.what)]) from None
    front = split_front_matter(text)
    version = version_of(data, kind, path.name)
    warnings: tuple[str, ...] = () if text[front.body_start :].strip() else (f"{file}: a chapter with no text",)
    fields = _fields(file, front, slug) if kind == "book" else _document_fields(file, front)
    if fields.content_sha256 and fields.content_sha256.lower() not in _digests(data, text, front):
        warnings += (f"{file}: content_sha256 is not the digest of this file",)
    if isinstance(fields, ChapterFrontmatter):
        key = f"ch{fields.chapter:02d}"
        return ChapterFile(path, key, (fields.chapter, key), version, front.lines["chapter"], warnings)
    if not (key := slugify(path.stem)):
        raise Refused([Fault(file, 1, "a file name without a letter or digit; rename the file")])
    return ChapterFile(path, key, (0, key), version, warnings=warnings)


def _document_fields(file: str, front: FrontMatter) -> DocumentFrontmatter:
    """A document's fields; what is no front matter is text there."""
    try:
        return DocumentFrontmatter.model_validate(front.data)
    except ValidationError as error:
        raise Refused(list(chapter_faults(file, front, error))) from None


def _fields(file: str, front: FrontMatter, slug: str) -> ChapterFrontmatter:
    if front.problem:
        raise Refused([Fault(file, *front.problem)])
    if not front.present:
        raise Refused([Fault(file, 1, "no front matter; start the file with `---`, `title:` and `chapter:`")])
    faults = []
    if isinstance(named := front.data.get("book_slug"), str) and named != slug:
        told = f"book_slug {named!r} is not this book, {slug!r}; correct it or move the file"
        faults.append(Fault(file, front.lines["book_slug"], told))
    try:
        fields = ChapterFrontmatter.model_validate(front.data)
    except ValidationError as error:
        raise Refused([*faults, *chapter_faults(file, front, error)]) from None
    if faults:
        raise Refused(faults)
    return fields


def _digests(data: bytes, text: str, front: FrontMatter) -> Iterator[str]:
    """What a phase may have meant by the digest of this file: that of its bytes, its text, or the body of either."""
    body = text[front.body_start :]
    for part in (data, RAW_FRONT_MATTER.sub(b"", data, count=1), text.encode(), body.encode(), body.strip().encode()):
        yield hashlib.sha256(part).hexdigest()
