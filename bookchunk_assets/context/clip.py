"""Text cut to a number of tokens."""

from __future__ import annotations

from bookchunk_assets.chunking.tokens import count
from bookchunk_assets.chunking.words import GRAPHEME, word_starts

WINDOW = 6  # characters a token that are looked at: more than most prose has
LONGEST_CLUSTER = 32


def clipped(text: str, limit: int) -> str:
    """One line, or its start and ``…`` within ``limit`` cl100k tokens: whole words, where none ends far enough
    on whole grapheme clusters; empty where not one character fits."""
    if len(text.encode()) <= limit or count(text) <= limit:
        return text
    end = min(len(text), limit * WINDOW)
    while end > 0:
        shown = f"{text[: _last_end(text, end)].rstrip()}…"
        if (size := count(shown)) <= limit:
            return shown
        end = min(end - 1, len(shown) * limit // size)
    return ""


def _last_end(text: str, end: int) -> int:
    """The last space in the second half of ``text[:end]``, else the last end of a word after its first third, else of
    a grapheme cluster."""
    if (space := text.rfind(" ", end // 2, end + 1)) > 0:
        return space
    if words := [at for at in word_starts(text, end // 3, end + LONGEST_CLUSTER) if 0 < at <= end]:
        return words[-1]
    clusters = GRAPHEME.finditer(text[: end + LONGEST_CLUSTER])
    return max((cluster.end() for cluster in clusters if cluster.end() <= end), default=end)
