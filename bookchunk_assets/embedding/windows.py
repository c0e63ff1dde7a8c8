"""A text longer than a model takes, as overlapping windows, and which window each token's vector is taken from.

Late chunking as in Günther et al., "Late Chunking" (arXiv 2409.04701), its long form: the whole text is read in
windows, and none of it is cut off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens ``start`` to ``end`` are read together; those from ``first`` to ``last`` stand further from its edges
    than from those of any other window, and their vectors are taken from it."""

    start: int
    end: int
    first: int
    last: int


def windows(tokens: int, size: int, overlap: int) -> tuple[Window, ...]:
    """The fewest windows of at most ``size`` tokens that read all ``tokens``, neighbours sharing ``overlap`` or more;
    they are of one length, give or take a token. ``overlap`` is under half of ``size``."""
    if overlap * 2 >= size or overlap < 0:
        raise ValueError(f"an overlap of {overlap} is not under half of {size}")
    many = max(1, -(-(tokens - overlap) // (size - overlap)))
    length = -(-(tokens + overlap * (many - 1)) // many)
    spread = max(tokens - length, 0)
    starts = [n * spread // max(many - 1, 1) for n in range(many)]
    return _owned([(start, min(start + length, tokens)) for start in starts], tokens)


def _owned(spans: Sequence[tuple[int, int]], tokens: int) -> tuple[Window, ...]:
    """What two windows share is halved: each half stands further from the edge of its own."""
    cuts = [0, *((start + end) // 2 for (_, end), (start, _) in zip(spans, spans[1:], strict=False)), tokens]
    return tuple(Window(*span, first, last) for span, first, last in zip(spans, cuts, cuts[1:], strict=False))
