"""A model of this machine's, loaded, and how it reads texts of any length.

A model reads so many pieces at a time. A longer text is read in overlapping windows, each framed as the model was
trained; the vector of a piece comes from the window where it stands furthest from an edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bookchunk_assets.embedding.encoder import Encoder
from bookchunk_assets.embedding.pieces import Ints, PieceTokenizer
from bookchunk_assets.embedding.pooling import Floats, Span, SpanMeans
from bookchunk_assets.embedding.windows import windows

OVERLAP = 128  # pieces that two windows share


@dataclass(frozen=True, slots=True)
class Reader:
    """What reads windows of up to ``size`` pieces, and the frame that the model was trained with: a first and a last
    piece, and what it is told before a passage and before a question, if anything."""

    tokenizer: PieceTokenizer
    encoder: Encoder
    bos: int
    eos: int
    size: int
    hidden: int
    passage: str = ""
    query: str = ""

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
        frame = len(self.framed(self.passage, np.array([], dtype=np.int64))) - 1
        cuts = windows(len(pieces.ids), self.size - frame - 1, OVERLAP)
        bounds = np.searchsorted(pieces.starts, np.array(spans, dtype=np.int64).reshape(-1, 2))
        means = SpanMeans([(int(a), int(b)) for a, b in bounds], self.hidden)
        read = self.encoder.states(self.framed(self.passage, pieces.ids[w.start : w.end]) for w in cuts)
        for window, states in zip(cuts, read, strict=True):
            means.add(window.first, states[frame + window.first - window.start : frame + window.last - window.start])
        return means.vectors()
