"""Readable cases: an input, its settings, and the chunks that it must give. Add yours to fixtures/chunks.yaml, those of
kind ``documents`` to fixtures/documents.yaml."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.chunking.chunker import chunk_groups
from bookchunk_assets.chunking.contents import listed_names
from bookchunk_assets.chunking.groups import section_groups
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.markdown.parse import parse_chapter

FIXTURES = Path(__file__).parent / "fixtures"
BOOK: list[dict[str, Any]] = yaml.safe_load((FIXTURES / "chunks.yaml").read_text("utf-8"))
DOCUMENTS: list[dict[str, Any]] = yaml.safe_load((FIXTURES / "documents.yaml").read_text("utf-8"))
FRONT = "---\ntitle: The Title\nchapter: 1\n---\n"


def chunk_text(case: dict[str, Any]) -> tuple[Chunk, ...]:
    parsed = parse_chapter((FRONT + case["input"]).encode(), "book", "b-ch01.md")
    settings = Settings("b", "B", target_tokens=case.get("target", 64), overlap_tokens=case.get("overlap", 0))
    settings = replace(settings, contents_chunk=case.get("contents_chunk", False))
    return chunk_groups(section_groups(parsed), settings)


def chunk_document(case: dict[str, Any]) -> tuple[Chunk, ...]:
    parsed = parse_chapter(case["input"].encode(), "documents", case.get("file", "doc.md"))
    settings = Settings("b", "B", kind="documents", language=case.get("language", "en"), overlap_tokens=0)
    settings = replace(settings, target_tokens=case.get("target", 512), contents_chunk=case.get("contents_chunk", True))
    return chunk_groups(section_groups(parsed), settings)


@pytest.mark.parametrize("case", BOOK, ids=lambda case: case["name"])
def test_chunks(case: dict[str, Any]) -> None:
    compare(chunk_text(case), case)


@pytest.mark.parametrize("case", DOCUMENTS, ids=lambda case: case["name"])
def test_documents(case: dict[str, Any]) -> None:
    compare(chunk_document(case), case)


def compare(chunks: tuple[Chunk, ...], case: dict[str, Any]) -> None:
    if "chunks" in case:
        assert [chunk.text for chunk in chunks] == [text.rstrip("\n") for text in case["chunks"]]
    if "contents" in case:
        listed = [name for chunk in chunks if chunk.kind == "contents" for name in listed_names(chunk.text)]
        assert listed == case["contents"]
    for field in ("heading_path", "section_anchor", "split", "kind", "footnotes", "pages", "ordinal"):
        if field in case:
            assert [told(chunk, field) for chunk in chunks] == case[field]


def told(chunk: Chunk, field: str) -> Any:
    if field == "pages":
        return [chunk.page_start, chunk.page_end]
    value = getattr(chunk, field)
    return list(value) if isinstance(value, tuple) else value
