"""Text into XLM-RoBERTa's pieces, each with the characters that it stands for."""

from __future__ import annotations

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers

from bookchunk_assets.embedding.e5.weights import Weights
from bookchunk_assets.embedding.pieces import Pieces

SPACE = 0x20


class UnigramTokenizer:
    """XLM-RoBERTa's."""

    def __init__(self, weights: Weights) -> None:
        special = {weights.bos, 1, weights.eos, weights.unknown, len(weights.pieces) - 1}
        pieces = [(f"\0{n}" if n in special else piece, score) for n, (piece, score) in enumerate(weights.pieces)]
        self._tokenizer = Tokenizer(models.Unigram(pieces, unk_id=weights.unknown, byte_fallback=False))
        self._tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()  # type: ignore[assignment]
        self._normal = dict(weights.normal)
        self._sizes = np.ones(0x110000, dtype=np.int8)
        for point, text in weights.normal.items():
            self._sizes[point] = len(text)

    def pieces(self, text: str) -> Pieces:
        """The pieces of a whole text, however long."""
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        source = np.repeat(np.arange(len(points)), self._sizes[points])
        normal = np.frombuffer(text.translate(self._normal).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        blank = normal == SPACE
        stays = ~(blank & np.concatenate([[False], blank[:-1]])) if len(blank) else blank
        source, blank = source[stays], blank[stays]
        encoded = self._tokenizer.encode(
            normal[stays].tobytes().decode("utf-32-le", "replace"), add_special_tokens=False
        )
        spans = np.array(encoded.offsets, dtype=np.int64).reshape(-1, 2)
        inside = np.where(spans[:, 0] < len(blank), spans[:, 0], 0)
        starts = spans[:, 0] + (blank[inside] & (spans[:, 1] - spans[:, 0] > 1) if len(blank) else 0)
        return Pieces(np.array(encoded.ids, dtype=np.int64), source[starts] if len(source) else starts)
