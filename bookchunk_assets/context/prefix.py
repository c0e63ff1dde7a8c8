"""A chunk with the prefix that situates it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from bookchunk_assets.chunking.chunk import Chunk


@dataclass(frozen=True, slots=True)
class Prefix:
    """One line of 50 to 150 cl100k tokens, and who wrote it: a model's name, or ``extractive``."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class PrefixedChunk:
    """A finished chunk: what ``chunks.jsonl`` holds of it, less the book's slug."""

    chunk: Chunk
    prefix: Prefix

    @property
    def embedded_text(self) -> str:
        """What is hashed and embedded: prefix, blank line, text."""
        return f"{self.prefix.text}\n\n{self.chunk.text}"

    @property
    def sha256(self) -> str:
        """Hex digest of ``embedded_text``."""
        return hashlib.sha256(self.embedded_text.encode()).hexdigest()
