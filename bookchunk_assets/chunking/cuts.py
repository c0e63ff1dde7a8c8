"""Where a text may be cut that no block divides: between words, else between grapheme clusters."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from bookchunk_assets.chunking.words import GRAPHEME, NO_SPACES, WORD, word_starts

# A word in a script without spaces is broken before it is this long, so that cuts have somewhere to be.
LONG_RUN = 64
LONGEST_TOKEN = 8  # characters a token in an endless word: how far a run is looked for
BYTES = 4  # a character has no more, and a token no fewer than one


def pieces(text: str, start: int, end: int, limit: int, count: Callable[[str], int]) -> Iterator[tuple[int, int]]:
    """``[start, end)`` as runs that begin at words, each of at most ``limit`` tokens: what stands between two spaces
    and is over the limit is cut between the words of a script without spaces (a long run of these sooner), else
    between grapheme clusters. White space belongs to the run before it, and that before the first word to none."""
    words = [match.span() for match in WORD.finditer(text, start, end)]
    ends = [a for a, _ in words[1:]] + [end]
    for (a, b), after in zip(words, ends, strict=True):
        word = text[a:b]
        spaceless = NO_SPACES.search(word) is not None
        most = min(limit, LONG_RUN) if spaceless else limit
        if len(word) * BYTES <= most or count(word) <= most:
            yield a, after
            continue
        cuts = [*_runs(text, a, b, word_starts(text, a, b) if spaceless else [], most, count), b]
        yield from pairwise([*cuts[:-1], after])


def _runs(
    text: str, start: int, end: int, words: Sequence[int], limit: int, count: Callable[[str], int]
) -> Iterator[int]:
    """Starts of runs of whole words, else whole grapheme clusters, each of at most ``limit`` tokens; a cluster that is
    longer is cut between its code points."""
    at = start
    while at < end:
        yield at
        window = text[at : min(end, at + LONGEST_TOKEN * limit)]
        after = at + len(window)
        ends = [word - at for word in words[bisect_right(words, at) : bisect_right(words, after)]]
        if after == end:
            ends.append(len(window))
        if not (length := _longest(window, ends, limit, count)):
            ends = [cluster.end() for cluster in GRAPHEME.finditer(window)]
            if after < end and len(ends) > 1:
                ends.pop()  # the window may stand inside its last cluster
            length = _longest(window, ends, limit, count)
        at += length or _longest(window, range(1, len(window) + 1), limit, count) or 1


def _longest(text: str, ends: Sequence[int], limit: int, count: Callable[[str], int]) -> int:
    """The furthest of ``ends`` up to which ``text`` is within ``limit`` tokens; 0 where none is."""
    n = bisect_right(ends, limit, key=lambda end: count(text[:end]))
    while n and count(text[: ends[n - 1]]) > limit:  # counts hardly ever fall as a text grows, but they may
        n -= 1
    return ends[n - 1] if n else 0
