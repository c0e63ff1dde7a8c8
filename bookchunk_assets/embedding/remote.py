"""What all providers' vectors have in common: which texts go together, under which keys they are kept, their cost."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bookchunk_assets.embedding.keys import key_of
from bookchunk_assets.embedding.packing import packed
from bookchunk_assets.embedding.plan import ModelFacts
from bookchunk_assets.embedding.pooling import Floats
from bookchunk_assets.embedding.port import Batch, Chapter, EmbeddingFailed


@dataclass(frozen=True, slots=True)
class Answer:
    """A vector a text, in the order of the texts, and the tokens that the provider counted."""

    vectors: Floats
    tokens: int


Send = Callable[[Sequence[str], bool], Answer]  # one request; the flag tells questions from passages
Count = Callable[[Sequence[str]], Sequence[int]]  # tokens, never fewer than the provider counts


@dataclass(frozen=True, slots=True)
class Remote:
    """A provider's model. Where it is ``late``, the passages' own characters are sent together, in order, as many as
    it reads at once; a passage that has no place in the chapter is sent by itself."""

    provider: str
    model: str
    facts: ModelFacts
    late: bool
    send: Send
    count: Count

    def keys(self, chapter: Chapter) -> list[str]:
        """By the text, or by all the texts that are sent together."""
        texts = self._texts(chapter)
        if not self.late:
            return [key_of(self.provider, self.model, "plain", text) for text in texts]
        keys = [""] * len(texts)
        for group in self._together(chapter, texts):
            whole = key_of(*(texts[n] for n in group))
            for place, n in enumerate(group):
                keys[n] = key_of(self.provider, self.model, "late", whole, place)
        return keys

    def vectors(self, chapter: Chapter, wanted: Sequence[int]) -> Iterator[Batch]:
        """A batch a request."""
        texts = self._texts(chapter)
        for numbers in self._requests(chapter, texts, wanted):
            answer = self.send([texts[n] for n in numbers], False)
            if len(answer.vectors) != len(numbers):
                raise EmbeddingFailed(f"{self.model} gave {len(answer.vectors)} vectors for {len(numbers)} texts")
            expected = self.facts.dimensions
            if expected is not None and answer.vectors.shape[1] != expected:
                raise EmbeddingFailed(f"{self.model} gave {answer.vectors.shape[1]} dimensions, not {expected}")
            yield Batch(tuple(numbers), answer.vectors, answer.tokens * (self.facts.dollars or 0.0) / 1e6)

    def queries(self, questions: Sequence[str]) -> Floats:
        """The questions, as many a request as it takes; each by itself where the model is late."""
        most = 1 if self.late else self.facts.inputs
        runs = packed(self.count(questions), most, self.facts.tokens)
        return np.concatenate([self.send([questions[n] for n in run], True).vectors for run in runs])

    def _texts(self, chapter: Chapter) -> list[str]:
        if not self.late:
            return [passage.text for passage in chapter.passages]
        return [p.text if p.span is None else chapter.text[p.span[0] : p.span[1]] for p in chapter.passages]

    def _requests(self, chapter: Chapter, texts: Sequence[str], wanted: Sequence[int]) -> list[list[int]]:
        if self.late:
            missing = set(wanted)
            groups = [group for group in self._together(chapter, texts) if missing.intersection(group)]
        else:
            sizes = self.count([texts[n] for n in wanted])
            groups = [[wanted[n] for n in run] for run in packed(sizes, self.facts.inputs, self.facts.tokens)]
        self._refuse_long([texts[n] for group in groups for n in group])
        return groups

    def _together(self, chapter: Chapter, texts: Sequence[str]) -> list[list[int]]:
        placed = [n for n, passage in enumerate(chapter.passages) if passage.span is not None]
        sizes = self.count([texts[n] for n in placed])
        runs = packed(sizes, self.facts.inputs, self.facts.input_tokens)
        alone = [[n] for n, passage in enumerate(chapter.passages) if passage.span is None]
        return [[placed[n] for n in run] for run in runs] + alone

    def _refuse_long(self, texts: Sequence[str]) -> None:
        """Nothing is cut silently."""
        longest, most = max(self.count(texts), default=0), self.facts.input_tokens
        if longest > most:
            told = f"a passage of up to {longest} tokens, and {self.model} reads {most}"
            raise EmbeddingFailed(f"{told}; lower rag.chunk_target_tokens")


def key_from(name: str, provider: str) -> str:
    """An API key from the environment; raises ``EmbeddingFailed`` where there is none."""
    if key := os.environ.get(name):
        return key
    told = "set it, or switch the book by `--embedding local`"
    raise EmbeddingFailed(f"{name} is not set, and vectors of {provider} are missing: {told}", final=True)


def not_installed(package: str, extra: str) -> EmbeddingFailed:
    """What to say where a provider's package is missing."""
    return EmbeddingFailed(f"the package {package} is not installed: pip install 'bookchunk[{extra}]'")
