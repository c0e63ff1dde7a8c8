"""``bookchunk chunk``: every book that the targets name, one after the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import dagster as dg
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bookchunk_assets.cli.app import Status, print_json, told
from bookchunk_assets.cli.instance import open_instance
from bookchunk_assets.cli.paying import Purse
from bookchunk_assets.cli.unchanged import nothing_to_do
from bookchunk_assets.cli.work import Order, chunk
from bookchunk_assets.corpus.faults import Fault, Refused
from bookchunk_assets.corpus.settings import Choice
from bookchunk_assets.corpus.targets import Place, find_books
from bookchunk_assets.orchestration.runs import StageFailed
from bookchunk_assets.orchestration.standing import groups
from bookchunk_assets.outputs.report import Report, not_made, render, with_spend

Advance = Callable[[str, int, int], None]


def chunk_books(
    targets: Sequence[str],
    corpus: Path,
    asked: Choice,
    changed_only: bool,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    purse: Purse,
) -> int:
    """Chunk the books, print their reports, and return the highest exit status."""
    try:
        places = find_books(targets, corpus)
        if out is not None and len(places) != 1:
            raise Refused([Fault(str(out), 1, f"--out takes one book; the targets name {len(places)}")])
    except Refused as refused:
        return _refuse(refused, as_json)
    instance = open_instance()
    reports: list[Report] = []
    highest = Status.PASS
    order = Order(asked, changed_only, out, tell, purse)
    for place, known in _with_reports(instance, places, order):
        slug = place.folder.resolve().name
        with progress(slug, quiet) as advance:
            try:
                report = known or chunk(instance, place, replace(order, advance=advance))
            except Refused as refused:
                tell(str(refused))
                report = not_made(slug, Status.REFUSED, refused)
            except Exception as failed:  # the other books go on, whatever it was
                why = str(failed) if isinstance(failed, StageFailed) else told(failed)
                told_of = why if why.startswith(slug) else f"{slug}: {why}"
                tell(f"{told_of}\nwhat was made is kept; once this is mended, run the same command again")
                report = not_made(slug, Status.FAILED, failed)
                if isinstance(failed, StageFailed):
                    report = with_spend(report, failed.spent.spend, failed.spent.generated)
        reports.append(report)
        highest = max(highest, report.status)
        if not as_json and report.status in (Status.PASS, Status.FAIL):
            print(render(report))
    if as_json:
        print_json({"books": [report.summary() for report in reports]})
    elif len(places) > 1:
        print(total(reports, len(places)))
    return highest


def _with_reports(
    instance: dg.DagsterInstance, places: Sequence[Place], order: Order
) -> Iterator[tuple[Place, Report | None]]:
    """Each book, with its report where there is nothing to do."""
    for some in groups(places):
        known = nothing_to_do(instance, some, order)
        yield from ((place, known.get(place)) for place in some)


def total(reports: Sequence[Report], asked: int) -> str:
    """The line under several books' blocks."""
    chunks = sum(report.chunks["total"] for report in reports)
    passed = sum(report.verdict == "PASS" for report in reports)
    return f"\nTotal: {asked} books, {passed} PASS, {asked - passed} not, {chunks} chunks"


def tell(message: str) -> None:
    """A line for a person, beside the report."""
    print(message, file=sys.stderr)


def _refuse(refused: Refused, as_json: bool) -> int:
    tell(str(refused))
    if as_json:
        print_json({"books": []})
    return Status.REFUSED


@contextmanager
def progress(book: str, quiet: bool) -> Iterator[Advance]:
    """Bars on a terminal, a line a stage elsewhere, both on standard error."""
    console = Console(stderr=True)
    if quiet:
        yield lambda stage, done, total: None
    elif console.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as bars:
            tasks = {}

            def advance(stage: str, done: int, total: int) -> None:
                if stage not in tasks:
                    tasks[stage] = bars.add_task(f"{book} {stage}", total=total)
                bars.update(tasks[stage], completed=done, total=total)

            yield advance
    else:
        yield lambda stage, done, total: tell(f"{book}: {stage} {total}") if total and done == total else None
