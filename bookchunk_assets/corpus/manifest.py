"""A book's manifest, ``<book-slug>-book.json``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bookchunk_assets.corpus.faults import Fault
from bookchunk_assets.corpus.text import NoText, decode

MIN_TARGET = 64
PLAIN_NAME = re.compile(r"[^\W_][^\s/\\:*?\"<>|\x00-\x1f]*")

Context = Literal["auto", "extractive", "anthropic"]
Embedding = Literal["auto", "local", "voyage", "openai", "jina", "none"]


class Rag(BaseModel):
    """What a manifest says of chunking; None where it is silent."""

    model_config = ConfigDict(extra="ignore", strict=True)

    chunk_target_tokens: Annotated[int, Field(ge=MIN_TARGET)] | None = None
    chunk_overlap_tokens: Annotated[int, Field(ge=0)] | None = None
    contents_chunk: bool | None = None
    context: Context | None = None
    context_model: Annotated[str, Field(min_length=1)] | None = None
    embedding: Embedding | None = None
    embedding_model: Annotated[str, Field(min_length=1)] | None = None
    late: Literal["off", "on", "mix"] | None = None


class Manifest(BaseModel):
    """A book. Other phases own this file too: keys that are not known here are left alone."""

    model_config = ConfigDict(extra="ignore", strict=True)

    title: Annotated[str, Field(pattern=r"\S")]
    slug: str
    author: str | list[str] | None = None
    authors: list[str] | str | None = None
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$")] = "en"
    kind: Literal["book", "documents"] = "book"
    rag: Rag = Rag()

    @model_validator(mode="before")
    @classmethod
    def _null_is_silence(cls, data: object) -> object:
        return {k: v for k, v in data.items() if v is not None} if isinstance(data, dict) else data

    @property
    def names(self) -> tuple[str, ...]:
        """The authors, however they were written."""
        given = self.authors or self.author or []
        return (given,) if isinstance(given, str) else tuple(given)


def read_manifest(file: str, data: bytes, folder: str) -> Manifest | list[Fault]:
    """The manifest of the book in the folder of that name, or every fault in it."""
    try:
        text = decode(data)
        parsed = json.loads(text)
        manifest = Manifest.model_validate(parsed)
    except NoText as error:
        return [Fault(file, error.line, error.what)]
    except json.JSONDecodeError as error:
        return [Fault(file, error.lineno, f"no JSON: {error.msg.lower()}")]
    except RecursionError:
        return [Fault(file, 1, "no JSON: nested too deep")]
    except ValidationError as error:
        return list(_faults(file, text, error))
    return list(_more_faults(file, text, manifest, folder)) or manifest


def _line(text: str, key: str) -> int:
    at = text.find(f'"{key}"')
    return text.count("\n", 0, at) + 1 if at >= 0 else 1


def _faults(file: str, text: str, error: ValidationError) -> Iterator[Fault]:
    for problem in error.errors():
        where = [str(part) for part in problem["loc"] if isinstance(part, str)]
        name = ".".join(where[:2]) if where and where[0] == "rag" else (where or ["manifest"])[0]
        told = f"missing `{name}`; add it" if problem["type"] == "missing" else f"`{name}`: {problem['msg'].lower()}"
        yield Fault(file, _line(text, name.split(".")[-1]), told)


def _more_faults(file: str, text: str, manifest: Manifest, folder: str) -> Iterator[Fault]:
    if not PLAIN_NAME.fullmatch(manifest.slug):
        yield Fault(file, _line(text, "slug"), f"`slug` {manifest.slug!r} is no plain name")
    elif manifest.slug != folder:
        yield Fault(file, _line(text, "slug"), f"`slug` {manifest.slug!r} is not the folder's name, {folder!r}")
    if not manifest.names:
        yield Fault(file, 1, "missing `author` or `authors`; add one")
