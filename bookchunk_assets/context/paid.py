"""The answers that a book has paid for: found again by their keys, and on disk as soon as they are there."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from bookchunk_assets.models.journal import Journal
from bookchunk_assets.models.usage import Usage, added

ASKED_TWICE = 2  # an answer that cannot be taken is asked for once more, and never again


@dataclass(frozen=True, slots=True)
class Answer:
    """An accepted answer, or none so far and how many could not be taken."""

    key: str
    text: str
    refused: int


class Paid:
    """A book's answers: what was ``stored`` by earlier runs, and a journal of what came since. With ``anew`` nothing
    counts but what a run that asked anew too left in the journal when it ended early. Used by many threads."""

    def __init__(self, stored: Iterable[Answer], journal: Journal, *, anew: bool) -> None:
        self._lock = threading.Lock()
        self.journal, self._anew = journal, anew
        self._stored = {answer.key: answer for answer in stored}
        self._fresh: dict[str, Answer] = {}
        self.batches: dict[str, None] = {}  # handed in, and not collected yet
        self.announced: tuple[int, str] | None = None  # about to be handed in when the journal ends
        self.untold: dict[str, Usage] = {}  # what a run that was killed had paid, and could not tell
        for line in journal:
            if "told" in line:
                self.untold = {}
            elif "tariff" in line:
                self.untold = added([self.untold, {str(line["tariff"]): Usage(*line["usage"])}])
            if "announced" in line:
                self.announced = int(line["announced"]), str(line.get("after"))
            elif "batch" in line:
                self._note_batch(line)
            elif "key" in line and (not anew or line.get("anew")):
                self._note(str(line.get("key")), line.get("text"))
            elif isinstance(line.get("text"), str):
                self._stored[str(line.get("key"))] = Answer(str(line.get("key")), line["text"], 0)

    def get(self, key: str) -> Answer:
        """What there is of an answer."""
        with self._lock:
            known = self._fresh.get(key) or (None if self._anew else self._stored.get(key))
            return known or Answer(key, "", 0)

    def settled(self, key: str) -> bool:
        """Whether an answer is not to be asked for: it is there, or was refused twice."""
        answer = self.get(key)
        return bool(answer.text) or answer.refused >= ASKED_TWICE

    def add(self, key: str, text: str | None, tariff: str, usage: Usage) -> None:
        """Keep an accepted answer, or (None) that one could not be taken; on disk when this returns."""
        told = [usage.input, usage.output, usage.cache_write, usage.cache_read]
        self.journal.add({"key": key, "text": text, "tariff": tariff, "usage": told, "anew": self._anew})
        with self._lock:
            self._note(key, text)

    def told(self) -> None:
        """Keep that all that was paid so far is in the run's records."""
        self.journal.add({"told": True})

    def announce(self, size: int, after: str) -> None:
        """Keep that a batch of that size is about to be handed in, where ``after`` is the newest that is there: one
        whose name never came back can then be found again."""
        self.journal.add({"announced": size, "after": after})
        self.announced = size, after

    def hand_in(self, batch: str) -> None:
        """Keep the name of a batch that is under way."""
        self.journal.add({"batch": batch, "open": True})
        self.announced = None
        self.batches[batch] = None

    def collected(self, batch: str) -> None:
        """Keep that all the answers of a batch are here."""
        self.journal.add({"batch": batch, "open": False})
        self.batches.pop(batch, None)

    def merged(self) -> list[Answer]:
        """Every answer, newer ones in place of older, for the store; none where nothing is new."""
        with self._lock:
            if not self._fresh:
                return []
            better = {key: answer for key, answer in self._fresh.items() if answer.text or not self._text_of(key)}
            return sorted({**self._stored, **better}.values(), key=lambda answer: answer.key)

    def _text_of(self, key: str) -> str:
        return self._stored[key].text if key in self._stored else ""

    def _note(self, key: str, text: str | None) -> None:
        before = self._fresh.get(key)
        refused = before.refused if before else 0
        if before is None and not self._anew and key in self._stored:
            refused = self._stored[key].refused
        self._fresh[key] = Answer(key, text, 0) if text else Answer(key, "", refused + 1)

    def _note_batch(self, line: dict[str, object]) -> None:
        if line.get("open"):
            self.announced = None
            self.batches[str(line["batch"])] = None
        else:
            self.batches.pop(str(line["batch"]), None)
