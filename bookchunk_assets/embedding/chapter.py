"""A chapter's vectors: what is kept is taken, the rest is made, looked at and kept as it comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bookchunk_assets.embedding.kept import Kept
from bookchunk_assets.embedding.pooling import Floats, mean_of, normalised
from bookchunk_assets.embedding.port import Batch, Chapter, Embedder, EmbeddingFailed
from bookchunk_assets.models.failure import ModelFailed


@dataclass(frozen=True, slots=True)
class Embedded:
    """A normalised vector a passage, how many of them had to be made, and what that cost."""

    vectors: Floats
    made: int
    dollars: float


def embed_chapter(ways: Sequence[Embedder], chapter: Chapter, kept: Kept) -> Embedded:
    """The mean of a chapter's vectors in these ways (one, mostly). Raises ``EmbeddingFailed``; what was made before
    that is kept."""
    done = [_one_way(way, chapter, kept) for way in ways]
    made = set[int]().union(*(numbers for _, numbers, _ in done))
    vectors = mean_of([vectors for vectors, _, _ in done])
    return Embedded(vectors, len(made), sum(dollars for _, _, dollars in done))


def _one_way(way: Embedder, chapter: Chapter, kept: Kept) -> tuple[Floats, set[int], float]:
    keys = way.keys(chapter)
    found = kept.find(dict.fromkeys(keys))
    wanted = [n for n, key in enumerate(keys) if key not in found]
    dollars, made = 0.0, set[int]()
    try:
        for batch in way.vectors(chapter, wanted) if wanted else ():
            vectors = sound(batch, way.model)
            own = [keys[n] for n in batch.numbers]
            kept.keep(own, vectors)
            found.update(zip(own, vectors, strict=True))
            dollars += batch.dollars
            made.update(batch.numbers)
    except ModelFailed as failed:
        kept_so_far = (
            f"; {len(made)} of {len(wanted)} vectors came before it and are kept, ${dollars:.4f}" if made else ""
        )
        raise EmbeddingFailed(f"{failed}{kept_so_far}", final=failed.final) from failed
    if missing := [n for n, key in enumerate(keys) if key not in found]:
        raise EmbeddingFailed(f"{way.model} gave no vector for {len(missing)} of {len(keys)} passages")
    sizes = {len(found[key]) for key in keys}
    if len(sizes) > 1:
        raise EmbeddingFailed(f"{way.model} gave vectors of {' and '.join(map(str, sorted(sizes)))} dimensions")
    return np.stack([found[key] for key in keys]) if keys else np.zeros((0, 0), np.float32), made, dollars


def sound(batch: Batch, model: str) -> Floats:
    """A batch's vectors, normalised; raises ``EmbeddingFailed`` where they are not what was asked for."""
    vectors = np.asarray(batch.vectors, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(batch.numbers):
        raise EmbeddingFailed(f"{model} gave {len(vectors)} vectors for {len(batch.numbers)} passages")
    if not np.isfinite(vectors).all():
        raise EmbeddingFailed(f"{model} gave a vector that is not finite")
    if not vectors.any(axis=1).all():
        raise EmbeddingFailed(f"{model} gave a vector of zeros")
    return normalised(vectors)
