"""What holds for every chapter, target and overlap: the laws that the tests put to corpora and to generated text."""

from __future__ import annotations

from collections.abc import Sequence

from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin

from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.chunking.chunker import chunk_groups
from bookchunk_assets.chunking.contents import listed_names
from bookchunk_assets.chunking.groups import Group, section_groups
from bookchunk_assets.chunking.tokens import count
from bookchunk_assets.context.prefix import Prefix, PrefixedChunk
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.corpus.text import decode
from bookchunk_assets.markdown.chapter import ParsedChapter
from bookchunk_assets.markdown.parse import parse_chapter
from bookchunk_assets.markdown.spans import clean_offset
from bookchunk_assets.markdown.structure import KINDS, parse_structure
from bookchunk_assets.outputs.checks import run_checks
from bookchunk_assets.outputs.records import record

WHOLE = ("code", "blockquote", "table", "html", "footnote")
PLAIN = MarkdownIt("commonmark").enable("table").use(footnote_plugin, move_to_end=False)
PREFIX = Prefix("word " * 60 + "end.", "extractive")


def squeeze(text: str) -> str:
    return "".join(text.split())


def chunked(
    data: bytes, settings: Settings, name: str = "a.md"
) -> tuple[ParsedChapter, tuple[Group, ...], tuple[Chunk, ...]]:
    parsed = parse_chapter(data, settings.kind, name)
    groups = section_groups(parsed)
    return parsed, groups, chunk_groups(groups, settings)


def hold(data: bytes, settings: Settings, name: str = "a.md") -> None:
    """Assert every law for one file."""
    parsed, groups, chunks = chunked(data, settings, name)
    assert chunked(data, settings, name)[2] == chunks, "same input, other chunks"
    records = [record(settings.book_slug, settings.language, PrefixedChunk(chunk, PREFIX)) for chunk in chunks]
    for result in run_checks(settings, [(parsed, groups)], records, vectors=False):
        assert result.passed or result.warns, (result.name, result.faults)
    bodies = [chunk for chunk in chunks if chunk.kind == "body"]
    nothing_told_twice(decode(data), bodies)
    spans = [
        (clean_offset(parsed.breaks, c.char_start), clean_offset(parsed.breaks, c.char_end - 1) + 1) for c in bodies
    ]
    no_block_cut(parsed, groups, spans, settings)
    within_target(parsed, bodies, spans, settings)
    overlaps(parsed, bodies, spans, settings)
    groups_whole(groups, bodies, settings)
    contents(groups, chunks, settings)


def nothing_told_twice(source: str, chunks: Sequence[Chunk]) -> None:
    for chunk in chunks:
        assert 0 <= chunk.char_start < chunk.char_end <= len(source)
        assert not source[chunk.char_start].isspace() or source[chunk.char_start] in " \t"
    for before, after in zip(chunks, chunks[1:], strict=False):
        assert before.char_end <= after.char_start


def no_block_cut(
    parsed: ParsedChapter, groups: Sequence[Group], spans: Sequence[tuple[int, int]], settings: Settings
) -> None:
    edges = sorted({edge for span in spans for edge in span})
    for block in parsed.blocks:
        if block.kind not in WHOLE or count(parsed.text[block.start : block.end].strip()) > settings.hard_max:
            continue
        if any(block.start < group.start < block.end for group in groups):
            continue  # a question within a block parts it
        for edge in edges:
            if block.start < edge < block.end:
                before, after = parsed.text[block.start : edge], parsed.text[edge : block.end]
                inside = squeeze(before).strip("->*+0123456789.)") and squeeze(after).strip(">")
                assert not inside, f"{block.kind} cut: {before[-40:]!r} | {after[:40]!r}"


