"""Ways to score a book's chunks against questions: words, vectors, and both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import regex

Scores = npt.NDArray[np.float32]  # a row a question, a column a chunk
WORD = regex.compile(r"\w+")
UNSPACED = regex.compile(r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Han}\p{Hiragana}\p{Katakana}]")
RANK = 60  # reciprocal rank fusion's constant, as Cormack, Clarke and Büttcher (SIGIR 2009)


def words(text: str) -> list[str]:
    """The words of a text in lower case; of scripts without spaces, each two neighbouring characters."""
    found: list[str] = []
    for word in WORD.findall(text.lower()):
        if len(word) > 2 and UNSPACED.search(word):
            found += (word[n : n + 2] for n in range(len(word) - 1))
        else:
            found.append(word)
    return found


def bm25_scores(texts: Sequence[str], questions: Sequence[str]) -> Scores:
    """Okapi BM25 (Lucene's form) of each text for each question."""
    import bm25s  # the assets' module imports this one, and nothing else needs it

    index = bm25s.BM25()
    index.index([words(text) for text in texts], show_progress=False)
    known = index.vocab_dict
    return np.stack(
        [_scores(index, [word for word in words(question) if word in known], len(texts)) for question in questions]
    )


def _scores(index: Any, asked: list[str], texts: int) -> Scores:
    return np.asarray(index.get_scores(asked) if asked else np.zeros(texts), dtype=np.float32)


def dense_scores(vectors: Scores, questions: Scores) -> Scores:
    """Cosines of normalised vectors."""
    cosines: Scores = questions @ vectors.T
    return cosines


def ranks(scores: Scores) -> npt.NDArray[np.int64]:
    """Each chunk's rank from 1; of equals the first in the book is first."""
    order = np.argsort(-scores, axis=1, kind="stable")
    out = np.empty_like(order)
    np.put_along_axis(out, order, np.arange(1, scores.shape[1] + 1)[None], axis=1)
    return out


def rank_fusion(one: Scores, other: Scores) -> Scores:
    """Reciprocal rank fusion."""
    return (1 / (RANK + ranks(one)) + 1 / (RANK + ranks(other))).astype(np.float32)


def score_fusion(one: Scores, other: Scores, share: float) -> Scores:
    """The weighted sum of scores that were brought to 0 to 1 by question; ``share`` is the first's."""
    return (share * spread(one) + (1 - share) * spread(other)).astype(np.float32)


def spread(scores: Scores) -> Scores:
    """Each row from its least to its most as 0 to 1."""
    least = scores.min(axis=1, keepdims=True)
    wide = scores.max(axis=1, keepdims=True) - least
    even: Scores = (scores - least) / np.where(wide > 0, wide, 1)
    return even
