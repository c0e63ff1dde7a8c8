"""Blocks into atoms: the stretches of a group that are never cut, with what it would cost to cut between them.

Atoms tile the group's text. A block is one atom for as long as it fits; a longer one is taken apart at the joints of
its kind: a list between items, a paragraph between sentences, code between lines, a table between rows, a sentence
between words, a word between grapheme clusters. A heading is one atom with what it heads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import pairwise

from bookchunk_assets.chunking.cuts import pieces
from bookchunk_assets.chunking.groups import Group
from bookchunk_assets.chunking.sentences import MARKS, sentence_ends
from bookchunk_assets.chunking.sizes import Sizes
from bookchunk_assets.chunking.thai import LETTERS

WHOLE = frozenset({"code", "blockquote", "table", "html", "footnote"})
BLANK_LINES = re.compile(r"\n(?:[ \t>]*\n)+")
INDENT = re.compile(r"[ \t]+")
QUOTE_MARKS = re.compile(r"[ \t]*(?:>[ \t]?)+")
FENCE_LINE = re.compile(r"([ \t>]*(?:[-+*]|\d{1,9}[.)])?[ \t>]*)(`{3,}|~{3,})([^\n]*)")
SENTENCE_LIKE = re.compile(rf"[{re.escape(MARKS)}][\"'”’»)\]*_]*\s*\Z")
# Where few marks are written, or none, a space divides what a comma does elsewhere.
CLAUSE_END = re.compile(rf"[,;:—–،؛၊፣፤፥，、；：]\s*\Z|[{LETTERS}\u0e80-\u109f\u1780-\u17ff]\s+\Z")


class Joint(IntEnum):
    """What a cut before an atom costs, cheapest first."""

    BLOCK = 0
    ITEM = 1
    NESTED = 2
    SENTENCE = 3
    LINE = 4
    LIKE_SENTENCE = 5
    CLAUSE = 6
    WORD = 7


@dataclass(frozen=True, slots=True)
class Atom:
    """``text[start:end]`` of a group, white space up to the next atom included. ``joint`` is the cost of a cut before
    it and ``cuts`` the kind of block that such a cut goes through (None: between blocks). A chunk that starts with it
    repeats ``lead``, one that ends with it adds ``tail``. ``tokens`` is its size with its white space, ``notes`` the
    labels of the definitions that go with it. One that is ``alone`` shares its chunk with no other."""

    start: int
    end: int
    joint: Joint
    cuts: str | None
    tokens: int
    notes: tuple[str, ...] = ()
    lead: str = ""
    tail: str = ""
    alone: bool = False


@dataclass(frozen=True, slots=True)
class _Tile:
    """A block (``index`` in the group's blocks; None: text between blocks) that ends at ``stop``, and what follows up
    to ``end``, the start of the next."""

    kind: str
    start: int
    stop: int
    end: int
    index: int | None


def atoms(group: Group, sizes: Sizes) -> list[Atom]:
    """The atoms of a group, in order."""
    return list(_Splitter(group, sizes).group_atoms())


class _Splitter:
    """Takes one group's blocks apart; holds only what every step reads."""

    def __init__(self, group: Group, sizes: Sizes) -> None:
        self.text, self.blocks, self.sizes = group.text, group.blocks, sizes

    def group_atoms(self) -> Iterator[Atom]:
        waiting: _Tile | None = None
        for tile in self.tiles(0, len(self.text), range(len(self.blocks)), 0):
            if tile.kind == "heading":
                waiting = replace(waiting, stop=tile.stop, end=tile.end) if waiting else tile
            elif waiting:
                yield from self.headed(waiting, tile)
                waiting = None
            else:
                yield from self.block(tile, Joint.BLOCK, None)
        if waiting:
            yield from self.block(waiting, Joint.BLOCK, None)

    def tiles(self, start: int, end: int, indices: Sequence[int], depth: int) -> Iterator[_Tile]:
        """The blocks of one depth among ``indices``, and the text between them, as a tiling of ``[start, end)``."""
        found: list[tuple[str, int, int, int | None]] = []
        at = start
        for n in indices:
            block = self.blocks[n]
            if block.depth != depth or block.start < at:
                continue
            if self.text[at : block.start].strip(" \t\n>"):
                found.append(("paragraph", at, block.start, None))
            found.append((block.kind, block.start, block.end, n))
            at = block.end
        if self.text[at:end].strip(" \t\n>") or not found:
            found.append(("paragraph", at, end, None))
        ends = [*(first for _, first, _, _ in found[1:]), end]
        for (kind, _, stop, index), a, b in zip(found, [start, *ends], ends, strict=False):
            yield _Tile(kind, a, stop, b, index)

    def children(self, tile: _Tile) -> list[_Tile]:
        """The tiles one level down in a list, item or quote."""
        if tile.index is None:
            return []
        depth = self.blocks[tile.index].depth
        last = tile.index + 1
        while last < len(self.blocks) and self.blocks[last].depth > depth:
            last += 1
        return list(self.tiles(tile.start, tile.end, range(tile.index + 1, last), depth + 1))

    def whole(self, tile: _Tile, joint: Joint, cuts: str | None, limit: int) -> Atom:
        notes = self.sizes.notes_that_fit(tile.start, tile.end, limit)
        return Atom(tile.start, tile.end, joint, cuts, self.sizes.raw(tile.start, tile.end), notes)

    def block(self, tile: _Tile, joint: Joint, cuts: str | None) -> Iterator[Atom]:
        """One block's atoms: itself where it fits, else its parts."""
        if tile.kind in WHOLE:
            if self.sizes.text(tile.start, tile.stop) <= self.sizes.hard_max:
                yield self.whole(tile, joint, cuts, self.sizes.hard_max)
            else:
                yield from self.cut(tile, joint, cuts)
        elif self.sizes.fits_with_notes(tile.start, tile.stop):
            yield self.whole(tile, joint, cuts, self.sizes.target)
        else:
            yield from self.cut(tile, joint, cuts)

    def cut(self, tile: _Tile, joint: Joint, cuts: str | None) -> Iterator[Atom]:
        """The parts of a block that does not fit."""
        if tile.kind == "code":
            yield from self.code(tile, joint, cuts)
        elif tile.kind == "table":
            yield from self.table(tile, joint, cuts)
        elif tile.kind == "html":
            yield from self.lines(tile, joint, cuts, "", "")
        elif tile.kind in ("list", "item", "blockquote") and (parts := self.children(tile)):
            inner = "list" if tile.kind == "item" else tile.kind
            between = {"list": Joint.ITEM, "item": Joint.NESTED, "blockquote": Joint.NESTED}[tile.kind]
            if cuts in ("list", "blockquote"):
                between = Joint.NESTED
            for n, part in enumerate(self.marks_moved(parts)):
                yield from self.block(part, between if n else joint, inner if n else cuts)
        else:
            yield from self.sentences(tile, joint, cuts)

    def marks_moved(self, parts: list[_Tile]) -> list[_Tile]:
        """The parts, an empty quoted line that one has no room for at the start of the next."""
        for n, (part, after) in enumerate(pairwise(parts)):
            size = self.sizes.text(part.start, part.end)
            if part.kind not in WHOLE and size > self.sizes.target >= self.sizes.text(part.start, part.stop):
                parts[n], parts[n + 1] = replace(part, end=part.stop), replace(after, start=part.stop)
        return parts

    def headed(self, heads: _Tile, tile: _Tile) -> Iterator[Atom]:
        """Headings and the block under them. With it they may pass the target up to the hard max; where even that is
        too much, or the block must be cut elsewhere, they stand alone."""
        sizes = self.sizes
        if sizes.text(heads.start, heads.end) > sizes.target:
            yield from self.block(heads, Joint.BLOCK, None)
            yield from self.block(tile, Joint.BLOCK, None)
            return
        first, *rest = self.block(tile, Joint.BLOCK, None)
        alone = rest and not sizes.fits(heads.start, first.end, sizes.target)
        if alone and sizes.text(heads.start, tile.stop) <= sizes.hard_max:
            yield self.whole(replace(tile, start=heads.start), Joint.BLOCK, None, sizes.hard_max)
            return
        limit = sizes.target if rest else sizes.hard_max
        if rest and tile.kind == "paragraph" and not sizes.fits(heads.start, first.end, limit):
            sentence_end = next((atom.start for atom in rest if atom.joint <= Joint.SENTENCE), tile.end)
            taken = sizes.raw(heads.start, heads.end)
            words: list[Atom] = []
            if taken <= sizes.target // 2:
                words += self.words(first.start, sentence_end, first.joint, first.cuts, "paragraph", less=taken)
            if words and (first.end < sentence_end or any(word.joint is Joint.LIKE_SENTENCE for word in words)):
                first, rest = words[0], words[1:] + [atom for atom in rest if atom.start >= sentence_end]
            else:  # one sentence: the contract lets headings and the block under them pass the target
                limit = sizes.hard_max
        if sizes.fits(heads.start, first.end, limit):
            bound = {*first.notes, *sizes.labels(heads.start, heads.end)}
            yield replace(
                first,
                start=heads.start,
                tokens=sizes.raw(heads.start, first.end),
                notes=tuple(n for n in sizes.notes_that_fit(heads.start, first.end, limit) if n in bound),
            )
        else:
            yield replace(self.whole(heads, Joint.BLOCK, None, sizes.target), alone=True)
            yield first
        yield from rest

    def sentences(self, tile: _Tile, joint: Joint, cuts: str | None) -> Iterator[Atom]:
        """A paragraph between its sentences, those too long between words; within a quote's line, its marks are
        repeated."""
        ends = sentence_ends(self.text[tile.start : tile.end])
        bounds = [tile.start, *(tile.start + end for end in ends), tile.end]
        for n, (a, b) in enumerate(zip(bounds, bounds[1:], strict=False)):
            here, through = (Joint.SENTENCE, "paragraph") if n else (joint, cuts)
            lead = self.quote_marks(a) if n else ""
            if self.sizes.text(a, b) + self.sizes.of(lead) <= self.sizes.target:
                notes = self.sizes.notes_that_fit(a, b, self.sizes.target)
                yield Atom(a, b, here, through, self.sizes.raw(a, b), notes, lead)
            else:
                yield from self.words(a, b, here, through, "paragraph", lead)

    def quote_marks(self, at: int) -> str:
        """The quote marks of the line that ``at`` stands in, where it stands after them."""
        line = self.text.rfind("\n", 0, at) + 1
        marks = QUOTE_MARKS.match(self.text, line)
        return marks[0] if marks and marks.end() <= at else ""

    def words(
        self,
        start: int,
        end: int,
        joint: Joint,
        cuts: str | None,
        kind: str,
        lead: str = "",
        tail: str = "",
        less: int = 0,
    ) -> Iterator[Atom]:
        """A stretch between its words, better after what looks like an end of a sentence or clause; ``less`` is room
        that is taken. Quote marks are repeated before a word that a line of a quote starts without."""
        indent = INDENT.match(self.text, start, end)
        room = self.sizes.room(lead, tail) - less - (self.sizes.of(indent[0]) + 1 if indent else 0)
        for n, (a, b) in enumerate(pieces(self.text, start, end, room, self.sizes.of)):
            before = self.text[max(a - 80, start) : a]
            if not n:
                here = joint
            elif SENTENCE_LIKE.search(before):
                here = Joint.LIKE_SENTENCE
            else:
                here = Joint.CLAUSE if CLAUSE_END.search(before) else Joint.WORD
            notes = self.sizes.notes_that_fit(a, b, self.sizes.target)
            repeated = self.quote_marks(a) if kind == "paragraph" else lead
            first = a if n else start
            yield Atom(first, b, here, kind if n else cuts, self.sizes.raw(first, b), notes, repeated, tail)

    def lines(self, tile: _Tile, joint: Joint, cuts: str | None, lead: str, tail: str) -> Iterator[Atom]:
        """Code, HTML and rows between lines, blank ones first; a line too long between words."""
        room = self.sizes.room(lead, tail)
        bounds = [tile.start]
        for line in re.finditer(r"\n+(?=[^\n]*\S)", self.text[tile.start : tile.end]):
            bounds.append(tile.start + line.end())
        bounds.append(tile.end)
        for n, (a, b) in enumerate(zip(bounds, bounds[1:], strict=False)):
            blank = BLANK_LINES.search(self.text, max(a - 200, tile.start), a) if n else None
            after_blank = blank is not None and blank.end() == a
            here = (Joint.SENTENCE if after_blank else Joint.LINE) if n else joint
            through = tile.kind if n else cuts
            ends = tail if n + 2 < len(bounds) else ""
            if self.sizes.text(a, b) <= room:
                yield Atom(a, b, here, through, self.sizes.raw(a, b), (), lead if n else "", ends)
            else:
                *long, last = self.words(a, b, here, through, tile.kind, lead, tail)
                yield from (replace(atom, lead=lead if n else atom.lead) for atom in long)
                yield replace(last, tail=ends, lead=lead if n or long else "")

    def code(self, tile: _Tile, joint: Joint, cuts: str | None) -> Iterator[Atom]:
        """Each piece of fenced code is closed and opened again with the info string; the fences go with the lines that
        they hold."""
        found = FENCE_LINE.match(self.text, self.first_line(tile), tile.end)
        if not found or self.sizes.of(found[0]) > self.sizes.target // 4:
            yield from self.lines(tile, joint, cuts, "", "")
            return
        margin = re.sub(r"[^\s>]", " ", found[1])
        opening, closing = f"{margin}{found[2]}{found[3]}\n", f"\n{margin}{found[2]}"
        parts = list(self.lines(tile, joint, cuts, opening, closing))
        if len(parts) > 1:  # the opening fence never stands alone, nor does the closing one
            parts[:2] = [_together(parts[0], parts[1])]
        if len(parts) > 1 and re.fullmatch(r"[ \t>]*[`~]{3,}\s*", self.text[parts[-1].start : parts[-1].end]):
            parts[-2:] = [_together(parts[-2], parts[-1])]
        yield from parts

    def table(self, tile: _Tile, joint: Joint, cuts: str | None) -> Iterator[Atom]:
        """Between rows, the header and delimiter rows repeated; they go with the first row."""
        start = self.first_line(tile)
        head_end = self.text.find("\n", self.text.find("\n", start) + 1) + 1 or tile.end
        head = self.text[start:head_end]
        head = re.sub(r"\A(?:[-+*]|\d{1,9}[.)])", lambda m: " " * len(m[0]), head)
        lead = head if self.sizes.of(head) <= self.sizes.target // 2 else ""
        parts = list(self.lines(tile, joint, cuts, lead, ""))
        opening = [part for part in parts if part.start < head_end]
        merged = _together(opening[0], opening[-1])
        rest = parts[len(opening) :]
        if rest and lead:
            merged = _together(merged, rest.pop(0))
        yield merged
        yield from rest

    def first_line(self, tile: _Tile) -> int:
        """Where a tile's first line with text starts."""
        text = self.text[tile.start : tile.end]
        return tile.start + text.rfind("\n", 0, len(text) - len(text.lstrip())) + 1


def _together(a: Atom, b: Atom) -> Atom:
    return replace(a, end=b.end, tokens=a.tokens + b.tokens, tail=b.tail, notes=tuple(dict.fromkeys(a.notes + b.notes)))
