"""A chunk: a slice of a group, with where it stands and what it carries."""

from __future__ import annotations

from dataclasses import dataclass

from bookchunk_assets.markdown.chapter import ChapterFacts


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk of a chapter. Offsets are source code points and span its own text only; sizes are
    cl100k tokens of ``text``; ``kind`` is body, contents or footnote; ``ordinal`` 0 is the contents chunk."""

    chapter: ChapterFacts
    ordinal: int
    kind: str
    section_anchor: str
    heading_path: tuple[str, ...]
    page_start: int | None
    page_end: int | None
    text: str
    token_count: int
    char_start: int
    char_end: int
    overlap_tokens: int
    footnotes: tuple[str, ...]
    split: str | None
    key_concepts: tuple[str, ...] = ()
    mentions_figures: tuple[str, ...] = ()
    mentions_scriptures: tuple[str, ...] = ()
