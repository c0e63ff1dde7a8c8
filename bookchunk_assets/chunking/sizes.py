"""The sizes that decide: of a stretch of a group's text, and of it with the footnotes that it brings along."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from bookchunk_assets.chunking.groups import Group
from bookchunk_assets.chunking.tokens import counter
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.markdown.notes import reach

DEEPEST_INDENT = 40  # characters
BETWEEN = "\n\n"  # a chunk's text and each definition at its end


class Sizes:
    """Token counts of stretches of one group, and which definitions they reach."""

    def __init__(self, group: Group, settings: Settings) -> None:
        self._group = group
        self._at = [reference.clean for reference in group.references]
        self._notes = {note.label: note for note in group.notes}
        self._refs = {note.label: note.refs for note in group.notes}
        self.target, self.hard_max, self.overlap = settings.target_tokens, settings.hard_max, settings.overlap_tokens
        self.of = counter(group.text + self.endnotes(self._notes))

    def room(self, lead: str, tail: str) -> int:
        """What the target leaves between a lead and a tail; seams may cost a token more than their sides."""
        return self.target - (self.of(lead) + self.of(tail) + 2 if lead or tail else 0)

    def raw(self, start: int, end: int) -> int:
        """Tokens of the stretch with its white space."""
        return self.of(self._group.text[start:end])

    def text(self, start: int, end: int) -> int:
        """Tokens of the stretch as a chunk of its own."""
        return self.of(self._own(start, end))

    def _own(self, start: int, end: int) -> str:
        first, last = trimmed(self._group.text, start, end)
        return self._group.text[first:last]

    def labels(self, start: int, end: int) -> tuple[str, ...]:
        """The footnotes that the stretch refers to, and those that these refer to."""
        if not self._at:
            return ()
        found = self._group.references[bisect_left(self._at, start) : bisect_left(self._at, end)]
        return reach((reference.label for reference in found), self._refs)

    def endnotes(self, labels: Iterable[str]) -> str:
        """The definitions, as they stand at a chunk's end."""
        return "".join(BETWEEN + self._notes[label].text for label in labels)

    def fits(self, start: int, end: int, limit: int) -> bool:
        """Whether the stretch, without footnotes, is within the limit."""
        return self.text(start, end) <= limit

    def notes_that_fit(self, start: int, end: int, limit: int) -> tuple[str, ...]:
        """Of the stretch's footnotes, in order, those that fit the limit with it."""
        labels = self.labels(start, end)
        if not labels:
            return ()
        text = self._own(start, end)
        kept: list[str] = []
        for label in labels:
            if self.of(text + self.endnotes([*kept, label])) <= limit:
                kept.append(label)
        return tuple(kept)

    def fits_with_notes(self, start: int, end: int) -> bool:
        """Whether the stretch fits the target, and nothing that cutting it would bring along is left out."""
        return self.text(start, end) <= self.target and not self.cut_for_notes(start, end)

    def cut_for_notes(self, start: int, end: int) -> bool:
        """Whether the stretch and its footnotes pass the target."""
        labels = self.labels(start, end)
        return bool(labels) and self.of(self._own(start, end) + self.endnotes(labels)) > self.target


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """``[start, end)`` less the white space around it; the first line's indentation stays where it can mean
    something."""
    body = text[start:end]
    last = start + len(body.rstrip())
    if not body[:1].isspace():
        return start, last
    first = start + len(body) - len(body.lstrip())
    line = text.rfind("\n", start, first) + 1
    if (line or start == 0 or text[start - 1] == "\n") and first - max(line, start) <= DEEPEST_INDENT:
        first = max(line, start)
    return first, last
