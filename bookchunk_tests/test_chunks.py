"""Readable cases: an input, its settings, and the chunks that it must give. Add yours to fixtures/chunks.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.chunking.chunker import chunk_groups
from bookchunk_assets.chunking.groups import section_groups
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.markdown.parse import parse_chapter

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "fixtures" / "chunks.yaml").read_text("utf-8"))
FRONT = "---\ntitle: The Title\nchapter: 1\n---\n"


def chunk_text(text: str, target: int = 64, overlap: int = 0) -> tuple[str, tuple[Chunk, ...]]:
    source = FRONT + text
    parsed = parse_chapter(source.encode(), "book", "b-ch01.md")
    settings = Settings("b", "B", target_tokens=target, overlap_tokens=overlap)
    return source, chunk_groups(section_groups(parsed), settings)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_chunks(case: dict[str, Any]) -> None:
    _, chunks = chunk_text(case["input"], case.get("target", 64), case.get("overlap", 0))
    assert [chunk.text for chunk in chunks] == [text.rstrip("\n") for text in case["chunks"]]
    for field in ("heading_path", "section_anchor", "split", "kind", "footnotes", "pages"):
        if field in case:
            assert [told(chunk, field) for chunk in chunks] == case[field]


def told(chunk: Chunk, field: str) -> Any:
    if field == "pages":
        return [chunk.page_start, chunk.page_end]
    value = getattr(chunk, field)
    return list(value) if isinstance(value, tuple) else value
