"""``local``: multilingual-e5-small on this machine's CPU, without a key or a network.

The model reads 512 pieces at a time. A longer text is read in overlapping windows, each framed as the model was trained
(``<s> passage: … </s>``); the vector of a piece comes from the window where it stands furthest from an edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from bookchunk_assets.embedding.e5.encoder import Encoder
from bookchunk_assets.embedding.e5.tokenizer import Ints, PieceTokenizer
from bookchunk_assets.embedding.e5.weights import NoWeights, shipped
from bookchunk_assets.embedding.keys import key_of
from bookchunk_assets.embedding.plan import RULES
from bookchunk_assets.embedding.pooling import Floats, Span, SpanMeans
from bookchunk_assets.embedding.port import Batch, Chapter, EmbeddingFailed
from bookchunk_assets.embedding.windows import windows

MODEL = "multilingual-e5-small"
OVERLAP = 128  # pieces that two windows share
PASSAGE, QUERY = "passage:", "query:"


@dataclass(frozen=True, slots=True)
class Reader:
    """The loaded model: how long its windows are, and what reads them."""

    tokenizer: PieceTokenizer
    encoder: Encoder
    bos: int
    eos: int
    size: int
    hidden: int

    def framed(self, instruction: str, ids: Ints) -> Ints:
        """A window as the model was trained to read it."""
        return np.concatenate([[self.bos], self.tokenizer.pieces(instruction).ids, ids, [self.eos]])

    def alone(self, instruction: str, texts: Sequence[str]) -> Floats:
        """A vector a text: the mean over all of its pieces, those of its frame too, as the model was trained."""
        frame = len(self.framed(instruction, np.array([], dtype=np.int64))) - 1
        pieces = [self.tokenizer.pieces(text).ids for text in texts]
        cuts = [windows(len(ids), self.size - frame - 1, OVERLAP) for ids in pieces]
        todo = (
            self.framed(instruction, ids[w.start : w.end]) for ids, own in zip(pieces, cuts, strict=True) for w in own
        )
        states = self.encoder.states(todo)
        out = np.empty((len(texts), self.hidden), dtype=np.float32)
        for n, (ids, own) in enumerate(zip(pieces, cuts, strict=True)):
            mean = SpanMeans([(0, len(ids) + frame + 1)], self.hidden)
            for window in own:
                read = next(states)
                before = frame + window.first - window.start if window.first else 0
                after = frame + window.last - window.start + (window.last == len(ids))
                mean.add(window.first + frame if window.first else 0, read[before:after])
            out[n] = mean.vectors()[0]
        return out

    def within(self, text: str, spans: Sequence[Span]) -> Floats:
        """A vector a span of ``text``: the mean over the pieces that start in it, all of the text read. Zeros where
        none does."""
        pieces = self.tokenizer.pieces(text)
        frame = len(self.framed(PASSAGE, np.array([], dtype=np.int64))) - 1
        cuts = windows(len(pieces.ids), self.size - frame - 1, OVERLAP)
        bounds = np.searchsorted(pieces.starts, np.array(spans, dtype=np.int64).reshape(-1, 2))
        means = SpanMeans([(int(a), int(b)) for a, b in bounds], self.hidden)
        read = self.encoder.states(self.framed(PASSAGE, pieces.ids[w.start : w.end]) for w in cuts)
        for window, states in zip(cuts, read, strict=True):
            means.add(window.first, states[frame + window.first - window.start : frame + window.last - window.start])
        return means.vectors()


@cache
def reader() -> Reader:
    """The model, loaded once a process; raises ``EmbeddingFailed`` where it is not installed."""
    try:
        weights = shipped()
    except NoWeights as missing:
        raise EmbeddingFailed(str(missing)) from missing
    tokenizer, encoder = PieceTokenizer(weights), Encoder(weights)
    return Reader(tokenizer, encoder, weights.bos, weights.eos, weights.positions, weights.hidden)


@dataclass(frozen=True, slots=True)
class Plain:
    """Each passage by itself."""

    model: str = MODEL
    late: bool = False
    step: int = 16  # passages that are kept at once

    def keys(self, chapter: Chapter) -> list[str]:
        """By the passage's text alone."""
        return [key_of(MODEL, RULES, "plain", passage.text) for passage in chapter.passages]

    def vectors(self, chapter: Chapter, wanted: Sequence[int]) -> Iterator[Batch]:
        """A batch every ``step`` passages."""
        for at in range(0, len(wanted), self.step):
            some = tuple(wanted[at : at + self.step])
            yield Batch(some, reader().alone(PASSAGE, [chapter.passages[n].text for n in some]))

    def queries(self, questions: Sequence[str]) -> Floats:
        """Questions, marked as such."""
        return reader().alone(QUERY, questions)


@dataclass(frozen=True, slots=True)
class Late:
    """Each passage within its chapter; one that has no place there, or no piece of text, by itself."""

    model: str = MODEL
    late: bool = True

    def keys(self, chapter: Chapter) -> list[str]:
        """By the chapter's text and the passage's span in it."""
        text, plain = key_of(chapter.text), Plain().keys(chapter)
        return [
            alone if passage.span is None else key_of(MODEL, RULES, "late", text, *passage.span)
            for passage, alone in zip(chapter.passages, plain, strict=True)
        ]

    def vectors(self, chapter: Chapter, wanted: Sequence[int]) -> Iterator[Batch]:
        """All that the chapter gives in one batch, then those by themselves."""
        placed = {n: span for n in wanted if (span := chapter.passages[n].span) is not None}
        vectors = reader().within(chapter.text, list(placed.values())) if placed else np.zeros((0, 0), np.float32)
        read = np.flatnonzero(vectors.any(axis=1))
        numbers = [list(placed)[n] for n in read]
        yield Batch(tuple(numbers), vectors[read])
        yield from Plain().vectors(chapter, sorted(set(wanted).difference(numbers)))

    def queries(self, questions: Sequence[str]) -> Floats:
        """As for plain vectors."""
        return Plain().queries(questions)
