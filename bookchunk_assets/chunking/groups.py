"""Groups: what one heading governs, cut out of the clean text with all that chunking it needs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from bookchunk_assets.chunking.contents import contents_names
from bookchunk_assets.chunking.questions import Question, questions
from bookchunk_assets.corpus.slug import slugify
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
from bookchunk_assets.markdown.notes import reach

RULES = "2"
T = TypeVar("T")
GROUP_LEVELS = {"book": (2, 3), "documents": (1, 2, 3, 4, 5, 6)}


@dataclass(frozen=True, slots=True)
class Group:
    """A stretch of a chapter that no chunk leaves. ``text`` is the slice of the clean text that starts at
    ``start``; the offsets of breaks, pages, blocks, headings and references count from the group's start.
    ``notes`` are the definitions that its references reach. ``kind`` is body, or contents: all of a listing page, with
    what it lists in ``names``."""

    chapter: ChapterFacts
    kind: str
    heading_path: tuple[str, ...]
    anchor: str
    start: int
    text: str
    breaks: tuple[Break, ...]
    pages: tuple[PageMark, ...]
    blocks: tuple[Block, ...]
    headings: tuple[Heading, ...]
    references: tuple[Reference, ...]
    notes: tuple[Note, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Section:
    """A stretch of clean text with its path and anchor; ``level`` 0 where no heading opens it."""

    start: int
    end: int
    path: tuple[str, ...]
    anchor: str


def section_groups(parsed: ParsedChapter) -> tuple[Group, ...]:
    """The groups of a chapter in text order: at its headings, else at its questions, else all of it. Headings with
    nothing under them are in no group. Before them, that of its contents, where it lists enough."""
    found = tuple(questions(parsed.text, parsed.blocks)) if _lacks_headings(parsed) else ()
    sections = _by_questions(parsed, found) if found else _with_text(parsed, _by_headings(parsed))
    bodies = (_group(parsed, section) for section in sections)
    return (*_contents(parsed, [question.section for question in found]), *bodies)


def _contents(parsed: ParsedChapter, sections: Iterable[str]) -> Iterator[Group]:
    """The group of a listing page's contents; ``sections`` are the titles of those that no heading opens."""
    title = parsed.facts.title
    if names := contents_names([*(h.title for h in parsed.headings), *sections], parsed.links, title):
        whole = _group(parsed, _Section(0, len(parsed.text), (title,), "toc"))
        yield replace(whole, kind="contents", names=names, blocks=(), references=(), notes=())


def _lacks_headings(parsed: ParsedChapter) -> bool:
    return not parsed.headings or (len(parsed.headings) == 1 and parsed.headings[0].level == 1)


def _title_anchor(parsed: ParsedChapter) -> str:
    """The title's slug, told from the headings' anchors."""
    return Anchors(heading.anchor for heading in parsed.headings).take(slugify(parsed.facts.title))


def _by_headings(parsed: ParsedChapter) -> list[_Section]:
    """A section from each heading that starts a group to the next, bare ones too."""
    title, text, headings = parsed.facts.title, parsed.text, parsed.headings
    opened: list[tuple[int, tuple[str, ...], str]] = []
    if not headings or headings[0].start > 0:
        opened.append((0, (title,), _title_anchor(parsed)))
    in_force: dict[int, str] = {}
    for heading in headings:
        if heading.level in GROUP_LEVELS[parsed.kind]:
            in_force = {level: name for level, name in in_force.items() if level < heading.level}
            in_force[heading.level] = heading.title
            opened.append((heading.start, _path(parsed, in_force), heading.anchor))
        elif not text[: heading.start].strip():
            opened.append((heading.start, (title,), heading.anchor))
    ends = [start for start, *_ in opened[1:]] + [len(text)]
    return [_Section(start, end, path, anchor) for (start, path, anchor), end in zip(opened, ends, strict=True)]


def _path(parsed: ParsedChapter, in_force: dict[int, str]) -> tuple[str, ...]:
    title = parsed.facts.title
    names = tuple(in_force[level] for level in sorted(in_force) if in_force[level])
    if parsed.kind == "documents":
        return names or (title,)
    return (title, *(names[1:] if in_force.get(2) == title else names))


