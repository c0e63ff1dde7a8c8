"""The overlap: how far back into the chunk before a chunk may start."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from bookchunk_assets.chunking.atoms import WHOLE
from bookchunk_assets.chunking.groups import Group
from bookchunk_assets.chunking.sizes import Sizes
from bookchunk_assets.chunking.words import lacks_spaces, word_starts

LONGEST_TOKEN = 10  # characters a token, above what prose has: how far back to look for words


def overlap_starts(group: Group, sizes: Sizes, start: int, end: int, bound: frozenset[str]) -> list[int]:
    """Where an overlap with the chunk ``text[start:end]`` may start, furthest first: at words within the last
    ``sizes.overlap`` tokens, in no code, table, HTML, footnote or quote that it would cut, and after any reference
    whose definition is not in ``bound`` (those that chunks can carry)."""
    if not sizes.overlap:
        return []
    floor = max(start, end - LONGEST_TOKEN * sizes.overlap)
    if lacks_spaces(group.text, floor, end):  # there the words cost more than the tokens
        floor += _first_within(sizes, range(floor, end), end)
    words = word_starts(group.text, floor, end)
    words = words[_first_within(sizes, words, end) :]
    for block in group.blocks:
        if block.kind in WHOLE and block.start < end and block.end > floor:
            words = [at for at in words if not _cuts(group.text, block.start, block.end, at)]
    for reference in group.references:
        if floor <= reference.clean < end and not set(sizes.labels(reference.clean, reference.clean + 1)) <= bound:
            words = words[bisect_left(words, reference.clean + 1) :]
    return words


def _first_within(sizes: Sizes, words: Sequence[int], end: int) -> int:
    return bisect_left(words, True, key=lambda at: sizes.text(at, end) <= sizes.overlap)


def _cuts(text: str, start: int, end: int, at: int) -> bool:
    return start < at < end and bool(text[start:at].strip(" \t\n>"))
