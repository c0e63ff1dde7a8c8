"""A book's settings, resolved: what the command says, then the manifest, then what was recorded, then the keys that
are there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bookchunk_assets.corpus.manifest import MIN_TARGET, Manifest

CONTEXT_MODEL = "claude-haiku-4-5"


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
    context_model: str = CONTEXT_MODEL
    embedding: str = "none"
    embedding_model: str | None = None
    late: str | None = None

    @property
    def hard_max(self) -> int:
        """No chunk is longer than this: ``under 600`` at a target of 512."""
        return self.target_tokens * 75 // 64 - 1


@dataclass(frozen=True, slots=True)
class Choice:
    """What a command asked for, or what was recorded of it; None where it was silent."""

    target_tokens: int | None = None
    overlap_tokens: int | None = None
    context: str | None = None
    embedding: str | None = None
    context_model: str | None = None
    embedding_model: str | None = None


def unsaid(environ: Mapping[str, str]) -> Choice:
    """What a book takes of which neither its manifest nor its record says anything: by the keys that are there."""
    return Choice(
        context="anthropic" if environ.get("ANTHROPIC_API_KEY") else "extractive",
        context_model=environ.get("BOOKCHUNK_CONTEXT_MODEL") or CONTEXT_MODEL,
        embedding="none",
    )


def resolve_settings(manifest: Manifest, override: Choice, recorded: Choice, otherwise: Choice) -> Settings:
    """The settings of a book: what was asked for, the manifest, the record, and ``otherwise``; ``auto`` is silence."""
    rag = manifest.rag
    context = _said(override.context, rag.context, recorded.context, otherwise.context) or "extractive"
    models = (override.context_model, rag.context_model, recorded.context_model, otherwise.context_model)
    return Settings(
        book_slug=manifest.slug,
        title=manifest.title,
        authors=manifest.names,
        language=manifest.language,
        kind=manifest.kind,
        target_tokens=_first(override.target_tokens, rag.chunk_target_tokens, 512),
        overlap_tokens=_first(override.overlap_tokens, rag.chunk_overlap_tokens, 64),
        contents_chunk=manifest.kind == "documents" if rag.contents_chunk is None else rag.contents_chunk,
        context=context,
        context_model=(_said(*models) if context == "anthropic" else None) or CONTEXT_MODEL,
        embedding=_said(override.embedding, rag.embedding, recorded.embedding, otherwise.embedding) or "none",
        embedding_model=_said(override.embedding_model, rag.embedding_model, recorded.embedding_model),
        late=rag.late,
    )


def size_problem(settings: Settings) -> str | None:
    """What is wrong with the sizes, if anything."""
    if settings.target_tokens < MIN_TARGET:
        return f"a target of {settings.target_tokens} tokens; the least is {MIN_TARGET}"
    if settings.overlap_tokens < 0 or settings.overlap_tokens * 2 >= settings.target_tokens:
        return (
            f"an overlap of {settings.overlap_tokens} tokens is not under half the target of {settings.target_tokens}"
        )
    return None


def _said(*values: str | None) -> str | None:
    return next((value for value in values if value not in (None, "auto")), None)


def _first(*values: int | None) -> int:
    return next(value for value in values if value is not None)
