"""Blocks that a look at their lines shows, without a parser: most of a book.

A block parser tries a dozen rules on each line. But outside every other block a heading, a fence with its end, and
lines of prose up to a blank one can be nothing else. What is not so plain goes to the parser, stretch by stretch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.rules_block.html_block import HTML_SEQUENCES

# A line of text whatever stands before it: no marker begins it, and without a pipe it is no table's head.
TEXT = re.compile(
    r"(?:[^#>\-*+_=\d`~<|\[ \t\n]|\*{1,3}[^\W_]|_{1,3}[^\W_]|-[^\W_]|`{1,2}[^`|\n]|\d+(?:[^\d.)|\n]|[.)][^\s|])"
    r"|\[(?!\^)[^\[\]\\|\n]+\](?!:))[^|\n]*\Z"
)
ENDS_TEXT = re.compile(r"#{1,6}(?:[ \t]|\Z)|`{3}[^`]*\Z|~{3}|>")
HEADING = re.compile(r"(#{1,6})(?:[ \t](.*))?\Z")
CLOSING_MARKS = re.compile(r"(?:\A|[ \t])#+\Z")
FENCE = re.compile(r"(?:(`{3,})[^`]*|(~{3,}).*)\Z")
CLOSING_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*\Z")
ITEM = re.compile(r"[-*+](?:[ \t]|\Z)|\d{1,9}[.)](?:[ \t]|\Z)")


@dataclass(frozen=True, slots=True)
class Seen:
    """A block of lines ``[first, after)`` of a ``chapter.Block``'s kind; a heading with its level and content."""

    kind: str
    first: int
    after: int
    level: int = 0
    content: str = ""
    depth: int = 0


def is_blank(line: str) -> bool:
    """Whether CommonMark takes the line for a blank one."""
    return not line.strip(" \t")


def at_sight(lines: Sequence[str], first: int) -> Seen | None:
    """The block that starts at line ``first``, which is not blank and stands in no other block; None where it takes
    a parser to know."""
    line = lines[first]
    if heading := HEADING.match(line):
        content = CLOSING_MARKS.sub("", (heading[2] or "").strip(" \t")).strip()
        return Seen("heading", first, first + 1, len(heading[1]), content)
    if fence := FENCE.match(line):
        end = _fence_end(lines, first + 1, fence[1] or fence[2])
        return Seen("code", first, end) if end else None
    if line.startswith("<"):
        return _html(lines, first)
    after = first
    while after < len(lines) and TEXT.match(lines[after]):
        after += 1
    whole = after == len(lines) or is_blank(lines[after]) or ENDS_TEXT.match(lines[after])
    return Seen("paragraph", first, after) if whole and after > first else None


def _html(lines: Sequence[str], first: int) -> Seen | None:
    """CommonMark's seven kinds of HTML block: each runs to the line that has its end, the last two kinds to a blank
    one."""
    closing = next((closing for opening, closing, _ in HTML_SEQUENCES if opening.search(lines[first])), None)
    if closing is None:
        return None
    for n in range(first, len(lines)):
        if is_blank(lines[n]) if closing.pattern == "^$" else closing.search(lines[n]):
            return Seen("html", first, n if closing.pattern == "^$" else n + 1)
    return Seen("html", first, len(lines))


def _fence_end(lines: Sequence[str], start: int, marks: str) -> int | None:
    """The line after the closing fence."""
    for n in range(start, len(lines)):
        if marks in lines[n] and (closing := CLOSING_FENCE.match(lines[n])) and closing[1].startswith(marks):
            return n + 1
    return None


def next_start(lines: Sequence[str], first: int) -> int:
    """Where the stretch that starts at line ``first`` may end: before a line that follows a blank one, is not indented
    and goes on with no list. What is still open there (a fence, HTML) only a parser knows."""
    for n in range(first + 1, len(lines)):
        line = lines[n]
        if line and line[0] not in " \t" and is_blank(lines[n - 1]) and not ITEM.match(line):
            return n
    return len(lines)
