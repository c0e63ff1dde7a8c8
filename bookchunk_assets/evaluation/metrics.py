"""What a ranking is worth for one question, as pure functions over spans of characters.

Recall, precision, IoU and precision-omega are those of Smith and Troynikov, "Evaluating Chunking Strategies for
Retrieval" (Chroma, 2024), by characters as in that report's code. A reference counts as found when the first k chunks
hold half of it or more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bookchunk_assets.markdown.spans import Span, merge

FOUND = 0.5  # the share of a reference that must be retrieved


@dataclass(frozen=True, slots=True)
class Extent:
    """What a retrieved chunk shows of a file: the file's key, and the span with its overlap."""

    place: int | str
    span: Span


def size(spans: Sequence[Span]) -> int:
    """Characters in disjoint spans."""
    return sum(b - a for a, b in spans)


def shared(one: Sequence[Span], other: Sequence[Span]) -> tuple[Span, ...]:
    """What two lists of sorted, disjoint spans have in common."""
    pairs = ((max(a, c), min(b, d)) for a, b in one for c, d in other)
    return tuple((a, b) for a, b in pairs if a < b)


@dataclass(frozen=True, slots=True)
class Score:
    """A question's figures at k, each from 0 to 1."""

    found: float
    covered: float
    precision: float
    iou: float


def score(place: int | str, references: Sequence[Span], retrieved: Sequence[Extent]) -> Score:
    """The figures of the first k chunks."""
    wanted = merge(references)
    there = merge(extent.span for extent in retrieved if extent.place == place)
    elsewhere = sum(size(merge([extent.span])) for extent in retrieved if extent.place != place)
    hit = size(shared(wanted, there))
    shown = size(there) + elsewhere
    found = [size(shared([reference], there)) >= FOUND * (reference[1] - reference[0]) for reference in references]
    return Score(
        found=sum(found) / len(found),
        covered=hit / size(wanted),
        precision=hit / shown if shown else 0.0,
        iou=hit / (shown + size(wanted) - hit),
    )


def first_hit(place: int | str, references: Sequence[Span], ranked: Sequence[Extent]) -> float:
    """1 / the rank of the first chunk that shows some of a reference; 0 where none does."""
    wanted = merge(references)
    hits = (rank for rank, extent in enumerate(ranked, 1) if extent.place == place and shared(wanted, [extent.span]))
    return 1 / next(hits, float("inf"))


def precision_omega(place: int | str, references: Sequence[Span], extents: Sequence[Extent]) -> float:
    """The precision of retrieving each chunk that shows some of a reference, and no other: what cutting alone costs."""
    wanted = merge(references)
    touching = merge(e.span for e in extents if e.place == place and shared(wanted, [e.span]))
    return size(shared(wanted, touching)) / (size(touching) + size(wanted) - size(shared(wanted, touching)))
