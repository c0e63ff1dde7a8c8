"""The lines of ``chunks.jsonl``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.context.prefix import PrefixedChunk
from bookchunk_assets.markdown.chapter import ChapterFacts

RULES = "1"
Record = dict[str, Any]
# JSON allows these inside strings; readers that split on lines do not.
LINE_END = re.compile("[\x85\u2028\u2029]")


def chapter_stem(book: str, facts: ChapterFacts) -> str:
    """What the ids of a chapter's chunks start with."""
    return f"{book}-{facts.slug}" if facts.number is None else f"{book}-ch{facts.number:02d}"


def chunk_id(book: str, chunk: Chunk) -> str:
    """A chunk's id."""
    return f"{chapter_stem(book, chunk.chapter)}-{chunk.ordinal:04d}"


def record(book: str, language: str, finished: PrefixedChunk) -> Record:
    """One chunk as the contract lists it, keys in its order; ``language`` holds where the chapter names none."""
    chunk = finished.chunk
    facts = chunk.chapter
    return {
        "id": chunk_id(book, chunk),
        "book_slug": book,
        "chapter": facts.number,
        "chapter_slug": facts.slug,
        "section_anchor": chunk.section_anchor,
        "page_start": chunk.page_start,
        "page_end": chunk.page_end,
        "heading_path": list(chunk.heading_path),
        "text": chunk.text,
        "context_prefix": finished.prefix.text,
        "token_count": chunk.token_count,
        "sha256": finished.sha256,
        "metadata": {
            "language": facts.language or language,
            "key_concepts": list(chunk.key_concepts),
            "is_preview": facts.is_preview,
            "mentions_figures": list(chunk.mentions_figures),
            "mentions_scriptures": list(chunk.mentions_scriptures),
            "kind": chunk.kind,
            "char_start": chunk.char_start,
            "char_end": chunk.char_end,
            "overlap_tokens": chunk.overlap_tokens,
            "footnotes": list(chunk.footnotes),
            "split": chunk.split,
            "prefix_source": finished.prefix.source,
        },
    }


def to_lines(records: Iterable[Record]) -> Iterator[bytes]:
    """One JSON object a line, UTF-8."""
    for each in records:
        line = json.dumps(each, ensure_ascii=False)
        yield LINE_END.sub(lambda end: f"\\u{ord(end[0]):04x}", line).encode() + b"\n"


def read_records(path: Path) -> Iterator[Record]:
    """The records of a file; raises ``ValueError`` on one that is no ``chunks.jsonl``, and ``OSError``."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{path}:{number}: no JSON") from error
            if not isinstance(value, dict):
                raise ValueError(f"{path}:{number}: no record")
            yield value
