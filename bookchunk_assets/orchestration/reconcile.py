"""What is on disk, brought into Dagster: partitions for what is there, observations for what changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import dagster as dg

from bookchunk_assets.corpus.book import Book, Survey, survey
from bookchunk_assets.corpus.faults import Fault
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.corpus.settled import Mark, being_written, marks
from bookchunk_assets.corpus.targets import Place
from bookchunk_assets.embedding.plan import plan_of
from bookchunk_assets.orchestration.bindings import Binding, bind
from bookchunk_assets.orchestration.event_log import together
from bookchunk_assets.orchestration.lock import book_lock, leave
from bookchunk_assets.orchestration.partitions import BOOKS, CHAPTERS, chapter_partition
from bookchunk_assets.orchestration.provenance import Made, materialized, observe, observed
from bookchunk_assets.outputs.canonical import canonical


@dataclass(frozen=True, slots=True)
class Reconciled:
    """A book's chapters as partitions, in the book's order."""

    book: str
    partitions: tuple[str, ...]
    settings: Settings


def settings_version(settings: Settings) -> str:
    """The version of a chapter's settings."""
    return hashlib.sha256(canonical(asdict(settings)).encode()).hexdigest()


def reconcile(instance: dg.DagsterInstance, book: Book, settings: Settings) -> Reconciled:
    """Add the partitions that are missing, and report the files and settings that are not what was seen last."""
    slug = book.manifest.slug
    partitions = tuple(chapter_partition(slug, chapter.key) for chapter in book.chapters)
    add_partitions(instance, slug, partitions)
    files = observed(instance, "chapter_file", partitions)
    known = observed(instance, "chapter_settings", partitions)
    wanted = settings_version(settings)
    with together(instance):
        for partition, chapter in zip(partitions, book.chapters, strict=True):
            if partition not in files or files[partition].version != chapter.version:
                observe(instance, "chapter_file", partition, chapter.version)
            if partition not in known or known[partition].version != wanted:
                observe(instance, "chapter_settings", partition, wanted)
    return Reconciled(slug, partitions, settings)


def add_partitions(instance: dg.DagsterInstance, book: str, partitions: Sequence[str]) -> None:
    """Make the book and its chapters known; keys that are known are left as they stand."""
    for definition, keys in ((BOOKS, [book]), (CHAPTERS, partitions)):
        name = str(definition.name)
        there = instance.get_existing_dynamic_partitions(name, keys)
        if missing := [key for key in keys if key not in there]:
            instance.add_dynamic_partitions(name, missing)


def book_version(instance: dg.DagsterInstance, partitions: Sequence[str], settings: Settings) -> str | None:
    """The digest of a book's chapters in order with the versions of their last stage, and of the settings that the
    book's files follow besides; None until each chapter has a version."""
    return version_of_book(materialized(instance, "chunk_embeddings", partitions), partitions, settings)


def version_of_book(made: Mapping[str, Made], partitions: Sequence[str], settings: Settings) -> str | None:
    """The same from what is known to be ``made``."""
    if any(partition not in made for partition in partitions):
        return None
    lines = [f"{settings.language} {plan_of(settings)}", *(f"{key} {made[key].version}" for key in partitions)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def observe_book(instance: dg.DagsterInstance, found: Reconciled) -> bool:
    """Report the book's digest if it is not what was seen last; False until every chapter is made."""
    version = book_version(instance, found.partitions, found.settings)
    if version is None:
        return False
    if changed_book(instance, found.book, version):
        observe(instance, "book_chapters", found.book, version)
    return True


def changed_book(instance: dg.DagsterInstance, book: str, version: str | None) -> bool:
    """Whether the book's digest is not what was seen last."""
    seen = observed(instance, "book_chapters", [book]).get(book)
    return seen is None or seen.version != version


def watch(instance: dg.DagsterInstance, place: Place) -> Survey:
    """Look at a book without being asked for anything: bind it, and report what changed. What is refused, or caught
    while it is written, is in the survey's faults; the sound chapters are reported all the same, the book only as a
    whole. Raises ``Busy`` where another process works on the book: that one reports what it sees."""
    with book_lock(instance, place.folder.resolve().name, leave):
        before = marks(place.folder)
        found = survey(place.folder, place.root)
        if found.book is not None:
            found = _settled(instance, found, found.book, before)
            assert found.book is not None
            binding = bind(instance, found.book, place.root, None)
            settings = binding.settings(found.book.manifest, found.book.manifest_version)
            reconciled = reconcile(instance, found.book, settings)
            if not found.faults:
                observe_book(instance, reconciled)
        return found


def _settled(instance: dg.DagsterInstance, found: Survey, book: Book, before: Mapping[Path, Mark]) -> Survey:
    """A survey without the changed chapters that were being written, each with its fault."""
    partitions = {chapter: chapter_partition(book.manifest.slug, chapter.key) for chapter in book.chapters}
    seen = observed(instance, "chapter_file", list(partitions.values()))
    changed = [
        chapter for chapter, key in partitions.items() if key not in seen or seen[key].version != chapter.version
    ]
    moving = being_written(before, [chapter.path for chapter in changed])
    told = (Fault(str(path), 1, "is still being written; left for the next look") for path in moving)
    chapters = tuple(chapter for chapter in book.chapters if chapter.path not in moving)
    return replace(found, book=replace(book, chapters=chapters), faults=tuple(sorted([*found.faults, *told])))


def look_again(instance: dg.DagsterInstance, binding: Binding) -> Survey:
    """Look at a bound book whose chapters were made: its digest is reported at once, not with the next tick."""
    return watch(instance, Place(Path(binding.folder), Path(binding.root)))
