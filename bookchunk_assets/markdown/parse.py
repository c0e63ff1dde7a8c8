"""One chapter file into a ``ParsedChapter``: clean text, blocks, headings, pages and footnotes."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

import regex

from bookchunk_assets.corpus.frontmatter import ChapterFrontmatter, DocumentFrontmatter, split_front_matter
from bookchunk_assets.corpus.slug import slugify
from bookchunk_assets.corpus.text import decode
from bookchunk_assets.markdown import comments, notes
from bookchunk_assets.markdown.anchors import Anchors
from bookchunk_assets.markdown.chapter import (
    Block,
    Break,
    ChapterFacts,
    Heading,
    Note,
    PageMark,
    ParsedChapter,
    Reference,
)
from bookchunk_assets.markdown.links import link_texts
from bookchunk_assets.markdown.spans import Span, clean_offset, inside, merge, without
from bookchunk_assets.markdown.structure import RawHeading, Structure, parse_structure
from bookchunk_assets.markdown.titles import explicit_id, plain_title

RULES = "3"
UNFINISHED = regex.compile(r"[\p{L}\p{N},]\s*\Z")
INDENTED = re.compile(r"^(?: {4}|\t)[ \t]*\Z", re.MULTILINE)
GOES_ON = regex.compile(r"\s*\p{Ll}")


def parse_chapter(data: bytes, kind: str, name: str) -> ParsedChapter:
    """Parse a file's bytes; ``kind`` is the book's (``book`` or ``documents``), ``name`` the file's.

    Raises what ``corpus.text.decode`` raises on bytes that are no text; total on everything else."""
    text = decode(data)
    front = split_front_matter(text)
    start = front.body_start
    path = PurePath(name)
    structure = _structure(text, start, plain_text=path.suffix == ".txt")
    code = _code(text, structure.blocks)
    found = list(comments.comments(text, start, structure.blocks, code))
    markers = comments.markers(text, found)
    comment_holes = merge(comments.holes(text, start, found))
    hidden = merge((*code, *comment_holes))
    defined = tuple(notes.definitions(text, start, structure.blocks, hidden))
    first: dict[str, notes.Definition] = {}
    for definition in defined:
        first.setdefault(definition.label, definition)
    refs = {d.label: [m[1] for m in notes.references(text, d.start, d.end, first, hidden)] for d in first.values()}
    bodies = merge((d.start, d.end) for d in first.values())
    body_refs = [m for m in notes.references(text, start, len(text), first, hidden) if not inside(bodies, m.start())]
    lifted = notes.lifted((m[1] for m in body_refs), refs)
    lifted_spans = merge((d.start, d.end) for d in first.values() if d.label in lifted)

    clean, breaks = without(text, start, len(text), merge((*comment_holes, *lifted_spans)))
    pages = tuple(PageMark(clean_offset(breaks, m.end), m.page) for m in markers)
    joined = _joined_over_pages(text, structure.blocks, markers, comment_holes)
    stay = [d for d in defined if d.label not in lifted or d != first[d.label]]
    blocks = tuple(_clean_blocks(joined, stay, breaks))
    facts = _facts(front.data, kind, path, structure)
    return ParsedChapter(
        facts=facts,
        kind=kind,
        text=clean,
        breaks=breaks,
        pages=pages,
        blocks=blocks,
        headings=tuple(_headings(structure.headings, structure.env, breaks)),
        references=tuple(
            Reference(clean_offset(breaks, m.start()), m[1])
            for m in notes.references(text, start, len(text), lifted, hidden)
            if not inside(lifted_spans, m.start())
        ),
        notes=tuple(_note(text, d, refs[d.label], comment_holes, markers) for d in first.values() if d.label in lifted),
        links=tuple(link_texts(clean, blocks, structure.env)),
        warnings=tuple(_warnings(text, markers)),
    )


def _structure(text: str, start: int, *, plain_text: bool) -> Structure:
    """Page markers are taken out before the parse, since one must not end a paragraph; those that the parse shows to be
    code are put back, until nothing changes. One that may begin indented code is there from the start."""
    candidates = [m.span() for m in comments.PAGE.finditer(text, start)]
    indented = {span for span in candidates if INDENTED.search(text, start, span[0])}
    in_code: set[Span] = set()
    if indented:
        tried = parse_structure(text, start, tuple(c for c in candidates if c not in indented), plain_text=plain_text)
        code = [(b.start, b.end) for b in tried.blocks if b.kind == "code"]
        in_code = {span for span in indented if inside(code, span[0])}
    while True:
        structure = parse_structure(
            text, start, tuple(c for c in candidates if c not in in_code), plain_text=plain_text
        )
        code = [(b.start, b.end) for b in structure.blocks if b.kind == "code"]
        found = {c for c in candidates if inside(code, c[0])}
        if found <= in_code:
            return structure
        in_code |= found


def _code(text: str, blocks: Sequence[Block]) -> tuple[Span, ...]:
    return merge((*((b.start, b.end) for b in blocks if b.kind == "code"), *comments.code_spans(text, blocks)))


def _joined_over_pages(
    text: str, blocks: Sequence[Block], markers: Sequence[comments.Marker], holes: Sequence[Span]
) -> list[Block]:
    """The blocks, top-level paragraphs made one where only a page marker between blank lines divides a sentence."""
    out = list(blocks)
    if not markers:
        return out
    tops = [n for n, b in enumerate(out) if b.depth == 0 and b.kind == "paragraph"]
    gone = set()
    for before, after in zip(tops, tops[1:], strict=False):
        a, b = out[before], out[after]
        gap = text[a.end : b.start]
        if (
            after == before + 1
            and comments.PAGE.search(gap)
            and not comments.PAGE.sub("", gap).strip()
            and UNFINISHED.search(text[a.start : a.end])
            and GOES_ON.match(without(text, b.start, b.end, holes)[0])
        ):
            out[after] = Block("paragraph", a.start, b.end, 0)
            gone.add(before)
    return [b for n, b in enumerate(out) if n not in gone]


def _clean_blocks(
    blocks: Sequence[Block], definitions: Sequence[notes.Definition], breaks: tuple[Break, ...]
) -> Iterator[Block]:
    """Blocks in clean offsets, the definitions that stay among them, those that were lifted gone."""
    stay = [Block("footnote", d.start, d.end, 0) for d in definitions]
    covered = merge((b.start, b.end) for b in stay)
    ordered = [b for b in blocks if not inside(covered, b.start)] + stay
    for block in sorted(ordered, key=lambda b: (b.start, b.depth)):
        a, b = clean_offset(breaks, block.start), clean_offset(breaks, block.end)
        if a < b:
            yield Block(block.kind, a, b, block.depth)


def _headings(raw: Sequence[RawHeading], env: dict[str, Any], breaks: tuple[Break, ...]) -> Iterator[Heading]:
    """Headings with their anchors: one counter over all headings of the file."""
    anchors = Anchors()
    for heading in raw:
        title = plain_title(heading.content, env)
        anchor = anchors.take(explicit_id(heading.content) or slugify(title))
        a, b = clean_offset(breaks, heading.start), clean_offset(breaks, heading.end)
        yield Heading(a, b, heading.level, title, anchor)


def _note(
    text: str,
    definition: notes.Definition,
    refs: Sequence[str],
    holes: Sequence[Span],
    markers: Sequence[comments.Marker],
) -> Note:
    def page_at(source: int) -> int | None:
        n = bisect_right(markers, source, key=lambda m: m.end)
        return markers[n - 1].page if n else None

    visible, _ = without(text, definition.start, definition.end, holes)
    return Note(
        label=definition.label,
        text=visible.strip(),
        start=definition.start,
        end=definition.end,
        refs=tuple(dict.fromkeys(refs)),
        page_start=page_at(definition.start),
        page_end=page_at(definition.end - 1),
    )


def _facts(data: dict[str, Any], kind: str, path: PurePath, structure: Structure) -> ChapterFacts:
    """What the front matter says, and for a document what its headings and file name do."""
    number: int | None = None
    front: DocumentFrontmatter
    if kind == "documents":
        front = DocumentFrontmatter.model_validate(data)
        tops = [h for h in structure.headings if h.level == 1]
        given = " ".join((front.title or "").split())
        named = unicodedata.normalize("NFC", " ".join(path.stem.split()))
        title = given or (len(tops) == 1 and plain_title(tops[0].content, structure.env)) or named
        slug = slugify(path.stem)
    else:
        front = chapter = ChapterFrontmatter.model_validate(data)
        title = " ".join(chapter.title.split())
        number, slug = chapter.chapter, chapter.slug or slugify(title)
    return ChapterFacts(
        number,
        slug,
        title,
        front.language,
        bool(front.is_preview),
        tuple(front.key_concepts),
        tuple(front.mentions_figures),
        tuple(front.mentions_scriptures),
    )


def _warnings(text: str, markers: Sequence[comments.Marker]) -> Iterator[str]:
    last = 0
    for marker in markers:
        line = text.count("\n", 0, marker.start) + 1
        if marker.page is None:
            yield f"{line}: a Roman page number counts as none: {text[marker.start : marker.end]}"
        elif marker.page < last:
            yield f"{line}: page {marker.page} comes after page {last}"
        last = marker.page or last
