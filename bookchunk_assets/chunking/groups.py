"""Groups: what one heading governs, cut out of the clean text with all that chunking it needs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from bookchunk_assets.chunking.questions import questions
from bookchunk_assets.corpus.slug import slugify
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

RULES = "1"
T = TypeVar("T")
GROUP_LEVELS = {"book": (2, 3), "documents": (1, 2, 3, 4, 5, 6)}


@dataclass(frozen=True, slots=True)
class Group:
    """A stretch of a chapter that no chunk leaves. ``text`` is the slice of the clean text that starts at
    ``start``; the offsets of breaks, pages, blocks, headings and references count from the group's start.
    ``notes`` are the definitions that its references reach. ``kind`` is body, or contents with the
    names of a listing page in ``names`` and no text."""

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
    nothing under them are in no group."""
    sections = tuple(_by_questions(parsed)) if _lacks_headings(parsed) else ()
    return tuple(_group(parsed, section) for section in sections or _with_text(parsed, _by_headings(parsed)))


def _lacks_headings(parsed: ParsedChapter) -> bool:
    return not parsed.headings or (len(parsed.headings) == 1 and parsed.headings[0].level == 1)


def _title_anchor(parsed: ParsedChapter) -> str:
    """The title's slug, told from the headings' anchors."""
    taken = {heading.anchor for heading in parsed.headings}
    base = anchor = slugify(parsed.facts.title) or "section"
    n = 0
    while anchor in taken:
        n += 1
        anchor = f"{base}-{n}"
    return anchor


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


def _by_questions(parsed: ParsedChapter) -> Iterator[_Section]:
    found = list(questions(parsed.text, parsed.blocks))
    if not found:
        return
    title = () if parsed.kind == "documents" else (parsed.facts.title,)
    used = {_title_anchor(parsed)}
    start = 0
    if parsed.text[_after_heading(parsed) : found[0].start].strip():
        anchor = parsed.headings[0].anchor if parsed.headings else _title_anchor(parsed)
        yield _Section(0, found[0].start, (parsed.facts.title,), anchor)
        start = found[0].start
    for n, question in enumerate(found):
        end = found[n + 1].start if n + 1 < len(found) else len(parsed.text)
        anchor, again = question.anchor, 0
        while anchor in used:
            again += 1
            anchor = f"{question.anchor}-{again}"
        used.add(anchor)
        yield _Section(start if n == 0 else question.start, end, (*title, *question.path), anchor)


def _after_heading(parsed: ParsedChapter) -> int:
    return parsed.headings[0].end if parsed.headings else 0


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
