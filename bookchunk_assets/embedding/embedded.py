"""A finished chunk with its vector, and a chapter's chunks as passages to embed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bookchunk_assets.context.prefix import PrefixedChunk
from bookchunk_assets.embedding.pooling import Span
from bookchunk_assets.embedding.port import Chapter, Passage
from bookchunk_assets.markdown.chapter import ParsedChapter
from bookchunk_assets.markdown.spans import clean_offset


@dataclass(frozen=True, slots=True)
class EmbeddedChunk:
    """A finished chunk and its vector: float32, little-endian; no bytes where the book has no vectors."""

    finished: PrefixedChunk
    vector: bytes = b""


def passages_of(parsed: ParsedChapter, chunks: Sequence[PrefixedChunk]) -> Chapter:
    """A chapter as its model sees it."""
    spans = (own_span(parsed, each.chunk.kind, each.chunk.char_start, each.chunk.char_end) for each in chunks)
    return Chapter(
        parsed.text, tuple(Passage(each.embedded_text, span) for each, span in zip(chunks, spans, strict=True))
    )


def own_span(parsed: ParsedChapter, kind: str, start: int, end: int) -> Span | None:
    """A body chunk's own characters in clean text, from source offsets: comments and lifted footnotes are not there."""
    return (clean_offset(parsed.breaks, start), clean_offset(parsed.breaks, end)) if kind == "body" else None
