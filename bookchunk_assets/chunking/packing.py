"""Atoms into chunks: greedily, room for the overlap kept, cut where it hurts least, no last piece too small."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from bookchunk_assets.chunking.atoms import Atom
from bookchunk_assets.chunking.groups import Group
from bookchunk_assets.chunking.overlap import overlap_starts
from bookchunk_assets.chunking.sizes import Sizes, trimmed

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
        bounds, out = [0], list[Piece]()
        while bounds[-1] < len(self.atoms):
            first, before = bounds[-1], out[-1] if out else None
            starts = self.starts(first, before)
            after = self.cheapest(first, self.furthest(first, starts))
            out.append(self.best(first, after, starts))
            bounds.append(after)
        if (moved := self.balanced(bounds)) != bounds[-2:-1]:
            first, last, end = bounds[-3], moved[0], bounds[-1]
            del out[-2:]
            for a, b in ((first, last), (last, end)):
                out.append(self.best(a, b, self.starts(a, out[-1] if out else None)))
        return out

    def furthest(self, first: int, starts: list[int]) -> int:
        """Where the atoms from ``first`` on that fit end, the overlap's room kept; one fits always."""
        if self.atoms[first].alone:
            return first + 1
        room = self.sizes.target
        guess = bisect_right(self.sums, self.sums[first] + room - (self.sizes.overlap if starts else 0)) - 1
        after = min(max(guess, first + 1), len(self.atoms))
        while after > first + 1 and self.piece(first, after, starts[0] if starts else None).tokens > room:
            after -= 1
        while after < len(self.atoms) and self.piece(first, after + 1, starts[0] if starts else None).tokens <= room:
            after += 1
        return next((n for n in range(first + 1, after) if self.atoms[n].alone), after)

    def cheapest(self, first: int, after: int) -> int:
        """Where to cut, up to ``after``: the last of the cheapest joints that leave the chunk half full."""
        if after == len(self.atoms):
            return after
        half = self.sums[first] + self.sizes.target // 2
        choices = [n for n in range(first + 1, after + 1) if self.sums[n] >= half] or [after]
        return min(choices, key=lambda n: (self.atoms[n].joint, -n))

    def balanced(self, bounds: list[int]) -> list[int]:
        """Where the last chunk starts, moved back where that keeps it from being too small; none in a group of one."""
        if len(bounds) < 3 or self.own(bounds[-2], bounds[-1]) >= SMALLEST_LAST:
            return bounds[-2:-1]
        first, last, end = bounds[-3:]
        choices = [
            n
            for n in range(first + 1, last)
            if self.atoms[n].joint <= self.atoms[last].joint
            and self.own(first, n) >= SMALLEST_LAST
            and self.piece(n, end, None).tokens <= self.sizes.target
        ]
        if enough := [n for n in choices if self.own(n, end) >= SMALLEST_LAST]:
            return [min(enough, key=lambda n: (self.atoms[n].joint, -n))]
        return choices[:1] or [last]

    def own(self, first: int, after: int) -> int:
        return self.sizes.text(self.atoms[first].start, self.atoms[after - 1].end)

    def starts(self, first: int, before: Piece | None) -> list[int]:
        """Where the overlap of a chunk that begins with atom ``first`` may start."""
        if before is None or self.atoms[first].lead:
            return []
        return overlap_starts(self.group, self.sizes, before.start, before.end, self.bound)

    def best(self, first: int, after: int, starts: list[int]) -> Piece:
        """The chunk with the longest overlap that leaves it within the target."""
        whole = self.piece(first, after, starts[0] if starts else None)
        if not starts or whole.tokens <= self.sizes.target:
            return whole
        low, high = 1, len(starts)
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
