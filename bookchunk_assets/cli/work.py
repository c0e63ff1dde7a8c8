"""A command's work on one book: look, reconcile, run what is stale, publish, report."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg

from bookchunk_assets.assets import book as book_assets
from bookchunk_assets.assets.chapter import RECIPES
from bookchunk_assets.cli.paying import STAGE as PAID_STAGE
from bookchunk_assets.cli.paying import BookPurse, Purse
from bookchunk_assets.corpus.book import Book, Survey, survey
from bookchunk_assets.corpus.faults import Fault, Refused
from bookchunk_assets.corpus.settings import Choice, Settings, size_problem
from bookchunk_assets.corpus.targets import Place
from bookchunk_assets.definitions import defs
from bookchunk_assets.embedding.plan import plan_of
from bookchunk_assets.orchestration.bindings import Binding, bind, keep, load_binding
from bookchunk_assets.orchestration.claude import preload
from bookchunk_assets.orchestration.due import ONLY_STALE
from bookchunk_assets.orchestration.home import lend, store_of
from bookchunk_assets.orchestration.lock import book_lock
from bookchunk_assets.orchestration.partitions import BOOKS, CHAPTERS
from bookchunk_assets.orchestration.provenance import newest_event
from bookchunk_assets.orchestration.reconcile import Reconciled, observe_book, reconcile
from bookchunk_assets.orchestration.runs import StageFailed, run_stages
from bookchunk_assets.orchestration.spending import Spent
from bookchunk_assets.orchestration.staleness import known_of, stale
from bookchunk_assets.outputs.diff import read_marks
from bookchunk_assets.outputs.files import OutputPaths, write_whole
from bookchunk_assets.outputs.publish import publish, unchanged
from bookchunk_assets.outputs.report import Report, with_spend

Tell = Callable[[str], None]
RECORDED = {  # what is remembered of who made a stage
    "context_prefixes": ("context", "context_model"),
    "chunk_embeddings": ("embedding", "embedding_model"),
}
BATCH = 100  # chapters a run: what a killed command or a watcher of its progress waits for at most


@dataclass(frozen=True, slots=True)
class Order:
    """What a ``chunk`` command asks for."""

    asked: Choice
    changed_only: bool
    out: Path | None
    tell: Tell
    purse: Purse = field(default_factory=Purse)
    advance: Callable[[str, int, int], None] = field(default=lambda stage, done, total: None)


def checked(place: Place) -> tuple[Survey, Book]:
    """A book that can be taken; raises ``Refused`` with all that is wrong with it."""
    found = survey(place.folder, place.root)
    if found.book is None or found.faults:
        raise Refused(found.faults)
    return found, found.book


def chunk(instance: dg.DagsterInstance, place: Place, order: Order) -> Report:
    """Chunk one book. Raises ``Refused`` before anything is written, and ``StageFailed`` where a run failed. ``--out``
    works on an instance of its own, so that its settings touch nothing that the book's own files are made from."""
    slug = place.folder.resolve().name
    if order.out is not None:
        _refuse_out(order.out)
    with book_lock(instance, slug, lambda: order.tell(f"{slug}: another process works on it; waiting")):
        if order.out is None:
            return _chunk(instance, slug, place, order, OutputPaths.of_book(place.folder))
        with tempfile.TemporaryDirectory() as home, dg.DagsterInstance.ephemeral(home) as aside:
            lend(instance, aside)
            if known := load_binding(instance, slug):
                keep(aside, slug, known)
            return _chunk(aside, slug, place, order, OutputPaths.beside(order.out))


def _chunk(instance: dg.DagsterInstance, slug: str, place: Place, order: Order, paths: OutputPaths) -> Report:
    found, book = checked(place)
    before = load_binding(instance, slug)
    _refuse_settings(book, before, order.asked)
    binding = bind(instance, book, place.root, order.asked)
    settings = binding.settings(book.manifest, book.manifest_version)
    if before and order.asked == Choice() and before.settings(book.manifest, book.manifest_version) != settings:
        order.tell(f"{slug}: back to the manifest's settings")
    reconciled = reconcile(instance, book, settings)
    newest = {stage: newest_event(instance, stage) for stage in RECORDED}
    try:
        seconds, spent = _run_stages(instance, reconciled, order)
    except StageFailed:
        idle = [stage for stage, event in newest.items() if newest_event(instance, stage) == event]
        _take_back(instance, slug, binding, before.recorded if before else Choice(), idle)
        raise
    observe_book(instance, reconciled)
    started = time.perf_counter()
    report = _publish(instance, found, reconciled, paths, order, spent)
    seconds["chunks_jsonl"] = round(time.perf_counter() - started, 3)
    report = replace(report, output=str(paths.chunks), seconds=seconds)
    write_whole(paths.report, [report.to_json()])
    return report


def _take_back(instance: dg.DagsterInstance, slug: str, binding: Binding, had: Choice, idle: Sequence[str]) -> None:
    """Let a book go on with what it ``had``, where a stage was ``idle``: nothing was made with what was asked for."""
    back = {name: getattr(had, name) for stage in idle for name in RECORDED[stage]}
    keep(instance, slug, replace(binding, recorded=replace(binding.recorded, **back)))


def _refuse_out(out: Path) -> None:
    """``--out`` replaces nothing but chunks."""
    fault = None
    if out.is_dir():
        fault = "a folder; name a file in it, as chunks.jsonl"
    else:
        try:
            read_marks(out)
        except ValueError:
            fault = "stands there already and is no chunks.jsonl; name another file"
    if fault:
        raise Refused([Fault(str(out), 1, fault)])


