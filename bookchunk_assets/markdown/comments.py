"""Comments as CommonMark takes them, and the page markers among them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bookchunk_assets.markdown.chapter import Block
from bookchunk_assets.markdown.spans import Span, inside

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
PAGE = re.compile(r"<!--\s*page\s*:?\s*(\d+|[ivxlcdm]+)\s*(?:/\s*\w+\s*)?-->", re.IGNORECASE)
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n)[\s\S])+?(?<!`)\1(?!`)")
BLANK_LINE = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Marker:
    """A page marker's span in the source; ``page`` is None where the number is Roman."""

    start: int
    end: int
    page: int | None


def code_spans(text: str, blocks: Sequence[Block]) -> tuple[Span, ...]:
    """Inline code in paragraphs, headings and tables."""
    return tuple(
        sorted(
            {
                match.span()
                for block in blocks
                if block.kind in ("paragraph", "heading", "table") and text.find("`", block.start, block.end) >= 0
                for match in CODE_SPAN.finditer(text, block.start, block.end)
            }
        )
    )


def comments(text: str, start: int, blocks: Sequence[Block], code: Sequence[Span]) -> Iterator[Span]:
    """The spans of comments from ``start`` on, outside ``code`` (blocks and spans): each ends within its block."""
    leaves = sorted((b.start, b.end, b.kind) for b in blocks if b.kind in ("paragraph", "heading", "table", "html"))
    at = start
    while match := COMMENT.search(text, at):
        a, b = match.span()
        _, block_end, kind = leaves[max(bisect_right(leaves, (a, 1 << 60, "")) - 1, 0)] if leaves else (0, 0, "")
        if a >= block_end:
            block_end, kind = len(text), ""
        unfinished = b > block_end or (kind != "html" and BLANK_LINE.search(match[0]))
        if inside(code, a) or (unfinished and not PAGE.fullmatch(match[0])):
            at = a + 4
        else:
            yield a, b
            at = b


def markers(text: str, found: Sequence[Span]) -> tuple[Marker, ...]:
    """The page markers among comments."""
    return tuple(
        Marker(a, b, int(match[1]) if match[1].isdecimal() else None)
        for a, b in found
        if (match := PAGE.fullmatch(text, a, b))
    )


def holes(text: str, start: int, found: Sequence[Span]) -> Iterator[Span]:
    """What goes with the comments: one that has its line to itself takes the line along, quote marks included."""
    run: list[Span] = []
    for a, b in found:
        if run and not text[run[-1][1] : a].strip(" \t"):
            run[-1] = (run[-1][0], b)
        else:
            run.append((a, b))
    for a, b in run:
        line = max(text.rfind("\n", 0, a) + 1, start)
        end = text.find("\n", b) + 1 or len(text)
        alone = not text[line:a].strip(" \t>") and not text[b:end].strip()
        yield (line, end) if alone else (a, b)
