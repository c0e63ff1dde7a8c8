"""Block structure by markdown-it-py, fed only what can be structure.

What shows at sight is not parsed (``markdown.sight``). The rest is parsed stretch by stretch, each with a line of text
after it: where that comes out as a paragraph of its own at the top level, the stretch has closed all that it opened;
else all that follows is parsed with it. A line of prose says nothing to a block parser but that it is there, yet its
every character costs: so its text is cut to its first letter before the parse, which keeps the line count and every
construct that begins a line. A law over the corpus holds this parse to the plain one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from bookchunk_assets.markdown.chapter import Block
from bookchunk_assets.markdown.sight import Seen, at_sight, is_blank, next_start

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
AFTERWARDS = "\n\na"


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
    line_end = dict(zip(starts, [*starts[1:-1], len(text)], strict=False))
    blocks, headings = [], []
    for seen in _blocks(kept, BLOCKS_OF_PLAIN_TEXT if plain_text else BLOCKS, env):
        span = offsets[seen.first], line_end[offsets[seen.after - 1]]
        blocks.append(Block(seen.kind, *span, seen.depth))
        if seen.kind == "heading" and seen.depth == 0:
            headings.append(RawHeading(*span, seen.level, seen.content))
    return Structure(tuple(blocks), tuple(headings), env)


def _blocks(lines: list[str], parser: MarkdownIt, env: dict[str, Any]) -> Iterator[Seen]:
    """The blocks of all lines, in pre-order."""
    first = 0
    while first < len(lines):
        if is_blank(lines[first]):
            first += 1
        elif seen := at_sight(lines, first):
            yield seen
            first = seen.after
        else:
            after = next_start(lines, first)
            found = _parsed(lines, first, after, parser, env)
            if found is None:
                after = len(lines)
                found = _parsed(lines, first, after, parser, env) or []
            yield from found
            first = after


def _parsed(lines: list[str], first: int, after: int, parser: MarkdownIt, env: dict[str, Any]) -> list[Seen] | None:
    """The blocks of a stretch of lines; None where something is still open at its end, short of the last line."""
    source = shorten("\n".join(lines[first:after]))
    whole = after == len(lines)
    tokens: list[Token] = []
    parser.block.parse(source if whole else source + AFTERWARDS, parser, env, tokens)
    if not whole:
        closed = len(tokens) > 2 and tokens[-3].level == 0 and tokens[-3].map == [after - first + 1, after - first + 2]
        if not closed:
            return None
        del tokens[-3:]
    found = []
    for at, token in enumerate(tokens):
        if token.map is None or (kind := KINDS.get(token.type)) is None:
            continue
        begin, end = first + token.map[0], min(first + token.map[1], after)
        level, content = 0, ""
        if kind == "heading":
            level, content = int(token.tag[1]), _content(token, tokens[at + 1], lines[begin:end])
        found.append(Seen(kind, begin, max(end, begin + 1), level, content, token.level))
    return found


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
    if opening.markup.startswith("#"):
        return inline.content
    return "\n".join(line.strip() for line in lines[:-1])
