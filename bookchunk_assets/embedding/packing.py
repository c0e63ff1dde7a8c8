"""Inputs into requests, in order, within a provider's limits."""

from __future__ import annotations

from collections.abc import Sequence


def packed(sizes: Sequence[int], inputs: int, tokens: int) -> list[range]:
    """Runs of neighbours, each of at most so many inputs and tokens; one that is larger by itself has a run of its
    own."""
    runs: list[range] = []
    start = total = 0
    for n, size in enumerate(sizes):
        if n > start and (n - start == inputs or total + size > tokens):
            runs.append(range(start, n))
            start, total = n, 0
        total += size
    return [*runs, range(start, len(sizes))] if sizes else []
