"""A chapter's stage as a Dagster asset: what is the same for every one of them.

A run over one chapter or many works through them one by one: read, make, keep, and say so at once. So a killed run
loses only what it had not said, and a chapter that fails holds back no other. Dagster's own event has one data version
for all the partitions of a run (dagster-io/dagster#34013): it is left out, and each chapter's says its own.

Automation asks for all that may follow from a change in one run; there each stage makes only what is stale by then, so
an output that comes out the same stops the wave. A run that takes over from one that died leaves what that one made.
"""

import time
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import dagster as dg

from bookchunk_assets.corpus.book import open_manifest, version_of
from bookchunk_assets.corpus.faults import Refused
from bookchunk_assets.corpus.manifest import Manifest
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.corpus.text import NoText
from bookchunk_assets.embedding.kept import Kept
from bookchunk_assets.models.failure import ModelFailed
from bookchunk_assets.orchestration.automation import WITH_INPUTS
from bookchunk_assets.orchestration.bindings import Binding, load_binding
from bookchunk_assets.orchestration.due import due
from bookchunk_assets.orchestration.home import kept_vectors, store_of
from bookchunk_assets.orchestration.lock import book_lock
from bookchunk_assets.orchestration.partitions import CHAPTERS, book_of, chapter_of
from bookchunk_assets.orchestration.provenance import FAILED, UNSAID, Made, materialization, observe, observed
from bookchunk_assets.orchestration.reconcile import settings_version
from bookchunk_assets.orchestration.shown import shown
from bookchunk_assets.orchestration.staleness import Recipe, versions
from bookchunk_assets.orchestration.store import StageStore

T = TypeVar("T")
OWNERS = ["team:book-chunk"]  # as Dagster names who is to be asked
MOST = 100  # chapters a run: what one that dies holds up, and what is spread over workers; a start costs seconds


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

    def kept_vectors(self) -> Kept:
        """The book's vectors that were made before."""
        return kept_vectors(self.instance, book_of(self.partition))

    def _saw(self, asset: str, version: str) -> None:
        if asset not in self.inputs or self.inputs[asset].version != version:
            observe(self.instance, asset, self.partition, version)
            self.inputs[asset] = observed(self.instance, asset, [self.partition])[self.partition]


@dataclass(slots=True)
class BookAtWork:
    """What a stage may read that takes a book's chapters together: the chapters as they come, and what the run brings,
    its options and resources."""

    instance: dg.DagsterInstance
    store: StageStore
    slug: str
    chapters: Iterator[ChapterAtWork]
    options: Any
    resources: Any


Rows = Callable[[], Sequence[Any]]  # gives a chapter's rows, or raises why there are none
Make = Callable[[ChapterAtWork], Sequence[Any]]
After = Callable[[dg.DagsterInstance, Binding], object]
MakeAll = Callable[[BookAtWork], Iterator[tuple[ChapterAtWork, Rows]]]


def chapter_stage(
    *,
    inputs: Sequence[str],
    code_version: str,
    row: type,
    kinds: set[str],
    pool: str | None = None,
    after: After | None = None,
) -> Callable[[Make], dg.AssetsDefinition]:
    """Make an asset of a function that turns a chapter at work into rows of the dataclass ``row``; the rest as for
    ``book_stage``."""

    def decorate(make: Make) -> dg.AssetsDefinition:
        def one_by_one(book: BookAtWork) -> Iterator[tuple[ChapterAtWork, Rows]]:
            return ((chapter, partial(make, chapter)) for chapter in book.chapters)

        one_by_one.__name__, one_by_one.__doc__ = make.__name__, make.__doc__
        asset = book_stage(inputs=inputs, code_version=code_version, row=row, kinds=kinds, pool=pool, after=after)
        return asset(one_by_one)

    return decorate


def book_stage(
    *,
    inputs: Sequence[str],
    code_version: str,
    row: type,
    kinds: set[str],
    options: type[dg.Config] | None = None,
    resources: Set[str] = frozenset(),
    pool: str | None = None,
    after: After | None = None,
) -> Callable[[MakeAll], dg.AssetsDefinition]:
    """Make an asset of a function that takes a book's chapters together and gives each as it is done; ``options`` are
    a run's, ``resources`` what it needs by name. Runs that are in one ``pool`` are limited by the instance; ``after``
    is called when a book's chapters are done."""

    def decorate(make: MakeAll) -> dg.AssetsDefinition:
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
            backfill_policy=dg.BackfillPolicy.multi_run(MOST),
            automation_condition=WITH_INPUTS,
            config_schema=options.to_config_schema() if options else None,  # type: ignore[arg-type]
            required_resource_keys=set(resources),
        )
        def stage(context: dg.AssetExecutionContext) -> Iterator[Any]:
            failed: dict[str, dict[str, Any]] = {}
            instance = context.instance
            asked = options(**context.op_execution_context.op_config) if options else None
            yield UNSAID
            for slug, partitions in groupby(context.partition_keys, book_of):
                with book_lock(instance, slug):
                    chapters = _at_work(instance, context.run, recipe, slug, list(partitions), asked)
                    book = BookAtWork(instance, store_of(instance), slug, chapters, asked, context.resources)
                    for chapter, rows in make(book):
                        try:
                            event = _event(recipe, rows, row, chapter)
                        except dg.Failure as failure:
                            failed.setdefault(str(failure.description), {})[chapter.partition] = chapter.metadata
                        else:
                            yield event
                    if after is not None:
                        after(instance, open_book(instance, slug).binding)
            if failed:
                lost = {partition: told for each in failed.values() for partition, told in each.items()}
                raise dg.Failure("\n".join(failed), metadata={FAILED: dg.MetadataValue.json(lost)})

        return stage

    return decorate


def _at_work(
    instance: dg.DagsterInstance, run: dg.DagsterRun, recipe: Recipe, slug: str, partitions: Sequence[str], asked: Any
) -> Iterator[ChapterAtWork]:
    """A book's chapters that the run has to make, each with the versions of its inputs as they are before its work."""
    book, store = open_book(instance, slug), store_of(instance)
    known = versions(instance, recipe.inputs, partitions)
    anew = bool(getattr(asked, "refresh", False))
    for partition in due(instance, run, recipe, partitions, known, anew):
        inputs = {name: made[partition] for name, made in known.items() if partition in made}
        yield ChapterAtWork(instance, store, partition, book, inputs)


def _event(recipe: Recipe, make: Rows, row: type, chapter: ChapterAtWork) -> dg.AssetMaterialization:
    """Do one chapter's work, keep it, and say what it is. What stopped the run is told once, for its book."""
    started = time.perf_counter()
    try:
        rows = make()
    except (NoText, Refused, OSError, KeyError, ModelFailed) as error:
        whole = isinstance(error, ModelFailed) and error.final
        where = book_of(chapter.partition) if whole else chapter.partition
        raise dg.Failure(f"{where}: {recipe.name}: {error}") from error
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
