"""Text cut to a number of tokens."""

from __future__ import annotations

from bisect import bisect_right

from bookchunk_assets.chunking.cuts import GRAPHEME, word_starts
from bookchunk_assets.chunking.tokens import count

WINDOW = 8  # characters a token that are looked at: more than any prose has


def clipped(text: str, limit: int) -> str:
    """``text``, or its start and ``…`` within ``limit`` cl100k tokens: whole words, or else whole grapheme clusters;
    empty where not even one of those fits."""
    if count(text) <= limit:
        return text
    head = text[: limit * WINDOW]

    def cut(end: int) -> str:
        return f"{head[:end].rstrip()}…"

    words = [*word_starts(head, 0, len(head))]
    for ends in (words, [match.end() for match in GRAPHEME.finditer(head)]):
        fitting = bisect_right(ends, limit, key=lambda end: count(cut(end)))
        if fitting and ends[fitting - 1]:
            return cut(ends[fitting - 1])
    return ""