def within_target(
    parsed: ParsedChapter, chunks: Sequence[Chunk], spans: Sequence[tuple[int, int]], settings: Settings
) -> None:
    for chunk, (start, end) in zip(chunks, spans, strict=True):
        if chunk.token_count <= settings.target_tokens:
            continue
        headed = any(start <= heading.start < end for heading in parsed.headings)
        filled = any(
            (
                block.kind in WHOLE
                and block.start <= end
                and block.end >= start
                and not squeeze(parsed.text[start : block.start])
            )
            or (block.kind in WHOLE and block.start <= start < block.end)
            for block in parsed.blocks
        )
        assert headed or filled, f"{chunk.token_count} tokens: {chunk.text[:80]!r}"
        assert not chunk.overlap_tokens


def overlaps(
    parsed: ParsedChapter, chunks: Sequence[Chunk], spans: Sequence[tuple[int, int]], settings: Settings
) -> None:
    for before, after, span in zip(chunks, chunks[1:], spans, strict=False):
        assert after.overlap_tokens <= settings.overlap_tokens
        if after.overlap_tokens:
            assert before.section_anchor == after.section_anchor
            own = parsed.text[slice(*span)]
            repeated = [own[-n:] for n in range(1, len(own) + 1) if after.text.startswith(own[-n:])]
            assert any(count(each) == after.overlap_tokens for each in repeated), "not the end of the chunk before"


def hold_structure(text: str) -> None:
    """Assert that the quick parse finds the blocks and headings of a plain one by markdown-it-py alone."""
    quick = parse_structure(text, 0, (), plain_text=False)
    tokens = PLAIN.parse(text)
    last = text.count("\n") + 1
    expected = [(KINDS[t.type], t.map[0], min(t.map[1], last), t.level) for t in tokens if t.map and t.type in KINDS]
    found = [(b.kind, text.count("\n", 0, b.start), _lines(text[: b.end]), b.depth) for b in quick.blocks]
    assert found == expected
    headings = [
        (int(t.tag[1]), tokens[n + 1].content) for n, t in enumerate(tokens) if t.type == "heading_open" and not t.level
    ]
    assert [(h.level, h.content.split()) for h in quick.headings] == [(n, text.split()) for n, text in headings]


def _lines(text: str) -> int:
    return len(text.removesuffix("\n").split("\n"))


def groups_whole(groups: Sequence[Group], chunks: Sequence[Chunk], settings: Settings) -> None:
    """A group that fits is one chunk, so a question and its answer are; chunks come group by group."""
    bodies = [group for group in groups if group.kind == "body"]
    anchors = [group.anchor for group in bodies]
    assert len(set(anchors)) == len(anchors), "an anchor twice"
    assert list(dict.fromkeys(chunk.section_anchor for chunk in chunks)) == [f"#{anchor}" for anchor in anchors]
    for group in bodies:
        mine = [chunk for chunk in chunks if chunk.section_anchor == f"#{group.anchor}"]
        assert {chunk.heading_path for chunk in mine} == {group.heading_path}
        notes = "".join(f"\n\n{note.text}" for note in group.notes)
        if count(group.text.rstrip() + notes) <= settings.target_tokens:
            assert len(mine) == 1, f"{group.heading_path} fits, and is {len(mine)} chunks"


def contents(groups: Sequence[Group], chunks: Sequence[Chunk], settings: Settings) -> None:
    """At most one contents chunk, the first, within the target, of names that its file has; ordinals from 1 after it."""
    found = [chunk for chunk in chunks if chunk.kind == "contents"]
    assert [chunk.ordinal for chunk in chunks] == [*([0] if found else []), *range(1, len(chunks) - len(found) + 1)]
    assert found == list(chunks[: len(found)])
    if found:
        assert settings.contents_chunk
        names = listed_names(found[0].text)
        assert found[0].token_count <= settings.target_tokens
        assert 1 <= len(names) <= 150
        assert names == groups[0].names[: len(names)] or settings.target_tokens < 300
        assert all(0 < len(name) <= 80 for name in names)
