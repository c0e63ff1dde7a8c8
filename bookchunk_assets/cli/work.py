"""A command's work on one book: look, reconcile, run what is stale, publish, report."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import dagster as dg

from bookchunk_assets.assets import book as book_assets
from bookchunk_assets.assets.chapter import RECIPES
from bookchunk_assets.corpus.book import Book, Survey, survey
from bookchunk_assets.corpus.faults import Fault, Refused
from bookchunk_assets.corpus.settings import Choice, Settings, size_problem
from bookchunk_assets.corpus.targets import Place
from bookchunk_assets.definitions import defs
from bookchunk_assets.orchestration.bindings import NOTHING, Binding, bind, keep, load_binding
from bookchunk_assets.orchestration.home import home_of, store_of
from bookchunk_assets.orchestration.lock import book_lock
from bookchunk_assets.orchestration.partitions import BOOKS, CHAPTERS
from bookchunk_assets.orchestration.reconcile import Reconciled, observe_book, reconcile
from bookchunk_assets.orchestration.runs import run_stage
from bookchunk_assets.orchestration.staleness import stale
from bookchunk_assets.outputs.files import OutputPaths, write_whole
from bookchunk_assets.outputs.publish import Published, publish, unchanged
from bookchunk_assets.outputs.report import Report

Tell = Callable[[str], None]
BATCH = 100  # chapters a run: what a killed command or a watcher of its progress waits for at most


@dataclass(frozen=True, slots=True)
class Order:
    """What a ``chunk`` command asks for."""

    asked: Choice
    changed_only: bool
    out: Path | None
    tell: Tell
    advance: Callable[[str, int, int], None] = field(default=lambda stage, done, total: None)


def checked(place: Place) -> tuple[Survey, Book]:
    """A book that can be taken; raises ``Refused`` with all that is wrong with it."""
    found = survey(place.folder, place.root)
    if found.book is None or found.faults:
        raise Refused(found.faults)
    return found, found.book


def chunk(instance: dg.DagsterInstance, place: Place, order: Order) -> Report:
    """Chunk one book. Raises ``Refused`` before anything is written, and ``StageFailed`` where a run failed."""
    found, book = checked(place)
    slug = book.manifest.slug
    before = load_binding(instance, slug)
    _refuse_sizes(book, before, order.asked)
    with book_lock(home_of(instance), slug, lambda: order.tell(f"{slug}: another process works on it; waiting")):
        found, book = checked(place)
        binding = bind(instance, book, place.root, order.asked)
        settings = binding.settings(book.manifest, book.manifest_version)
        if before and before.override != Choice() and order.asked == Choice():
            order.tell(f"{slug}: back to the manifest's settings")
        try:
            reconciled = reconcile(instance, book, settings)
            seconds = _run_stages(instance, reconciled, order)
        finally:
            if order.out is not None:  # what was asked for a file elsewhere is not the book's to keep
                keep(instance, slug, before or replace(binding, recorded=NOTHING, override=NOTHING))
        observe_book(instance, reconciled)
        started = time.perf_counter()
        paths, published = _publish(instance, book, settings, reconciled, order)
        report = book_assets.reported(found, book, settings, paths, published)
        report = report.timed(seconds | {"chunks_jsonl": round(time.perf_counter() - started, 3)})
        write_whole(paths.report, [report.to_json()])
        return report


def _refuse_sizes(book: Book, known: Binding | None, asked: Choice) -> None:
    binding = Binding("", "", book.manifest_version, {}, known.recorded if known else Choice(), asked)
    settings = binding.settings(book.manifest, book.manifest_version)
    manifest = str(book.folder / f"{book.manifest.slug}-book.json")
    if problem := size_problem(settings):
        raise Refused([Fault(manifest, 1, problem)])
    if settings.context != "extractive" or settings.embedding != "none":
        told = (
            f"context {settings.context}, embedding {settings.embedding}: this version makes extractive and none only"
        )
        raise Refused([Fault(manifest, 1, told)])


def _run_stages(instance: dg.DagsterInstance, found: Reconciled, order: Order) -> dict[str, float]:
    """Run each stage where it is stale, one stage after the other, so that an output that comes out the same stops the
    wave; the seconds that each took."""
    store, seconds = store_of(instance), {}
    for recipe in RECIPES:
        name = recipe.name
        started = time.perf_counter()
        todo = list(stale(instance, store, recipe, found.partitions)) if order.changed_only else list(found.partitions)
        for at in range(0, len(todo), BATCH):
            order.advance(name, at, len(todo))
            run_stage(instance, defs, name, todo[at : at + BATCH], CHAPTERS)
        order.advance(name, len(todo), len(todo))
        seconds[name] = round(time.perf_counter() - started, 3)
    return seconds


def _publish(
    instance: dg.DagsterInstance, book: Book, settings: Settings, found: Reconciled, order: Order
) -> tuple[OutputPaths, Published]:
    """The book's files, written by the asset where its record or the files themselves ask for it; ``--out`` writes
    beside, and leaves the book's own files and record alone."""
    store = store_of(instance)
    if order.out is not None:
        paths = OutputPaths.beside(order.out)
        return paths, publish(paths, settings, book_assets.finished_chapters(store, book))
    paths = OutputPaths.of_book(book.folder)
    why = stale(instance, None, book_assets.RECIPE, [found.book]).get(found.book)
    why = why or book_assets.damaged(instance, found.book, paths)
    if why is None and order.changed_only:
        return paths, unchanged(paths)
    run_stage(instance, defs, "chunks_jsonl", [found.book], BOOKS)
    return paths, book_assets.last_published(instance, found.book, paths)


@dataclass(frozen=True, slots=True)
class Stale:
    """A partition of a stage that would run, and why."""

    partition: str
    stage: str
    cause: str


def status(instance: dg.DagsterInstance, place: Place) -> list[Stale]:
    """What is stale or missing for a book, without running or recording anything."""
    _, book = checked(place)
    known = load_binding(instance, book.manifest.slug)
    binding = known or Binding("", "", book.manifest_version)
    settings = binding.settings(book.manifest, book.manifest_version)
    return [Stale(*each) for each in book_assets.pending(instance, book, settings)]
