"""Books with nothing to do, found many at a time; what is said of them is what their report said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import dagster as dg

from bookchunk_assets.assets import book as book_assets
from bookchunk_assets.assets.chapter import RECIPES
from bookchunk_assets.cli.work import Order
from bookchunk_assets.corpus.settings import Choice
from bookchunk_assets.corpus.targets import Place
from bookchunk_assets.embedding.plan import plan_of
from bookchunk_assets.orchestration.home import store_of
from bookchunk_assets.orchestration.lock import Busy, book_lock, leave
from bookchunk_assets.orchestration.partitions import book_of
from bookchunk_assets.orchestration.provenance import materialized, metadata_of, observed
from bookchunk_assets.orchestration.staleness import known_of, stale
from bookchunk_assets.orchestration.standing import Standing, standing
from bookchunk_assets.outputs.files import OutputPaths, write_whole
from bookchunk_assets.outputs.publish import unchanged
from bookchunk_assets.outputs.report import Report, as_unchanged


def nothing_to_do(instance: dg.DagsterInstance, places: Sequence[Place], order: Order) -> Mapping[Place, Report]:
    """The reports of those of the books for which the records, the files and the order ask for nothing: what is checked
    is as it was when it was checked. No lock is held but to say that nothing changed."""
    if order.asked != Choice() or not order.changed_only or order.out is not None or order.purse.refresh:
        return {}
    books = [book for book in standing(instance, places) if book.binding.override == Choice()]
    late = _late(instance, books)
    wrote = _wrote(instance, books)
    reports = {}
    for book in books:
        paths = OutputPaths.of_book(book.place.folder)
        if book.slug in late or book_assets.damaged(wrote[book.slug], paths):
            continue
        if report := _report(instance, book, paths):
            reports[book.place] = report
    return reports


def _late(instance: dg.DagsterInstance, books: Sequence[Standing]) -> set[str]:
    """The books of which something is stale by the records."""
    store, slugs = store_of(instance), [book.slug for book in books]
    partitions = [partition for book in books for partition in book.partitions]
    known = known_of(instance, RECIPES, partitions)
    late = {book_of(key) for recipe in RECIPES for key in stale(instance, store, recipe, partitions, known)}
    seen = observed(instance, "book_chapters", slugs)
    return late | set(stale(instance, None, book_assets.RECIPE, slugs, {"book_chapters": seen}))


def _wrote(instance: dg.DagsterInstance, books: Sequence[Standing]) -> dict[str, Mapping[str, str]]:
    """The digests of the files that the asset wrote, by book; the version of ``chunks_jsonl`` is its file's, and events
    are read only where there are vectors too."""
    made = materialized(instance, "chunks_jsonl", [book.slug for book in books])
    more = {book.slug for book in books if plan_of(book.settings) is not None}
    told = metadata_of(instance, "chunks_jsonl", {slug: each for slug, each in made.items() if slug in more})
    return {
        slug: told[slug].get("files") or {} if slug in more else {"chunks.jsonl": each.version}
        for slug, each in made.items()
    }


def _report(instance: dg.DagsterInstance, book: Standing, paths: OutputPaths) -> Report | None:
    """What the report that stands says, now that nothing changes; None where it told of its own run alone. Report and
    diff are written where they say otherwise."""
    try:
        stands = Report.from_json(paths.report.read_bytes())
    except (OSError, ValueError, TypeError):
        return None
    told = as_unchanged(stands)
    if replace(told, seconds=stands.seconds) == stands and stands.output == str(paths.chunks):
        return stands
    if stands.warnings:  # some were the run's, and some name paths as they were given to it
        return None
    try:
        with book_lock(instance, book.slug, leave):
            if unchanged(paths).warnings:
                return None
            told = replace(told, output=str(paths.chunks))
            write_whole(paths.report, [told.to_json()])
            return told
    except Busy:
        return None