def _with_text(parsed: ParsedChapter, sections: list[_Section]) -> Iterator[_Section]:
    """The sections that have text under their headings. A run of bare headings that ends one opens the next one's
    text, as far back as each is shallower than the one after it."""
    waiting: list[Heading] = []
    starts = [heading.start for heading in parsed.headings]
    for section in sections:
        heads = list(parsed.headings[bisect_left(starts, section.start) : bisect_left(starts, section.end)])
        chain = waiting + heads[:1]
        first = len(waiting)
        while first and heads and heads[0].start == section.start and chain[first - 1].level < chain[first].level:
            first -= 1
        opening = waiting[first:]
        end = _end_of_text(parsed.text, section, heads)
        below = [heading for heading in heads if heading.start >= end]
        if end > section.start:
            yield replace(section, start=opening[0].start if opening else section.start, end=end)
            waiting = below
        else:
            waiting = opening + below


def _end_of_text(text: str, section: _Section, heads: list[Heading]) -> int:
    """Where the section's last text that is no heading ends; its start where there is none."""
    end = section.end
    for heading in [*reversed(heads), None]:
        floor = heading.end if heading else section.start
        if tail := text[floor:end].rstrip():
            return floor + len(tail)
        end = heading.start if heading else end
    return section.start


def _by_questions(parsed: ParsedChapter, found: Sequence[Question]) -> Iterator[_Section]:
    """A section from each question to the next, and one before the first where text stands there. A heading that ends
    one opens the next one's text; at the file's end it is in none."""
    title, text = parsed.facts.title, parsed.text
    anchors = Anchors(heading.anchor for heading in parsed.headings)
    bounds = [*(question.start for question in found), len(text)]
    for heading in parsed.headings:
        n = bisect_left(bounds, heading.end)
        if not text[heading.end : bounds[n]].strip():
            bounds[n] = heading.start
    above = () if parsed.kind == "documents" else (title,)
    if text[: bounds[0]].strip():
        inside = [heading.anchor for heading in parsed.headings if heading.start < bounds[0]]
        yield _Section(0, bounds[0], (title,), inside[0] if inside else anchors.take(slugify(title)))
    else:
        bounds[0] = 0
    for question, start, end in zip(found, bounds, bounds[1:], strict=False):
        yield _Section(start, end, (*above, *question.path), anchors.take(question.anchor))


def _group(parsed: ParsedChapter, section: _Section) -> Group:
    """Everything that lies in the section, counted from its start."""
    start, end = section.start, section.end
    references = _between(parsed.references, lambda r: r.clean, start, end)
    notes = {note.label: note for note in parsed.notes}
    reached = reach((r.label for r in references), {label: note.refs for label, note in notes.items()})
    return Group(
        chapter=parsed.facts,
        kind="body",
        heading_path=section.path,
        anchor=section.anchor,
        start=start,
        text=parsed.text[start:end],
        breaks=tuple(
            Break(max(b.clean - start, 0), b.source + max(start - b.clean, 0))
            for b in _in_force(parsed.breaks, lambda b: b.clean, start, end)
        ),
        pages=tuple(
            PageMark(max(p.clean - start, 0), p.page) for p in _in_force(parsed.pages, lambda p: p.clean, start, end)
        ),
        blocks=tuple(
            Block(b.kind, max(b.start, start) - start, min(b.end, end) - start, b.depth)
            for b in _overlapping(parsed.blocks, start, end)
        ),
        headings=tuple(
            replace(h, start=h.start - start, end=h.end - start)
            for h in _between(parsed.headings, lambda h: h.start, start, end)
        ),
        references=tuple(Reference(r.clean - start, r.label) for r in references),
        notes=tuple(notes[label] for label in reached),
    )


def _between(items: Sequence[T], at: Callable[[T], int], start: int, end: int) -> Sequence[T]:
    """Of items sorted by position, those in ``[start, end)``."""
    return items[bisect_left(items, start, key=at) : bisect_left(items, end, key=at)]


def _in_force(items: Sequence[T], at: Callable[[T], int], start: int, end: int) -> Sequence[T]:
    """As ``_between``, and the last one at or before ``start``."""
    return items[max(bisect_right(items, start, key=at) - 1, 0) : bisect_left(items, end, key=at)]


def _overlapping(blocks: Sequence[Block], start: int, end: int) -> Iterator[Block]:
    """Blocks with text in ``[start, end)``; one that a question cuts is there on both sides."""
    first = bisect_left(blocks, start, key=lambda b: b.start)
    while first and blocks[first - 1].depth:
        first -= 1
    for block in blocks[max(first - 1, 0) : bisect_left(blocks, end, key=lambda b: b.start)]:
        if block.end > start:
            yield block
