"""A record of ``chunks.jsonl`` as a strict model: keys, their order and their types."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=0)]


class Metadata(BaseModel):
    """A record's ``metadata``."""

    model_config = ConfigDict(strict=True, extra="forbid")

    language: Annotated[str, Field(min_length=1)]
    key_concepts: list[str]
    is_preview: bool
    mentions_figures: list[str]
    mentions_scriptures: list[str]
    kind: Literal["body", "contents", "footnote"]
    char_start: Count
    char_end: Count
    overlap_tokens: Count
    footnotes: list[str]
    split: Literal["paragraph", "list", "code", "blockquote", "table", "html", "footnote"] | None
    prefix_source: Annotated[str, Field(min_length=1)]


class RecordModel(BaseModel):
    """A record."""

    model_config = ConfigDict(strict=True, extra="forbid")

    id: Annotated[str, Field(min_length=1)]
    book_slug: Annotated[str, Field(min_length=1)]
    chapter: Annotated[int, Field(ge=1)] | None
    chapter_slug: str
    section_anchor: Annotated[str, Field(pattern=r"^#.")]
    page_start: int | None
    page_end: int | None
    heading_path: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
    text: Annotated[str, Field(min_length=1)]
    context_prefix: Annotated[str, Field(min_length=1)]
    token_count: Annotated[int, Field(ge=1)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    metadata: Metadata


KEYS = tuple(RecordModel.model_fields)
METADATA_KEYS = tuple(Metadata.model_fields)
