"""A book's finished chunks into its files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.embedding.embedded import EmbeddedChunk
from bookchunk_assets.embedding.plan import plan_of
from bookchunk_assets.outputs.diff import Diff, Mark, diff, mark, read_marks
from bookchunk_assets.outputs.files import OutputPaths, write_set, write_whole
from bookchunk_assets.outputs.records import Record, record, to_lines
from bookchunk_assets.outputs.vectors import parquet_parts


@dataclass(frozen=True, slots=True)
class Published:
    """What was written: the diff against what stood there, the digests by file, and what to warn of."""

    difference: Diff
    generated: int
    digests: dict[str, str]
    warnings: tuple[str, ...]


def publish(paths: OutputPaths, settings: Settings, chapters: Iterable[Sequence[EmbeddedChunk]]) -> Published:
    """Write ``chunks.jsonl``, its diff and its vectors, holding one chapter at a time; ``chapters`` are gone through
    more than once. An old file that cannot be read is kept as ``chunks.jsonl.bad``, and the diff starts afresh."""
    old, warnings = standing(paths)
    new: list[Mark] = []

    def records() -> Iterator[Record]:
        for chapter in chapters:
            for embedded in chapter:
                each = record(settings.book_slug, settings.language, embedded.finished)
                new.append(mark(each))
                yield each

    def changes() -> Iterator[bytes]:  # asked for when the chunks are written, and ``new`` is complete
        yield diff(old, new).to_json()

    files: dict[Path, Iterable[bytes]] = {paths.chunks: to_lines(records()), paths.diff: changes()}
    plan = plan_of(settings)
    if plan is not None:
        files[paths.embeddings] = parquet_parts(settings.book_slug, plan, chapters)
    digests = write_set(files)
    difference = diff(old, new)
    if plan is None:
        paths.embeddings.unlink(missing_ok=True)
    known = {each.sha256 for each in old}
    generated = sum(each.sha256 not in known for each in new)
    return Published(difference, generated, digests, warnings)


def standing(paths: OutputPaths) -> tuple[list[Mark], tuple[str, ...]]:
    """The marks of the file that stands, and a warning where it had to be put aside."""
    try:
        return read_marks(paths.chunks), ()
    except ValueError as error:
        bad = paths.chunks.with_name(paths.chunks.name + ".bad")
        paths.chunks.replace(bad)
        return [], (f"{error}; kept as {bad}, and the diff starts afresh",)


def unchanged(paths: OutputPaths) -> Published:
    """What a run says that wrote nothing: every chunk that stands is unchanged, and the diff says so afresh."""
    marks, warnings = standing(paths)
    difference = diff(marks, marks)
    write_whole(paths.diff, [difference.to_json()])
    return Published(difference, 0, {}, warnings)
