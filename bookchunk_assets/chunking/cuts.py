"""Where a text may be cut that no block divides: between words, else between grapheme clusters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import regex

# Scripts that write no spaces between words.
NO_SPACES = regex.compile(r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Han}\p{Hiragana}\p{Katakana}]")
WORD = re.compile(r"\S+")
BEGINS = regex.compile(r"[\p{L}\p{N}]")
GRAPHEME = regex.compile(r"\X")
# A word in a script without spaces is broken before it is this long, so that cuts have somewhere to be.
LONG_RUN = 64
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
    """Starts of runs of whole grapheme clusters, each of at most ``limit`` tokens; one cluster may be longer, and is
    then cut between its code points."""
    at = start
    while at < end:
        yield at
        at += _longest(text[at : min(end, at + 8 * limit)], limit, count)


def _longest(text: str, limit: int, count: Callable[[str], int]) -> int:
    """The length of the longest start of ``text`` within ``limit`` tokens that ends between clusters."""
    low, high = 1, len(text)
    if count(text) <= limit:
        low = high
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    if low == len(text):
        # The window's end may stand inside a cluster: leave the last one to the next run.
        low = low if len(text) < 8 * limit else low - 1
    last = 0
    for cluster in GRAPHEME.finditer(text):
        if cluster.end() > low:
            break
        last = cluster.end()
    return last or max(low, 1)
