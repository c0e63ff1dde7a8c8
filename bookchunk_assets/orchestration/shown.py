"""What the UI shows of a stage's rows: previews as Markdown, and figures that it plots over time.

Events keep no passage, and no prefix, which may quote one: those stand in the stage's output alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import dagster as dg

from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.chunking.groups import Group
from bookchunk_assets.chunking.tokens import count
from bookchunk_assets.context.prefix import PrefixedChunk
from bookchunk_assets.embedding.embedded import EmbeddedChunk
from bookchunk_assets.markdown.chapter import ParsedChapter
from bookchunk_assets.outputs.report import histogram

MOST = 30  # rows shown
FLOAT32 = 4  # bytes


def shown(rows: Sequence[Any]) -> dict[str, Any]:
    """Metadata for the rows that a stage made of one chapter."""
    return _shown(rows[0], rows) if rows else {}


@singledispatch
def _shown(first: object, rows: Sequence[Any]) -> dict[str, Any]:
    return {}


@_shown.register
def _(first: ParsedChapter, rows: Sequence[ParsedChapter]) -> dict[str, Any]:
    figures = {"title": first.facts.title, "characters": len(first.text), "footnotes": len(first.notes)}
    warned = {"warnings": dg.MetadataValue.md(_list(first.warnings))} if first.warnings else {}
    return {**figures, "headings": len(first.headings), "pages": len(first.pages), **warned}


@_shown.register
def _(first: Group, rows: Sequence[Group]) -> dict[str, Any]:
    more = [f"… {len(rows) - MOST} more"] if len(rows) > MOST else []
    paths = [_plain(" › ".join(group.heading_path)) for group in rows[:MOST]]
    return {"outline": dg.MetadataValue.md(_list([*paths, *more]))}


@_shown.register
def _(first: Chunk, rows: Sequence[Chunk]) -> dict[str, Any]:
    sizes = [chunk.token_count for chunk in rows]
    return {
        "tokens": sum(sizes),
        "longest": max(sizes),
        "cut blocks": sum(chunk.split is not None for chunk in rows),
        "sizes": dg.MetadataValue.md(histogram(sizes)),
        "preview": dg.MetadataValue.md(_table(rows)),
    }


@_shown.register
def _(first: PrefixedChunk, rows: Sequence[PrefixedChunk]) -> dict[str, Any]:
    sizes = [count(each.prefix.text) for each in rows]
    return {
        "written by": ", ".join(sorted({each.prefix.source for each in rows})),
        "prefix tokens": sum(sizes),
        "sizes": dg.MetadataValue.md(histogram(sizes)),
    }


@_shown.register
def _(first: EmbeddedChunk, rows: Sequence[EmbeddedChunk]) -> dict[str, Any]:
    return {"dimensions": len(first.vector) // FLOAT32}


def _table(chunks: Sequence[Chunk]) -> str:
    """The first chunks, a row each: where they stand and what they carry."""
    head = "| chunk | section | kind | tokens | overlap | pages | cut |\n|---|---|---|---|---|---|---|"
    rows = (
        f"| {chunk.ordinal:04d} | {_plain(' › '.join(chunk.heading_path))} | {chunk.kind} | {chunk.token_count} "
        f"| {chunk.overlap_tokens} | {_pages(chunk)} | {chunk.split or ''} |"
        for chunk in chunks[:MOST]
    )
    return "\n".join([head, *rows, *([f"\n… {len(chunks) - MOST} more"] if len(chunks) > MOST else [])])


def _pages(chunk: Chunk) -> str:
    pages = dict.fromkeys(page for page in (chunk.page_start, chunk.page_end) if page is not None)
    return "–".join(map(str, pages))


def _plain(text: str) -> str:
    """Text as it is, where Markdown is read."""
    return "".join(f"\\{mark}" if mark in "\\`*_[]<>#|~" else mark for mark in text)


def _list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
