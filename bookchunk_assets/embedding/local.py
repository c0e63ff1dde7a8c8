"""``local``: a small model on this machine's CPU, without a key or a network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from bookchunk_assets.embedding.e5 import model as e5
from bookchunk_assets.embedding.keys import key_of
from bookchunk_assets.embedding.minilm import model as minilm
from bookchunk_assets.embedding.plan import RULES
from bookchunk_assets.embedding.pooling import Floats
from bookchunk_assets.embedding.port import Batch, Chapter
from bookchunk_assets.embedding.reader import Reader

LOADED = {e5.NAME: e5.loaded, minilm.NAME: minilm.loaded}


@cache
def reader(model: str) -> Reader:
    """A model, loaded once a process; raises ``EmbeddingFailed`` where it is not installed."""
    return LOADED[model]()


@dataclass(frozen=True, slots=True)
class Plain:
    """Each passage by itself."""

    model: str
    late: bool = False
    step: int = 16  # passages that are kept at once

    def keys(self, chapter: Chapter) -> list[str]:
        """By the passage's text alone."""
        return [key_of(self.model, RULES, "plain", passage.text) for passage in chapter.passages]

    def vectors(self, chapter: Chapter, wanted: Sequence[int]) -> Iterator[Batch]:
        """A batch every ``step`` passages."""
        read = reader(self.model)
        for at in range(0, len(wanted), self.step):
            some = tuple(wanted[at : at + self.step])
            yield Batch(some, read.alone(read.passage, [chapter.passages[n].text for n in some]))

    def queries(self, questions: Sequence[str]) -> Floats:
        """Questions, marked as such."""
        read = reader(self.model)
        return read.alone(read.query, questions)


@dataclass(frozen=True, slots=True)
class Late:
    """Each passage within its chapter; one that has no place there, or no piece of text, by itself."""

    model: str
    late: bool = True

    def keys(self, chapter: Chapter) -> list[str]:
        """By the chapter's text and the passage's span in it."""
        text, plain = key_of(chapter.text), Plain(self.model).keys(chapter)
        return [
            alone if passage.span is None else key_of(self.model, RULES, "late", text, *passage.span)
            for passage, alone in zip(chapter.passages, plain, strict=True)
        ]

    def vectors(self, chapter: Chapter, wanted: Sequence[int]) -> Iterator[Batch]:
        """All that the chapter gives in one batch, then those by themselves."""
        placed = {n: span for n in wanted if (span := chapter.passages[n].span) is not None}
        spans = list(placed.values())
        vectors = reader(self.model).within(chapter.text, spans) if placed else np.zeros((0, 0), np.float32)
        read = np.flatnonzero(vectors.any(axis=1))
        numbers = [list(placed)[n] for n in read]
        yield Batch(tuple(numbers), vectors[read])
        yield from Plain(self.model).vectors(chapter, sorted(set(wanted).difference(numbers)))

    def queries(self, questions: Sequence[str]) -> Floats:
        """As for plain vectors."""
        return Plain(self.model).queries(questions)
