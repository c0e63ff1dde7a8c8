"""A chapter's stage as a Dagster asset: what is the same for every one of them.

A run over one chapter or many works through them one by one: read, make, keep, and say so at once. So a killed run
loses only what it had not said, and a chapter that fails holds back no other. Dagster's own event has one data version
for all the partitions of a run (dagster-io/dagster#34013): it is left out, and each chapter's says its own.

Automation asks for all that may follow from a change in one run; there each stage makes only what is stale by then, so
an output that comes out the same stops the wave. A run that takes over from one that died leaves what that one made.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import dagster as dg

from bookchunk_assets.corpus.book import open_manifest, version_of
from bookchunk_assets.corpus.faults import Refused
from bookchunk_assets.corpus.manifest import Manifest
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.corpus.text import NoText
from bookchunk_assets.orchestration.automation import WITH_INPUTS
from bookchunk_assets.orchestration.bindings import Binding, load_binding
from bookchunk_assets.orchestration.due import due
from bookchunk_assets.orchestration.home import home_of, store_of
from bookchunk_assets.orchestration.lock import book_lock
from bookchunk_assets.orchestration.partitions import CHAPTERS, book_of, chapter_of
from bookchunk_assets.orchestration.provenance import UNSAID, Made, materialization, observe, observed
from bookchunk_assets.orchestration.reconcile import settings_version
from bookchunk_assets.orchestration.shown import shown
from bookchunk_assets.orchestration.staleness import Recipe, versions
from bookchunk_assets.orchestration.store import StageStore

T = TypeVar("T")
OWNERS = ["team:book-chunk"]  # as Dagster names who is to be asked


@dataclass(slots=True)
class OpenBook:
    """A bound book, its manifest read."""

    binding: Binding
    manifest: Manifest
    manifest_version: str


@dataclass(slots=True)
class ChapterAtWork:
    """What a stage may read of the chapter that it works on. Reading the file or the settings notes what was read: if
    it is not what was observed, it is observed first. A stage may leave ``metadata`` for the UI."""

    instance: dg.DagsterInstance
    store: StageStore
    partition: str
    book: OpenBook
    inputs: dict[str, Made]
    metadata: dict[str, Any] = field(default_factory=dict)

    def file(self) -> tuple[bytes, Path]:
        """The chapter's bytes, and where they stand."""
        path = self.book.binding.path(chapter_of(self.partition))
        data = path.read_bytes()
        self._saw("chapter_file", version_of(data, self.book.manifest.kind, path.name))
        return data, path

    def settings(self) -> Settings:
        """The book's settings as of now."""
        settings = self.book.binding.settings(self.book.manifest, self.book.manifest_version)
        self._saw("chapter_settings", settings_version(settings))
        return settings

    def read(self, stage: str, row: type[T]) -> list[T]:
        """What an earlier stage made of this chapter."""
        return self.store.read(stage, self.partition, row)

    def _saw(self, asset: str, version: str) -> None:
        if asset not in self.inputs or self.inputs[asset].version != version:
            observe(self.instance, asset, self.partition, version)
            self.inputs[asset] = observed(self.instance, asset, [self.partition])[self.partition]


Make = Callable[[ChapterAtWork], Sequence[Any]]
After = Callable[[dg.DagsterInstance, Binding], object]


def chapter_stage(
    *,
    inputs: Sequence[str],
    code_version: str,
    row: type,
    kinds: set[str],
    pool: str | None = None,
    after: After | None = None,
) -> Callable[[Make], dg.AssetsDefinition]:
    """Make an asset of a function that turns a chapter at work into rows of the dataclass ``row``. Runs that are in one
    ``pool`` are limited by the instance; ``after`` is called when a book's chapters are done."""

    def decorate(make: Make) -> dg.AssetsDefinition:
        recipe = Recipe(make.__name__, code_version, tuple(inputs))

        @dg.asset(
            name=recipe.name,
            description=make.__doc__,
            partitions_def=CHAPTERS,
            deps=list(inputs),
            code_version=code_version,
            group_name="chapter",
            kinds=kinds,
            owners=OWNERS,
            pool=pool,
            backfill_policy=dg.BackfillPolicy.single_run(),
            automation_condition=WITH_INPUTS,
        )
        def stage(context: dg.AssetExecutionContext) -> Iterator[Any]:
            failed: list[str] = []
            yield UNSAID
            for slug, partitions in groupby(context.partition_keys, book_of):
                with book_lock(home_of(context.instance), slug):
                    wanted = due(context.instance, context.run, recipe, list(partitions))
                    for chapter in _at_work(context.instance, recipe, slug, wanted):
                        try:
                            event = _event(recipe, make, row, chapter)
                        except dg.Failure as failure:
                            failed.append(str(failure.description))
                        else:
                            yield event
                    if after is not None:
                        after(context.instance, open_book(context.instance, slug).binding)
            if failed:
                raise dg.Failure("\n".join(failed))

        return stage

    return decorate


def _at_work(
    instance: dg.DagsterInstance, recipe: Recipe, slug: str, partitions: Sequence[str]
) -> Iterator[ChapterAtWork]:
    """A book's chapters, each with the versions of its inputs as they are before its work."""
    book, store = open_book(instance, slug), store_of(instance)
    known = versions(instance, recipe.inputs, partitions)
    for partition in partitions:
        inputs = {name: made[partition] for name, made in known.items() if partition in made}
        yield ChapterAtWork(instance, store, partition, book, inputs)


def _event(recipe: Recipe, make: Make, row: type, chapter: ChapterAtWork) -> dg.AssetMaterialization:
    """Do one chapter's work, keep it, and say what it is."""
    started = time.perf_counter()
    try:
        rows = make(chapter)
    except (NoText, Refused, OSError, KeyError) as error:
        raise dg.Failure(f"{chapter.partition}: {recipe.name}: {error}") from error
    version = chapter.store.write(recipe.name, chapter.partition, rows, row)
    metadata = {
        "rows": len(rows),
        "seconds": round(time.perf_counter() - started, 4),
        **shown(rows),
        **chapter.metadata,
    }
    return materialization(recipe.name, chapter.partition, version, recipe.code_version, chapter.inputs, metadata)


def open_book(instance: dg.DagsterInstance, slug: str) -> OpenBook:
    """A bound book; fails where it is not bound, or its manifest is refused."""
    binding = load_binding(instance, slug)
    if binding is None:
        raise dg.Failure(f"{slug}: no folder is known for this book; run `bookchunk chunk` on it once")
    try:
        manifest, version = open_manifest(Path(binding.folder), Path(binding.root))
    except Refused as refused:
        raise dg.Failure(str(refused)) from refused
    return OpenBook(binding, manifest, version)
