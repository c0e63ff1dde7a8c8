"""What the UI shows of a stage's rows: previews as Markdown, and figures that it plots over time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import dagster as dg

from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.chunking.groups import Group
from bookchunk_assets.context.prefix import PrefixedChunk
from bookchunk_assets.embedding.embedded import EmbeddedChunk
from bookchunk_assets.markdown.chapter import ParsedChapter
from bookchunk_assets.outputs.report import histogram

MOST = 30  # headings shown
FEW = 3  # passages shown
FLOAT32 = 4  # bytes
LONG = 400  # characters shown of each


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
        "preview": dg.MetadataValue.md("\n\n".join(map(_passage, rows[:FEW]))),
    }


@_shown.register
def _(first: PrefixedChunk, rows: Sequence[PrefixedChunk]) -> dict[str, Any]:
    sources = sorted({each.prefix.source for each in rows})
    lines = [f"{_path(each.chunk)}  \n{_plain(each.prefix.text)}" for each in rows[:FEW]]
    return {"written by": ", ".join(sources), "preview": dg.MetadataValue.md("\n\n".join(lines))}


@_shown.register
def _(first: EmbeddedChunk, rows: Sequence[EmbeddedChunk]) -> dict[str, Any]:
    return {"dimensions": len(first.vector) // FLOAT32}


def _passage(chunk: Chunk) -> str:
    text = chunk.text if len(chunk.text) <= LONG else chunk.text[:LONG] + " …"
    fence = "`" * (max((len(run) for run in text.split() if set(run) == {"`"}), default=2) + 1)
    return f"{_path(chunk)}, {chunk.token_count} tokens\n\n{fence}text\n{text}\n{fence}"


def _path(chunk: Chunk) -> str:
    return f"**{_plain(' › '.join(chunk.heading_path))}**"


def _plain(text: str) -> str:
    """Text as it is, where Markdown is read."""
    return "".join(f"\\{mark}" if mark in "\\`*_[]<>#|~" else mark for mark in text)


def _list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
