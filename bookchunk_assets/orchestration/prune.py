"""What is kept of chapters and books that are gone, found and removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from bookchunk_assets.corpus.book import survey
from bookchunk_assets.corpus.faults import Fault
from bookchunk_assets.corpus.targets import is_book
from bookchunk_assets.orchestration.bindings import forget, load_binding
from bookchunk_assets.orchestration.home import kept_vectors, paid_home, store_of
from bookchunk_assets.orchestration.lock import book_lock, leave
from bookchunk_assets.orchestration.partitions import BOOKS, CHAPTERS, book_of, chapter_of
from bookchunk_assets.orchestration.provenance import observe

GONE = "gone"  # what is seen of a file that is no more: one that comes back has changed


@dataclass(frozen=True, slots=True)
class Gone:
    """What is gone of a book: some of its chapters, or the book with all of them (``whole``)."""

    book: str
    folder: str
    chapters: tuple[str, ...]
    whole: bool


def find_gone(instance: dg.DagsterInstance, corpus: Path) -> Iterator[Gone | Fault]:
    """What is gone of the books that are bound under a corpus. A book with faults is left alone, and they are told: a
    chapter that is refused is not gone."""
    known: dict[str, list[str]] = {}
    for partition in instance.get_dynamic_partitions(str(CHAPTERS.name)):
        known.setdefault(book_of(partition), []).append(partition)
    for book in instance.get_dynamic_partitions(str(BOOKS.name)):
        binding = load_binding(instance, book)
        if binding is None or not Path(binding.folder).is_relative_to(corpus.resolve()):
            continue
        chapters = known.get(book, [])
        if not is_book(Path(binding.folder)):
            yield Gone(book, binding.folder, tuple(chapters), whole=True)
            continue
        found = survey(Path(binding.folder), Path(binding.root))
        if found.faults or found.book is None:
            yield from found.faults
            continue
        there = {chapter.key for chapter in found.book.chapters}
        if missing := tuple(partition for partition in chapters if chapter_of(partition) not in there):
            yield Gone(book, binding.folder, missing, whole=False)


def remove(instance: dg.DagsterInstance, gone: Gone) -> None:
    """Remove the stage outputs and partitions, and of a whole book its record and what was paid for it.
    Stopped half-way, it can be run again. Raises ``Busy`` where another process works on the book."""
    store = store_of(instance)
    with book_lock(instance, gone.book, leave):
        for partition in gone.chapters:
            store.drop(partition)
            observe(instance, "chapter_file", partition, GONE)
            instance.delete_dynamic_partition(str(CHAPTERS.name), partition)
        if gone.whole:
            kept_vectors(instance, gone.book).drop()
            store.drop(gone.book)
            (paid_home(instance) / "paid" / f"{gone.book}.jsonl").unlink(missing_ok=True)
            observe(instance, "book_chapters", gone.book, GONE)
            instance.delete_dynamic_partition(str(BOOKS.name), gone.book)
            forget(instance, gone.book)
