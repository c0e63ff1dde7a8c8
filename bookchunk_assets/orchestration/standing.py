"""Books that stand as they were seen, found many at a time: a look at each by itself asks Dagster's records some dozen
questions, and reads all front matter again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import dagster as dg

from bookchunk_assets.corpus.book import chapter_files, open_manifest, read_file, version_of
from bookchunk_assets.corpus.faults import Refused
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.corpus.targets import Place
from bookchunk_assets.orchestration.bindings import Binding, bound, load_bindings
from bookchunk_assets.orchestration.partitions import CHAPTERS, chapter_partition
from bookchunk_assets.orchestration.provenance import materialized, observed
from bookchunk_assets.orchestration.reconcile import settings_version, version_of_book

GROUP = 50  # books that are looked at together: so much is held at once


@dataclass(frozen=True, slots=True)
class Standing:
    """A book whose manifest, files and settings are what was seen last; ``versions`` of its files, by partition."""

    place: Place
    slug: str
    binding: Binding
    settings: Settings
    versions: dict[str, str]

    @property
    def partitions(self) -> tuple[str, ...]:
        """The chapters' partitions, in the book's order."""
        return tuple(self.versions)


def groups(places: Sequence[Place]) -> Iterator[Sequence[Place]]:
    """Places, as many at a time as are looked at together."""
    return (places[at : at + GROUP] for at in range(0, len(places), GROUP))


def standing(instance: dg.DagsterInstance, places: Sequence[Place]) -> list[Standing]:
    """Those of the books of which a look would report nothing. All others, and those with a fault, ask for one."""
    bindings = load_bindings(instance, [place.folder.resolve().name for place in places])
    found = [each for place in places if (each := _as_bound(place, bindings.get(place.folder.resolve().name)))]
    partitions = [partition for each in found for partition in each.partitions]
    if not partitions:
        return []
    there = instance.get_existing_dynamic_partitions(str(CHAPTERS.name), partitions)
    files, settings = (observed(instance, name, partitions) for name in ("chapter_file", "chapter_settings"))
    made = materialized(instance, "chunk_embeddings", partitions)
    books = observed(instance, "book_chapters", [each.slug for each in found])

    def as_seen(book: Standing) -> bool:
        wanted = settings_version(book.settings)
        whole = version_of_book(made, book.partitions, book.settings)
        return (whole is None or (book.slug in books and books[book.slug].version == whole)) and all(
            key in there
            and (key in files and files[key].version == version)
            and (key in settings and settings[key].version == wanted)
            for key, version in book.versions.items()
        )

    return [book for book in found if as_seen(book)]


def _as_bound(place: Place, binding: Binding | None) -> Standing | None:
    """A book whose record would not change, with the versions of its files as they are now."""
    if binding is None:
        return None
    try:
        manifest, version = open_manifest(place.folder, place.root)
        files = {path.name: path for path in chapter_files(place.folder, manifest.kind, manifest.slug)}
        if bound(binding, manifest, version, place, binding.files, None) != binding:
            return None
        if not files or sorted(files) != sorted(binding.files.values()):
            return None
        root = place.root.resolve()
        versions = {
            chapter_partition(manifest.slug, key): version_of(read_file(files[name], root), manifest.kind, name)
            for key, name in binding.files.items()
        }
    except (Refused, OSError):
        return None
    return Standing(place, manifest.slug, binding, binding.settings(manifest, version), versions)
