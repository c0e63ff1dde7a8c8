"""Block structure by markdown-it-py, fed only what can be structure.

A line of prose says nothing to a block parser but that it is there, yet its every character costs: so each line's text
is cut to its first letter before the parse, which keeps the line count and every construct that begins a line. A law
over the corpus holds the shortened parse to the full one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from bookchunk_assets.markdown.chapter import Block

KINDS = {
    "fence": "code",
    "code_block": "code",
    "blockquote_open": "blockquote",
    "table_open": "table",
    "list_item_open": "item",
    "paragraph_open": "paragraph",
    "heading_open": "heading",
    "html_block": "html",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "hr": "rule",
}
# A paragraph that may define a link is kept whole, and so is every line with what ends HTML or parts a table's cells.
PROSE = re.compile(
    r"^(?P<open>[ \t]*(?:(?:[>*+-]|\d{1,9}[.)])[ \t]*)*)(?:(?P<link>\[[^\n]*(?:\n(?![ \t>]*$)[^\n]*)*)"
    r"|(?P<letter>[^\W\d_])[^|>\n]*$)",
    re.MULTILINE,
)


CODE_INDENT = 4  # columns


def _prose(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A paragraph of shortened lines up to a blank one or its container's end, which no other rule need look at."""
    if silent:
        return False
    begins, shifts, ends, columns, indent = state.bMarks, state.tShift, state.eMarks, state.sCount, state.blkIndent
    line = start
    while (
        line < end
        and ends[line] - (begins[line] + shifts[line]) == 1
        and 0 <= columns[line] - indent < CODE_INDENT
        and state.src[ends[line] - 1].isalpha()
    ):
        line += 1
    if line == start or (line < end and not state.isEmpty(line)):
        return False
    state.line = line
    state.push("paragraph_open", "p", 1).map = [start, line]
    state.push("inline", "", 0)
    state.push("paragraph_close", "p", -1)
    return True


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table").use(footnote_plugin, move_to_end=False)
    parser.block.ruler.before("table", "prose", _prose)
    return parser


BLOCKS = _parser().disable("inline")
BLOCKS_OF_PLAIN_TEXT = _parser().disable(["inline", "code"])


@dataclass(frozen=True, slots=True)
class RawHeading:
    """A top-level heading: source span, level, and its content as written, less markers."""

    start: int
    end: int
    level: int
    content: str


@dataclass(frozen=True, slots=True)
class Structure:
    """The blocks of a source text in pre-order and its top-level headings, in source offsets; ``env`` holds the link
    and footnote definitions that inline parsing asks for."""

    blocks: tuple[Block, ...]
    headings: tuple[RawHeading, ...]
    env: dict[str, Any]


def shorten(text: str) -> str:
    """``text`` with each line of prose cut to its first letter; lines stay lines, structure stays structure."""
    return PROSE.sub(lambda m: m[0] if m["letter"] is None else m["open"] + m["letter"], text)


def parse_structure(text: str, start: int, markers: tuple[tuple[int, int], ...], *, plain_text: bool) -> Structure:
    """Parse ``text`` from ``start`` as if the ``markers`` (sorted spans, each within a line) were not there: a line
    that holds nothing else is no line. ``plain_text`` knows no indented code."""
    lines = text[start:].split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=start))
    offsets, kept = _without(markers, lines, starts) if markers else (starts, lines)
    env: dict[str, Any] = {}
    tokens = (BLOCKS_OF_PLAIN_TEXT if plain_text else BLOCKS).parse(shorten("\n".join(kept)), env)
    last = len(kept)
    blocks, headings = [], []
    ends = [*starts[1:-1], len(text)]  # of each line in the source
    line_end = dict(zip(starts, ends, strict=False))
    for at, token in enumerate(tokens):
        if token.map is None or (kind := KINDS.get(token.type)) is None:
            continue
        first, after = token.map[0], min(token.map[1], last)
        span = (offsets[min(first, last - 1)], line_end[offsets[max(after, 1) - 1]])
        blocks.append(Block(kind, *span, token.level))
        if kind == "heading" and token.level == 0:
            headings.append(RawHeading(*span, int(token.tag[1]), _content(token, tokens[at + 1], kept)))
    return Structure(tuple(blocks), tuple(headings), env)


def _without(markers: tuple[tuple[int, int], ...], lines: list[str], starts: list[int]) -> tuple[list[int], list[str]]:
    """The offsets and texts of the lines that stay once the markers are gone."""
    gone: dict[int, list[tuple[int, int]]] = {}
    for a, b in markers:
        gone.setdefault(bisect_left(starts, a + 1) - 1, []).append((a, b))
    offsets, kept = [], []
    for n, line in enumerate(lines):
        if n in gone:
            for a, b in reversed(gone[n]):
                line = line[: a - starts[n]] + line[b - starts[n] :]
            if not line.strip(" \t>"):
                continue
        offsets.append(starts[n])
        kept.append(line)
    return offsets or starts[:1], kept or [""]


def _content(opening: Token, inline: Token, lines: list[str]) -> str:
    """A heading's text; a setext heading's is read from its lines, which ``shorten`` may have cut."""
    if opening.markup.startswith("#") or opening.map is None:
        return inline.content
    first, after = opening.map
    return "\n".join(line.strip() for line in lines[first : after - 1])
