"""A chunked book as it is retrieved from: what each chunk shows, says and is embedded as."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from bookchunk_assets.corpus.book import Book
from bookchunk_assets.corpus.text import decode
from bookchunk_assets.embedding.embedded import own_span
from bookchunk_assets.embedding.port import Chapter, Passage
from bookchunk_assets.evaluation.metrics import Extent
from bookchunk_assets.markdown.chapter import ParsedChapter
from bookchunk_assets.markdown.parse import parse_chapter
from bookchunk_assets.markdown.spans import Span
from bookchunk_assets.outputs.records import Record, chapter_stem

HEAD = 64  # characters by which a chunk's own text is found in it


@dataclass(frozen=True, slots=True)
class ChapterShelf:
    """A chapter's chunks, in order: ``plain`` and ``prefixed`` are the same chapter for the model, without and with
    the prefixes."""

    extents: tuple[Extent, ...]
    texts: tuple[str, ...]
    prefixes: tuple[str, ...]
    plain: Chapter
    prefixed: Chapter


def shelves(book: Book, records: Sequence[Record]) -> Iterator[ChapterShelf]:
    """A book's chapters as they are retrieved from; raises ``ValueError`` where the chunks are of another state."""
    found = {stem: list(own) for stem, own in groupby(records, lambda record: str(record["id"]).rpartition("-")[0])}
    for chapter in book.chapters:
        data = chapter.path.read_bytes()
        parsed = parse_chapter(data, book.manifest.kind, chapter.path.name)
        own = found.pop(chapter_stem(book.manifest.slug, parsed.facts), [])
        yield _shelf(decode(data), parsed, own)
    if found:
        raise ValueError(f"chunks of chapters that are no longer there: {', '.join(found)}; run `bookchunk chunk`")


def _shelf(source: str, parsed: ParsedChapter, records: Sequence[Record]) -> ChapterShelf:
    place = parsed.facts.slug if parsed.facts.number is None else parsed.facts.number
    facts = (record["metadata"] for record in records)
    spans = [own_span(parsed, each["kind"], each["char_start"], each["char_end"]) for each in facts]
    texts = tuple(str(record["text"]) for record in records)
    prefixes = tuple(str(record["context_prefix"]) for record in records)
    both = [f"{prefix}\n\n{text}" for prefix, text in zip(prefixes, texts, strict=True)]
    return ChapterShelf(
        tuple(Extent(place, shown(source, record)) for record in records),
        texts,
        prefixes,
        Chapter(parsed.text, tuple(map(Passage, texts, spans))),
        Chapter(parsed.text, tuple(map(Passage, both, spans))),
    )


def shown(source: str, record: Record) -> Span:
    """The span of the file that a chunk shows: its own characters and, where it stands right before them, its
    overlap. A contents chunk shows none."""
    start, end = record["metadata"]["char_start"], record["metadata"]["char_end"]
    if record["metadata"]["kind"] == "contents":
        return start, start
    before = record["text"].find(source[start : min(start + HEAD, end)])
    if (
        record["metadata"]["overlap_tokens"]
        and before > 0
        and source[start - before : start] == record["text"][:before]
    ):
        return start - before, end
    return start, end
