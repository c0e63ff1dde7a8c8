"""Where a text may be cut that no block divides: between words, else between grapheme clusters."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import regex

# Scripts that write no spaces between words.
NO_SPACES = regex.compile(r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Han}\p{Hiragana}\p{Katakana}]")
WORD = re.compile(r"\S+")
BEGINS = regex.compile(r"[\p{L}\p{N}]")
GRAPHEME = regex.compile(r"\X")
# A word in a script without spaces is broken before it is this long, so that cuts have somewhere to be.
LONG_RUN = 64
LONGEST_TOKEN = 8  # characters a token in an endless word: how far a run is looked for
BYTES = 4  # a character has no more, and a token no fewer than one


def word_starts(text: str, start: int, end: int) -> list[int]:
    """Offsets in ``[start, end)`` where a word begins: after white space, and between clusters of scripts without
    spaces where no mark or closing punctuation follows."""
    spaced = [match.start() for match in WORD.finditer(text, start, end)]
    if text.isascii() or not NO_SPACES.search(text, start, end):
        return spaced
    between = (
        after.start()
        for before, after in pairwise(GRAPHEME.finditer(text, start, end))
        if BEGINS.match(after[0]) and (NO_SPACES.match(after[0]) or NO_SPACES.match(before[0]))
    )
    return sorted({*spaced, *between})


def pieces(text: str, start: int, end: int, limit: int, count: Callable[[str], int]) -> Iterator[tuple[int, int]]:
    """``[start, end)`` as runs that begin at words, each of at most ``limit`` tokens: a word over the limit is cut
    between grapheme clusters, and a long one of a script without spaces sooner. White space belongs to the run
    before it, and that before the first word to none."""
    words = [match.span() for match in WORD.finditer(text, start, end)]
    ends = [a for a, _ in words[1:]] + [end]
    for (a, b), after in zip(words, ends, strict=True):
        word = text[a:b]
        most = min(limit, LONG_RUN) if NO_SPACES.search(word) else limit
        if len(word) * BYTES <= most or count(word) <= most:
            yield a, after
            continue
        cuts = [*_clusters(text, a, b, most, count), b]
        yield from pairwise([*cuts[:-1], after])


def _clusters(text: str, start: int, end: int, limit: int, count: Callable[[str], int]) -> Iterator[int]:
    """Starts of runs of whole grapheme clusters, each of at most ``limit`` tokens; a cluster that is longer is cut
    between its code points."""
    at = start
    while at < end:
        yield at
        window = text[at : min(end, at + LONGEST_TOKEN * limit)]
        ends = [cluster.end() for cluster in GRAPHEME.finditer(window)]
        if at + len(window) < end and len(ends) > 1:
            ends.pop()  # the window may stand inside its last cluster
        at += _longest(window, ends, limit, count) or _longest(window, range(1, len(window) + 1), limit, count) or 1


def _longest(text: str, ends: Sequence[int], limit: int, count: Callable[[str], int]) -> int:
    """The furthest of ``ends`` up to which ``text`` is within ``limit`` tokens; 0 where none is."""
    n = bisect_right(ends, limit, key=lambda end: count(text[:end]))
    while n and count(text[: ends[n - 1]]) > limit:  # counts hardly ever fall as a text grows, but they may
        n -= 1
    return ends[n - 1] if n else 0
