"""What an embedding model is to the rest: passages of a chapter in, normalised vectors out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from bookchunk_assets.embedding.pooling import Floats, Span
from bookchunk_assets.models.failure import ModelFailed


class EmbeddingFailed(ModelFailed):
    """A model could not be had or gave no sound vectors; says what to do."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What is embedded of a chunk: its prefix and text, and the span of its own characters in the chapter's clean
    text, None where it has no place there (a contents or footnote chunk)."""

    text: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter's clean text, and its passages in order."""

    text: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """Vectors of some of a chapter's passages, by their numbers, and what they cost."""

    numbers: tuple[int, ...]
    vectors: Floats
    dollars: float = 0.0


class Embedder(Protocol):
    """One way to make vectors. ``late`` tells whether they know the text around a passage."""

    @property
    def model(self) -> str:
        """The model's name."""

    @property
    def late(self) -> bool:
        """Whether a vector is made from more than its passage."""

    def keys(self, chapter: Chapter) -> list[str]:
        """For each passage, a digest of all that its vector follows from."""

    def vectors(self, chapter: Chapter, wanted: Sequence[int]) -> Iterator[Batch]:
        """The vectors of the passages with these numbers, as they come; raises ``EmbeddingFailed``."""

    def queries(self, questions: Sequence[str]) -> Floats:
        """The vectors of questions that are asked of the passages."""
