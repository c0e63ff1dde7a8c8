"""Groups into chunks: the contract's ranked rules, as a pure function of groups and settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bookchunk_assets.chunking.atoms import atoms
from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.chunking.contents import contents_text
from bookchunk_assets.chunking.cuts import pieces
from bookchunk_assets.chunking.groups import Group
from bookchunk_assets.chunking.mentions import mentions
from bookchunk_assets.chunking.packing import Piece, pack
from bookchunk_assets.chunking.sizes import Sizes, trimmed
from bookchunk_assets.chunking.tokens import count
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.markdown.chapter import Note, page_in_force, source_offset

RULES = "3"


def chunk_groups(groups: Sequence[Group], settings: Settings) -> tuple[Chunk, ...]:
    """A chapter's chunks, numbered from 1 in text order, after the contents chunk, which is 0."""
    told: set[str] = set()
    listed = (group for group in groups if group.kind == "contents" and settings.contents_chunk)
    contents = (chunk for group in listed for chunk in _contents(group, settings))
    chunks = (chunk for group in groups if group.kind == "body" for chunk in _chunks(group, settings, told))
    return (*contents, *(replace(chunk, ordinal=n) for n, chunk in enumerate(chunks, 1)))


def _contents(group: Group, settings: Settings) -> Iterator[Chunk]:
    """The contents chunk. It is no slice: its span and pages are those of all that it lists."""
    language = group.chapter.language or settings.language
    if text := contents_text(group.chapter.title, group.names, language, settings.target_tokens):
        start, end = trimmed(group.text, 0, len(group.text))
        yield _body(group, Piece(text, count(text), start, end, start, (), None))


def _chunks(group: Group, settings: Settings, told: set[str]) -> Iterator[Chunk]:
    """A group's chunks; ``told`` are the footnotes of the chapter that have a chunk of their own."""
    sizes = Sizes(group, settings)
    notes = {note.label: note for note in group.notes}
    for piece in _pieces(group, sizes):
        missing = []
        for label in sizes.labels(piece.start, piece.end):
            if label in piece.notes:
                continue
            text = piece.text + sizes.endnotes([label])
            if (tokens := sizes.of(text)) <= settings.target_tokens:
                piece = replace(piece, text=text, tokens=tokens, notes=(*piece.notes, label))
            elif label not in told:
                missing.append(label)
        yield _body(group, piece)
        for label in missing:
            told.add(label)
            yield from _note_chunks(group, notes[label], settings)


def _pieces(group: Group, sizes: Sizes) -> list[Piece]:
    """Most groups are one chunk: those are not taken apart."""
    start, end = trimmed(group.text, 0, len(group.text))
    labels = sizes.labels(start, end)
    text = group.text[start:end] + sizes.endnotes(labels)
    if (tokens := sizes.of(text)) <= sizes.target:
        return [Piece(text, tokens, start, end, start, labels, None)]
    return pack(group, atoms(group, sizes), sizes)


def _body(group: Group, piece: Piece) -> Chunk:
    first, last = _less_headings(group, piece.start, piece.end)
    overlap = group.text[piece.overlap : piece.start].strip()
    return _chunk(
        group,
        kind=group.kind,
        text=piece.text,
        tokens=piece.tokens,
        pages=(page_in_force(group.pages, first), page_in_force(group.pages, last - 1)),
        span=(source_offset(group.breaks, piece.start), source_offset(group.breaks, piece.end - 1) + 1),
        overlap=count(overlap) if overlap else 0,
        footnotes=piece.notes,
        split=piece.split,
    )


def _less_headings(group: Group, start: int, end: int) -> tuple[int, int]:
    """The span from its first to its last character that is in no heading; all of it where there is none such."""
    a, b = trimmed(group.text, start, end)
    for heading in group.headings:
        if heading.start <= a < heading.end:
            a = len(group.text) - len(group.text[heading.end :].lstrip())
    for heading in reversed(group.headings):
        if heading.start < b <= heading.end:
            b = len(group.text[: heading.start].rstrip())
    return (a, b) if a < b else trimmed(group.text, start, end)


def _note_chunks(group: Group, note: Note, settings: Settings) -> Iterator[Chunk]:
    """A definition too long to stand with its reference: one chunk, or several within the target."""
    spans = [(0, len(note.text))]
    if count(note.text) > settings.hard_max:
        spans = list(_filled(note.text, settings.target_tokens))
    for a, b in spans:
        text = note.text[a:b].strip()
        at = note.start + a
        yield _chunk(
            group,
            kind="footnote",
            text=text,
            tokens=count(text),
            pages=(note.page_start, note.page_end),
            span=(at, at + len(text)),
            overlap=0,
            footnotes=(),
            split="footnote" if len(spans) > 1 else None,
        )


def _filled(text: str, target: int) -> Iterator[tuple[int, int]]:
    """Runs of words within the target."""
    start = end = 0
    for _, after in pieces(text, 0, len(text), target, count):
        if count(text[start:after].strip()) > target:
            yield start, end
            start = end
        end = after
    yield start, end


def _chunk(
    group: Group,
    *,
    kind: str,
    text: str,
    tokens: int,
    pages: tuple[int | None, int | None],
    span: tuple[int, int],
    overlap: int,
    footnotes: tuple[str, ...],
    split: str | None,
) -> Chunk:
    found = mentions(text, group.chapter)
    return Chunk(
        chapter=group.chapter,
        ordinal=0,
        kind=kind,
        section_anchor=f"#{group.anchor}",
        heading_path=group.heading_path,
        page_start=pages[0],
        page_end=pages[1],
        text=text,
        token_count=tokens,
        char_start=span[0],
        char_end=span[1],
        overlap_tokens=overlap,
        footnotes=footnotes,
        split=split,
        key_concepts=found.key_concepts,
        mentions_figures=found.figures,
        mentions_scriptures=found.scriptures,
    )
