"""Atoms into chunks: greedily, room for the overlap kept, cut where it hurts least, no last piece too small."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from bookchunk_assets.chunking.atoms import Atom
from bookchunk_assets.chunking.groups import Group
from bookchunk_assets.chunking.overlap import overlap_starts
from bookchunk_assets.chunking.sizes import Sizes

SMALLEST_LAST = 64  # tokens of a group's last chunk, below which a block moves to it


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk's place in its group. ``text`` is all of it; own text is ``[start, end)``, in clean offsets of the
    group; ``overlap`` is where the overlap starts, ``start`` where there is none."""

    text: str
    tokens: int
    start: int
    end: int
    overlap: int
    notes: tuple[str, ...]
    split: str | None


def pack(group: Group, atoms: Sequence[Atom], sizes: Sizes) -> list[Piece]:
    """The chunks of a group, in order; every atom in exactly one."""
    return _Packer(group, atoms, sizes).pieces()


class _Packer:
    def __init__(self, group: Group, atoms: Sequence[Atom], sizes: Sizes) -> None:
        self.group, self.atoms, self.sizes = group, atoms, sizes
        self.sums = [0, *accumulate(atom.tokens for atom in atoms)]
        self.bound = frozenset(label for atom in atoms for label in atom.notes)

    def pieces(self) -> list[Piece]:
        bounds = self.bounds()
        out: list[Piece] = []
        for first, after in zip(bounds, bounds[1:], strict=False):
            out.append(self.best(first, after, out[-1] if out else None))
        return out

    def bounds(self) -> list[int]:
        """The first atom of each chunk, and the number of atoms."""
        bounds = [0]
        before: Piece | None = None
        while bounds[-1] < len(self.atoms):
            first = bounds[-1]
            after = self.cheapest(first, self.furthest(first, before))
            before = self.best(first, after, before)
            bounds.append(after)
        return self.balanced(bounds)

    def furthest(self, first: int, before: Piece | None) -> int:
        """How many atoms fit after ``first``, the overlap's room kept; one at least."""
        starts = self.starts(first, before)
        room = self.sizes.target
        guess = bisect_right(self.sums, self.sums[first] + room - (self.sizes.overlap if starts else 0)) - 1
        after = min(max(guess, first + 1), len(self.atoms))
        while after > first + 1 and self.piece(first, after, starts[0] if starts else None).tokens > room:
            after -= 1
        while after < len(self.atoms) and self.piece(first, after + 1, starts[0] if starts else None).tokens <= room:
            after += 1
        return after

    def cheapest(self, first: int, after: int) -> int:
        """Where to cut, up to ``after``: the last of the cheapest joints that leave the chunk half full."""
        if after == len(self.atoms):
            return after
        half = self.sums[first] + self.sizes.target // 2
        choices = [n for n in range(first + 1, after + 1) if self.sums[n] >= half] or [after]
        return min(choices, key=lambda n: (self.atoms[n].joint, -n))

    def balanced(self, bounds: list[int]) -> list[int]:
        """The bounds, the last moved back where that keeps the last chunk from being too small."""
        if len(bounds) < 3:
            return bounds
        first, last, end = bounds[-3:]
        if self.own(last, end) >= SMALLEST_LAST:
            return bounds
        joint = self.atoms[last].joint
        choices = [
            n
            for n in range(first + 1, last)
            if self.atoms[n].joint <= joint
            and self.own(first, n) >= SMALLEST_LAST
            and self.own(n, end) >= SMALLEST_LAST
            and self.piece(n, end, None).tokens <= self.sizes.target
        ]
        if choices:
            bounds[-2] = min(choices, key=lambda n: (self.atoms[n].joint, -n))
        return bounds

    def own(self, first: int, after: int) -> int:
        return self.sizes.text(self.atoms[first].start, self.atoms[after - 1].end)

    def starts(self, first: int, before: Piece | None) -> list[int]:
        """Where the overlap of a chunk that begins with atom ``first`` may start."""
        if before is None or self.atoms[first].lead:
            return []
        return overlap_starts(self.group, self.sizes, before.start, before.end, self.bound)

    def best(self, first: int, after: int, before: Piece | None) -> Piece:
        """The chunk with the longest overlap that leaves it within the target."""
        starts = self.starts(first, before)
        low, high = 0, len(starts)
        while low < high:
            middle = (low + high) // 2
            if self.piece(first, after, starts[middle]).tokens <= self.sizes.target:
                high = middle
            else:
                low = middle + 1
        return self.piece(first, after, starts[low] if low < len(starts) else None)

    def piece(self, first: int, after: int, overlap: int | None) -> Piece:
        """The atoms ``[first, after)`` as a chunk, its overlap from ``overlap`` on."""
        group, run = self.group, self.atoms[first:after]
        start, end = trimmed(group.text, run[0].start, run[-1].end)
        since = start if overlap is None else overlap
        own = group.text[since:end]
        notes = dict.fromkeys(self.carried(since, start)) | dict.fromkeys(n for atom in run for n in atom.notes)
        lead = run[0].lead if overlap is None else ""
        text = lead + own + run[-1].tail
        cuts = run[0].cuts or (self.atoms[after].cuts if after < len(self.atoms) else None)
        text += self.sizes.endnotes(notes)
        return Piece(text, self.sizes.of(text), start, end, since, tuple(notes), cuts)

    def carried(self, start: int, end: int) -> Iterator[str]:
        return (label for label in self.sizes.labels(start, end) if label in self.bound)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """``[start, end)`` less the white space around it; the first line's indentation stays."""
    body = text[start:end]
    first = start + len(body) - len(body.lstrip())
    line = text.rfind("\n", start, first) + 1
    if line or start == 0 or text[start - 1] == "\n":
        first = max(line, start)
    return first, start + len(body.rstrip())
