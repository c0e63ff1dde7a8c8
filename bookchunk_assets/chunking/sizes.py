"""The sizes that decide: of a stretch of a group's text, and of it with the footnotes that it brings along."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from bookchunk_assets.chunking.groups import Group
from bookchunk_assets.chunking.tokens import count
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.markdown.notes import reach

BETWEEN = "\n\n"  # a chunk's text and each definition at its end


class Sizes:
    """Token counts of stretches of one group, and which definitions they reach."""

    def __init__(self, group: Group, settings: Settings) -> None:
        self._group = group
        self._at = [reference.clean for reference in group.references]
        self._notes = {note.label: note for note in group.notes}
        self._refs = {note.label: note.refs for note in group.notes}
        self.target, self.hard_max, self.overlap = settings.target_tokens, settings.hard_max, settings.overlap_tokens
        self.of = count

    def raw(self, start: int, end: int) -> int:
        """Tokens of the stretch with its white space."""
        return count(self._group.text[start:end])

    def text(self, start: int, end: int) -> int:
        """Tokens of the stretch as a chunk of its own."""
        return count(self._group.text[start:end].strip())

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
        text = self._group.text[start:end].strip()
        kept: list[str] = []
        for label in labels:
            if count(text + self.endnotes([*kept, label])) <= limit:
                kept.append(label)
        return tuple(kept)

    def fits_with_notes(self, start: int, end: int) -> bool:
        """Whether the stretch fits the target, and nothing that cutting it would bring along is left out."""
        return self.text(start, end) <= self.target and not self.cut_for_notes(start, end)

    def cut_for_notes(self, start: int, end: int) -> bool:
        """Whether the stretch and its footnotes pass the target."""
        labels = self.labels(start, end)
        return bool(labels) and count(self._group.text[start:end].strip() + self.endnotes(labels)) > self.target
