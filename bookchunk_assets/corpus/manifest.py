"""A book's manifest, ``<book-slug>-book.json``."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Annotated, Literal

import regex
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from bookchunk_assets.corpus.faults import Fault
from bookchunk_assets.corpus.text import NoText, decode

MIN_TARGET = 64
LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
PLAIN_NAME = regex.compile(r"(?!.*\.\.)[\p{L}\p{N}][^\s\p{Cc}/\\:*?\"<>|]*")


def _language(tag: str) -> str:
    if not LANGUAGE_TAG.fullmatch(tag):
        raise PydanticCustomError("language", "write a language tag, as en or pt-BR")
    return tag


Context = Literal["auto", "extractive", "anthropic"]
Embedding = Literal["auto", "local", "voyage", "openai", "jina", "none"]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Language = Annotated[str, AfterValidator(_language)]
Names = Annotated[list[Words], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]


class _Part(BaseModel):
    """JSON that other phases own too: what is not known here is left alone, and null is silence."""

    model_config = ConfigDict(extra="ignore", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_silence(cls, data: object) -> object:
        return {k: v for k, v in data.items() if v is not None} if isinstance(data, dict) else data


class Rag(_Part):
    """What a manifest says of chunking; sizes in cl100k tokens, None where it is silent."""

    chunk_target_tokens: Annotated[int, Field(ge=MIN_TARGET)] = 512
    chunk_overlap_tokens: Annotated[int, Field(ge=0)] = 64
    contents_chunk: bool | None = None
    context: Context | None = None
    context_model: Words | None = None
    embedding: Embedding | None = None
    embedding_model: Words | None = None
    late: Literal["off", "on", "mix"] | None = None


class Manifest(_Part):
    """A book, as its manifest tells it."""

    title: Words
    slug: str
    author: Names = []
    authors: Names = []
    language: Language = "en"
    kind: Literal["book", "documents"] = "book"
    rag: Rag = Rag()

    @property
    def names(self) -> tuple[str, ...]:
        """The authors, however they were written."""
        return tuple(self.authors or self.author)


def read_manifest(file: str, data: bytes, folder: str) -> Manifest | list[Fault]:
    """The manifest of the book in the folder of that name, or every fault in it."""
    try:
        text = decode(data)
        manifest = Manifest.model_validate(json.loads(text))
    except NoText as error:
        return [Fault(file, error.line, error.what)]
    except json.JSONDecodeError as error:
        return [Fault(file, error.lineno, f"no JSON: {lowered(error.msg)}")]
    except ValidationError as error:
        return list(_faults(file, text, error))
    except (RecursionError, ValueError):
        return [Fault(file, 1, "no JSON: nested too deep, or a number of thousands of digits")]
    return list(_more_faults(file, text, manifest, folder)) or manifest


def lowered(message: str) -> str:
    """What a library says is wrong, to stand after a colon."""
    return message[0].lower() + message[1:]


def _line(text: str, key: str) -> int:
    at = re.search(rf'"{re.escape(key)}"\s*:', text)
    return text.count("\n", 0, at.start()) + 1 if at else 1


def _faults(file: str, text: str, error: ValidationError) -> Iterator[Fault]:
    for problem in error.errors():
        if not problem["loc"]:
            yield Fault(file, 1, "no JSON object; write `{...}`")
            continue
        name = ".".join(part for part in problem["loc"] if isinstance(part, str)) or "manifest"
        told = f"missing `{name}`; add it" if problem["type"] == "missing" else f"`{name}`: {lowered(problem['msg'])}"
        yield Fault(file, _line(text, name.rpartition(".")[2]), told)


def _more_faults(file: str, text: str, manifest: Manifest, folder: str) -> Iterator[Fault]:
    if not PLAIN_NAME.fullmatch(manifest.slug):
        yield Fault(
            file, _line(text, "slug"), f"`slug` {manifest.slug!r} is no plain name; give the folder's, {folder!r}"
        )
    elif manifest.slug != unicodedata.normalize("NFC", folder):
        yield Fault(file, _line(text, "slug"), f"`slug` {manifest.slug!r} is not the folder's name, {folder!r}")
    if not manifest.names and manifest.kind == "book":  # a collection may have been gathered by nobody
        yield Fault(file, 1, "missing `author` or `authors`; add one")
    target, overlap = manifest.rag.chunk_target_tokens, manifest.rag.chunk_overlap_tokens
    if overlap * 2 >= target:
        line = max(_line(text, "chunk_target_tokens"), _line(text, "chunk_overlap_tokens"))
        told = (
            f"an overlap of {overlap} tokens is not under half the target of {target}; set `rag.chunk_overlap_tokens`"
        )
        yield Fault(file, line, told)
