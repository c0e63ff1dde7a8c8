"""multilingual-e5-small, loaded: 512 pieces at a time, ``<s> passage: … </s>``."""

from __future__ import annotations

from bookchunk_assets.embedding.e5.encoder import encoder
from bookchunk_assets.embedding.e5.tokenizer import UnigramTokenizer
from bookchunk_assets.embedding.e5.weights import shipped
from bookchunk_assets.embedding.reader import Reader

NAME = "multilingual-e5-small"


def loaded() -> Reader:
    """The model; raises ``EmbeddingFailed`` where it is not installed."""
    weights = shipped()
    return Reader(
        UnigramTokenizer(weights),
        encoder(weights),
        weights.bos,
        weights.eos,
        weights.positions,
        weights.hidden,
        passage="passage:",
        query="query:",
    )
