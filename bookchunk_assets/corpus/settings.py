"""The settings that a book's chunks are made with, once everything is resolved."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """A book's facts and resolved settings: data, never code. Sizes are cl100k tokens."""

    book_slug: str
    title: str
    authors: tuple[str, ...] = ()
    language: str = "en"
    kind: str = "book"
    target_tokens: int = 512
    overlap_tokens: int = 64
    contents_chunk: bool = False
    context: str = "extractive"
    context_model: str = "claude-haiku-4-5"
    embedding: str = "none"
    embedding_model: str | None = None
    late: str | None = None

    @property
    def hard_max(self) -> int:
        """No chunk is longer than this: ``under 600`` at a target of 512."""
        return self.target_tokens * 75 // 64 - 1
