"""The parsed chapter: values only, every position an offset in code points.

Two coordinate systems exist. *Source* offsets count in the file's text (front matter included, see
``corpus.text``). *Clean* offsets count in ``ParsedChapter.text``: the source less front matter,
comments and lifted footnote definitions. ``breaks`` maps clean to source.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChapterFacts:
    """What a chapter says of itself: its front matter, and the title that its headings or name give."""

    number: int | None
    slug: str
    title: str
    language: str | None = None
    is_preview: bool = False
    key_concepts: tuple[str, ...] = ()
    mentions_figures: tuple[str, ...] = ()
    mentions_scriptures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A block of clean text, ``kind`` one of paragraph, heading, code, blockquote, table, html, list,
    item, footnote, rule; ``depth`` 0 at the top level. Blocks come in pre-order, as markdown-it's tokens do."""

    kind: str
    start: int
    end: int
    depth: int


@dataclass(frozen=True, slots=True)
class Heading:
    """A top-level heading: its lines in clean text, level 1 to 6, plain title, and slug or explicit id,
    made unique in the file."""

    start: int
    end: int
    level: int
    title: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Break:
    """From the clean offset ``clean`` on, up to the next break, text stands at ``source`` in the file."""

    clean: int
    source: int


@dataclass(frozen=True, slots=True)
class PageMark:
    """From the clean offset ``clean`` on, ``page`` is in force (None: a Roman number)."""

    clean: int
    page: int | None


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference ``[^label]`` in clean text, outside code, whose definition the chapter has."""

    clean: int
    label: str


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote definition that was lifted out of the clean text. ``text`` is it, less comments,
    stripped; ``refs`` are the labels that it refers to itself; pages are those in force at its ends."""

    label: str
    text: str
    start: int
    end: int
    refs: tuple[str, ...]
    page_start: int | None
    page_end: int | None


@dataclass(frozen=True, slots=True)
class ParsedChapter:
    """One chapter file after parsing; see the module for the two kinds of offset. ``links`` are the texts of the
    links that stand in the clean text, in order, each as often as it does."""

    facts: ChapterFacts
    kind: str
    text: str
    breaks: tuple[Break, ...]
    pages: tuple[PageMark, ...]
    blocks: tuple[Block, ...]
    headings: tuple[Heading, ...]
    references: tuple[Reference, ...]
    notes: tuple[Note, ...]
    links: tuple[str, ...]
    warnings: tuple[str, ...]


def source_offset(breaks: tuple[Break, ...], clean: int) -> int:
    """The source offset of the character at a clean offset."""
    at = breaks[bisect_right(breaks, clean, key=lambda b: b.clean) - 1]
    return at.source + clean - at.clean


def page_in_force(pages: tuple[PageMark, ...], clean: int) -> int | None:
    """The page in force at a clean offset; None where no marker came before."""
    n = bisect_right(pages, clean, key=lambda p: p.clean)
    return pages[n - 1].page if n else None
