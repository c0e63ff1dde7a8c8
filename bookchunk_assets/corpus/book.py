"""A book on disk: its manifest and chapter files, in order, and every fault in them."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from bookchunk_assets.corpus.faults import Fault, Refused
from bookchunk_assets.corpus.frontmatter import ChapterFrontmatter, FrontMatter, chapter_faults, split_front_matter
from bookchunk_assets.corpus.manifest import Manifest, read_manifest
from bookchunk_assets.corpus.slug import slugify
from bookchunk_assets.corpus.text import NoText, decode

RAW_FRONT_MATTER = re.compile(
    rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*\r?\n", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class ChapterFile:
    """A sound chapter file. ``key`` names it within its book (``ch03``, or the document's slug); ``version`` is the
    digest of its bytes and of how they are read."""

    path: Path
    key: str
    order: tuple[int, str]
    version: str


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
    manifests = sorted(folder.glob("*-book.json"))
    if len(manifests) != 1:
        told = f"{len(manifests)} manifests; keep one" if manifests else "no manifest; write one"
        raise Refused([Fault(str(folder / f"{folder.name}-book.json"), 1, told)])
    data = _read(manifests[0], root)
    manifest = [data] if isinstance(data, Fault) else read_manifest(str(manifests[0]), data, folder.resolve().name)
    if isinstance(manifest, list) or isinstance(data, Fault):
        raise Refused(manifest if isinstance(manifest, list) else [])
    return manifest, hashlib.sha256(data).hexdigest()


def survey(folder: Path, root: Path) -> Survey:
    """Read a book's folder; ``root`` is the corpus that no symlink may leave. Every file is read once and none kept."""
    try:
        manifest, version = open_manifest(folder, root)
    except Refused as refused:
        return Survey(None, refused.faults, ())
    faults: list[Fault] = []
    warnings: list[str] = []
    found: dict[str, list[tuple[ChapterFile, int]]] = defaultdict(list)
    for file in _files(folder, manifest):
        chapter = _chapter(file, root, manifest, warnings)
        if isinstance(chapter, list):
            faults += chapter
        else:
            found[chapter[0].key].append(chapter)
    for key, same in found.items():
        if len(same) > 1:
            names = " and ".join(chapter.path.name for chapter, _ in same)
            faults += [Fault(str(c.path), line, f"{names} have the same number or key, {key}") for c, line in same]
    if not found and not faults:
        pattern = f"{manifest.slug}-ch*.md" if manifest.kind == "book" else "*.md or *.txt"
        faults.append(Fault(str(folder / f"{manifest.slug}-book.json"), 1, f"no chapters beside it; add {pattern}"))
    chapters = sorted((same[0][0] for same in found.values() if len(same) == 1), key=lambda chapter: chapter.order)
    return Survey(Book(folder, manifest, version, tuple(chapters)), tuple(sorted(faults)), tuple(warnings))


def _files(folder: Path, manifest: Manifest) -> list[Path]:
    if manifest.kind == "book":
        start = f"{manifest.slug}-ch"
        names = [p for p in folder.iterdir() if p.name.startswith(start) and p.suffix == ".md"]
    else:
        names = [p for p in folder.iterdir() if p.suffix in (".md", ".txt") and not p.name.startswith(".")]
    return sorted(names)


def _read(path: Path, root: Path) -> bytes | Fault:
    try:
        if not path.resolve(strict=True).is_relative_to(root.resolve()):
            return Fault(str(path), 1, "a symlink that leaves the corpus; copy the file in")
        return path.read_bytes()
    except (OSError, RuntimeError) as error:
        return Fault(str(path), 1, f"cannot be read: {getattr(error, 'strerror', None) or error}")


def _chapter(path: Path, root: Path, manifest: Manifest, warnings: list[str]) -> tuple[ChapterFile, int] | list[Fault]:
    """The chapter and the line that numbers it, or what is wrong with it."""
    data = _read(path, root)
    if isinstance(data, Fault):
        return [data]
    file = str(path)
    try:
        text = decode(data)
    except NoText as error:
        return [Fault(file, error.line, error.what)]
    version = version_of(data, manifest.kind, path.name)
    front = split_front_matter(text)
    if not text[front.body_start :].strip():
        warnings.append(f"{file}: a chapter with no text")
    if manifest.kind == "documents":
        if not (key := slugify(path.stem)):
            return [Fault(file, 1, "a file name without a letter or digit; rename the file")]
        return ChapterFile(path, key, (0, key), version), 1
    faults, fields = _fields(file, text, front, manifest)
    if fields is None or faults:
        return faults
    if fields.content_sha256 and not _claimed(fields.content_sha256, data, text, front):
        warnings.append(f"{file}: content_sha256 is not the digest of this file")
    key = f"ch{fields.chapter:02d}"
    line = next((n for n, s in enumerate(text.split("\n"), 1) if s.startswith("chapter:")), 1)
    return ChapterFile(path, key, (fields.chapter, key), version), line


def _fields(
    file: str, text: str, front: FrontMatter, manifest: Manifest
) -> tuple[list[Fault], ChapterFrontmatter | None]:
    if front.problem:
        return [Fault(file, *front.problem)], None
    if not front.present:
        return [Fault(file, 1, "no front matter; start the file with `---`, `title:` and `chapter:`")], None
    try:
        fields = ChapterFrontmatter.model_validate(front.data)
    except ValidationError as error:
        return list(chapter_faults(file, text, front, error)), None
    if fields.book_slug is not None and fields.book_slug != manifest.slug:
        line = text[: max(text.find("book_slug"), 0)].count("\n") + 1
        return [Fault(file, line, f"book_slug {fields.book_slug!r} is not this book, {manifest.slug!r}")], None
    return [], fields


def _claimed(claim: str, data: bytes, text: str, front: FrontMatter) -> bool:
    """Whether the claim is the digest of the file, its text or its body."""
    return claim.strip().lower() in _digests(data, text, front)


def _digests(data: bytes, text: str, front: FrontMatter) -> Iterator[str]:
    body = text[front.body_start :]
    raw = RAW_FRONT_MATTER.sub(b"", data, count=1)
    for part in (data, raw, text.encode(), body.encode(), body.strip().encode()):
        yield hashlib.sha256(part).hexdigest()