def _refuse_settings(book: Book, known: Binding | None, asked: Choice) -> None:
    binding = Binding("", "", book.manifest_version, {}, known.recorded if known else Choice(), asked)
    settings = binding.settings(book.manifest, book.manifest_version)
    manifest = str(book.folder / f"{book.manifest.slug}-book.json")
    if problem := size_problem(settings):
        raise Refused([Fault(manifest, 1, problem)])
    try:
        plan_of(settings)
    except ValueError as error:
        raise Refused([Fault(manifest, 1, str(error))]) from None


def _run_stages(instance: dg.DagsterInstance, found: Reconciled, order: Order) -> tuple[dict[str, float], Spent]:
    """Run what is stale and all that may follow from it, where each stage makes what is stale when its turn comes: an
    output that comes out the same stops the wave. The seconds that each stage took, and what was spent."""
    purse = BookPurse(instance, found.partitions, order.purse)
    names = [recipe.name for recipe in RECIPES]
    todo, first = _todo(instance, found, order)
    if first == 0 and todo and found.settings.context == "anthropic":
        preload()
    seconds = dict.fromkeys(names, 0.0)
    made: Counter[str] = Counter()
    failed: list[StageFailed] = []

    def heard(name: str) -> None:
        made[name] += 1
        order.advance(name, made[name] if made[name] < len(todo) else 0, len(todo))

    try:
        for at in range(0, len(todo), BATCH):
            some, config = todo[at : at + BATCH], partial(_config, purse, names[first:], failed)
            tags = {ONLY_STALE: "true"} if order.changed_only else {}
            try:
                for name, took in run_stages(
                    instance, defs, names[first:], some, CHAPTERS, config, tags, heard
                ).items():
                    seconds[name] += took
            except StageFailed as failure:
                failed.append(failure)
        for name in names:
            order.advance(name, made[name], made[name])
    finally:
        spent = purse.close(failed)
    if failed:
        raise StageFailed.of(failed, spent)
    return {name: round(each, 3) for name, each in seconds.items()}, spent


def _todo(instance: dg.DagsterInstance, found: Reconciled, order: Order) -> tuple[list[str], int]:
    """The chapters that a run has to take, in order, and the first stage that it has to look at."""
    if not order.changed_only:
        return list(found.partitions), 0
    store, known = store_of(instance), known_of(instance, RECIPES, found.partitions)
    wanted: set[str] = set()
    first = len(RECIPES)
    for at, recipe in enumerate(RECIPES):
        anew = recipe.name == PAID_STAGE and order.purse.refresh
        if late := found.partitions if anew else list(stale(instance, store, recipe, found.partitions, known)):
            first = min(first, at)
            wanted.update(late)
    return [partition for partition in found.partitions if partition in wanted], first


def _config(
    purse: BookPurse, stages: Sequence[str], before: Sequence[StageFailed], now: Sequence[StageFailed]
) -> Mapping[str, Any]:
    """A run's configuration."""
    return purse.config([*before, *now]) if PAID_STAGE in stages else {}


def _publish(
    instance: dg.DagsterInstance,
    found: Survey,
    reconciled: Reconciled,
    paths: OutputPaths,
    order: Order,
    spent: Spent,
) -> Report:
    """Write the book's files: the asset does where its record or the files themselves ask for it; ``--out`` writes
    beside, and leaves the book's own files and record alone."""
    slug, settings = reconciled.book, reconciled.settings
    book = book_assets.sound(found)
    if order.out is not None:
        finished = book_assets.FinishedChapters(store_of(instance), book)
        published = publish(paths, settings, finished)
        vectors = book_assets.vectors_made(instance, settings, finished.partitions, after=0)
        return book_assets.reported(found, book, settings, paths, published, spent, vectors)
    why = stale(instance, None, book_assets.RECIPE, [slug]).get(slug) or book_assets.damaged(
        book_assets.written(instance, slug), paths
    )
    if why is None and order.changed_only:
        vectors = book_assets.vectors_made(instance, settings, (), after=0)
        return book_assets.reported(found, book, settings, paths, unchanged(paths), spent, vectors)
    run_stages(instance, defs, ["chunks_jsonl"], [slug], BOOKS)
    report = Report.from_json(paths.report.read_bytes())
    return report if settings.context == "extractive" else with_spend(report, spent.spend, spent.generated)


@dataclass(frozen=True, slots=True)
class Stale:
    """A partition of a stage that would run, and why."""

    partition: str
    stage: str
    cause: str


def status(instance: dg.DagsterInstance, place: Place) -> list[Stale]:
    """What is stale or missing for a book, without running or recording anything."""
    _, book = checked(place)
    return [Stale(*each) for each in book_assets.pending(instance, book, settings_of(instance, book))]


def goes_back(instance: dg.DagsterInstance, place: Place) -> bool:
    """Whether the settings of the last command hold for a book, which a plain one will leave."""
    _, book = checked(place)
    known = load_binding(instance, book.manifest.slug)
    if known is None:
        return False
    plain = replace(known, override=Choice())
    return plain.settings(book.manifest, book.manifest_version) != settings_of(instance, book)


def settings_of(instance: dg.DagsterInstance, book: Book) -> Settings:
    """The settings that hold for a book, known to the instance or not."""
    binding = load_binding(instance, book.manifest.slug) or Binding("", "", book.manifest_version)
    return binding.settings(book.manifest, book.manifest_version)
