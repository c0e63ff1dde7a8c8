"""Vectors that were made once, by their keys: so that none is made, or paid for, twice.

One small file a vector, under a folder or any fsspec URL: several machines may share it, a run that is killed loses
nothing, and whatever is deleted is made again when it is asked for.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from upath import UPath

from bookchunk_assets.corpus.whole import write_object
from bookchunk_assets.embedding.pooling import Floats


class Kept(Protocol):
    """Vectors by key."""

    def find(self, keys: Iterable[str]) -> dict[str, Floats]:
        """Those of the keys that are there."""

    def keep(self, keys: Sequence[str], vectors: Floats) -> None:
        """Remember a vector a key."""


class KeptVectors:
    """Vectors in ``.npy`` files."""

    def __init__(self, base: UPath) -> None:
        self._base = base

    def find(self, keys: Iterable[str]) -> dict[str, Floats]:
        """Those that can be read; a damaged file is no vector."""
        found = {}
        for key in keys:
            try:
                found[key] = np.load(io.BytesIO(self._path(key).read_bytes()), allow_pickle=False)
            except (OSError, ValueError, EOFError):
                continue
        return found

    def keep(self, keys: Sequence[str], vectors: Floats) -> None:
        """Write each, whole or not at all."""
        for key, vector in zip(keys, vectors, strict=True):
            buffer = io.BytesIO()
            np.save(buffer, vector, allow_pickle=False)
            write_object(self._path(key), buffer.getvalue())

    def drop(self) -> None:
        """Forget them all."""
        if self._base.exists():
            self._base.fs.rm(self._base.path, recursive=True)

    def _path(self, key: str) -> UPath:
        return self._base.joinpath(key[:2], f"{key}.npy")
