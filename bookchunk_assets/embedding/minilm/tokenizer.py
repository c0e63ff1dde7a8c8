"""Text into BERT's WordPieces, each with the characters that it stands for.

``vocab.txt`` is the vocabulary of all-MiniLM-L6-v2 (sentence-transformers, Apache-2.0), a piece a line, in the order of
its ``tokenizer.json``: that of bert-base-uncased (Google, Apache-2.0), byte for byte.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from bookchunk_assets.embedding.pieces import Pieces

CLS, SEP = "[CLS]", "[SEP]"


class WordPieceTokenizer:
    """That of bert-base-uncased. Punctuation stands alone in it, so no text becomes one of its special tokens but
    ``[UNK]``, for a word that it cannot spell."""

    def __init__(self) -> None:
        pieces = Path(__file__).with_name("vocab.txt").read_text("utf-8").split("\n")[:-1]
        self._ids = {piece: n for n, piece in enumerate(pieces)}
        self._tokenizer = Tokenizer(models.WordPiece(self._ids, unk_token="[UNK]", max_input_chars_per_word=100))
        self._tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)  # type: ignore[assignment]
        self._tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # type: ignore[assignment]

    def number(self, piece: str) -> int:
        """The number of a piece of the vocabulary."""
        return self._ids[piece]

    def pieces(self, text: str) -> Pieces:
        """The pieces of a whole text, however long; half of a surrogate pair is read as a question mark."""
        encoded = self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False)
        starts = [start for start, _ in encoded.offsets]
        return Pieces(np.array(encoded.ids, dtype=np.int64), np.array(starts, dtype=np.int64))
