"""Sorted, disjoint spans of offsets: lookup, merging, and the text that stays when they are taken out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import attrgetter

from bookchunk_assets.markdown.chapter import Break

Span = tuple[int, int]
SOURCE = attrgetter("source")


def inside(spans: Sequence[Span], at: int) -> bool:
    """Whether ``at`` lies in one of these sorted, disjoint spans."""
    n = bisect_right(spans, (at, 1 << 60)) - 1
    return n >= 0 and at < spans[n][1]


def merge(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The spans, sorted, those that touch or overlap made one."""
    out: list[Span] = []
    for a, b in sorted(spans):
        if out and a <= out[-1][1]:
            out[-1] = (out[-1][0], max(b, out[-1][1]))
        else:
            out.append((a, b))
    return tuple(out)


def without(text: str, start: int, end: int, holes: Sequence[Span]) -> tuple[str, tuple[Break, ...]]:
    """``text[start:end]`` less the sorted, disjoint ``holes``, and where each stretch that stays stood."""
    parts: list[str] = []
    breaks: list[Break] = []
    clean, at = 0, start
    for a, b in (*(hole for hole in holes if start < hole[1] and hole[0] < end), (end, end)):
        if at < a:
            parts.append(text[at:a])
            breaks.append(Break(clean, at))
            clean += a - at
        at = max(at, b)
    return "".join(parts), tuple(breaks) or (Break(0, start),)


def clean_offset(breaks: tuple[Break, ...], source: int) -> int:
    """The clean offset of a source offset; one in a hole stands at the first character after it."""
    n = bisect_right(breaks, source, key=SOURCE) - 1
    if n < 0:
        return 0
    at = breaks[n].clean + source - breaks[n].source
    return min(at, breaks[n + 1].clean) if n + 1 < len(breaks) else at
