"""Vectors of tokens into vectors of passages, as pure functions over arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Span = tuple[int, int]


def normalised(vectors: Floats) -> Floats:
    """Rows of length 1, float32; a row of zeros stays one."""
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=-1, keepdims=True)
    return (wide / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def mean_of(ways: Sequence[Floats]) -> Floats:
    """The normalised mean of vectors of the same passages, made in several ways."""
    if len(ways) == 1:
        return ways[0]
    return normalised(np.mean(np.stack(ways).astype(np.float64), axis=0).astype(np.float32))


class SpanMeans:
    """The mean over each span of tokens, gathered a window at a time, so that no text's token vectors are all held.
    Spans may overlap, and are half open."""

    def __init__(self, spans: Sequence[Span], width: int) -> None:
        self._spans = spans
        self._sums = np.zeros((len(spans), width), dtype=np.float64)
        self._counts = np.zeros(len(spans), dtype=np.int64)

    def add(self, first: int, states: Floats) -> None:
        """Take in the vectors of the tokens from ``first`` on."""
        last = first + len(states)
        for n, (a, b) in enumerate(self._spans):
            a, b = max(a, first), min(b, last)
            if a < b:
                self._sums[n] += states[a - first : b - first].sum(axis=0, dtype=np.float64)
                self._counts[n] += b - a

    def vectors(self) -> Floats:
        """A normalised vector a span; zeros where a span has no token."""
        return normalised((self._sums / np.maximum(self._counts, 1)[:, None]).astype(np.float32))
