"""What is killed in the middle goes on where it stood."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import dagster as dg

from bookchunk_assets.assets.chapter import RECIPES
from bookchunk_tests.conftest import Shelf
from bookchunk_tests.system.served import Served, running

MANY = 40


def made(stage: str) -> Counter[str]:
    """How often each partition of a stage was made, by Dagster's records."""
    with dg.DagsterInstance.get() as instance:
        records = instance.fetch_materializations(dg.AssetKey(stage), limit=1000).records
    return Counter(str(record.partition_key) for record in records)


def started(served: Served) -> list[str]:
    return [run["runId"] for run in served.runs() if run["status"] == "STARTED"]


def test_a_backfill_whose_daemon_and_worker_are_killed_is_finished(shelf: Shelf, serve: Callable[..., Served]) -> None:
    for number in range(1, MANY + 1):
        shelf.write(number, None, *(f"Paragraph {n} of chapter {number}, with words to fill it." for n in range(120)))
    partitions = [f"tale/ch{number:02d}" for number in range(1, MANY + 1)]
    shelf.chunk()
    served = serve()
    stages = [recipe.name for recipe in RECIPES]
    written = shelf.out.read_bytes()
    first = {stage: made(stage) for stage in stages}
    backfill = served.backfill(stages, partitions)
    worker = served.until("its worker", lambda: next(filter(None, map(served.worker, started(served))), None))
    served.until("the middle of the backfill", lambda: made("parsed_chapter") - first["parsed_chapter"])
    served.kill(worker)
    assert not running(worker)
    stood = sum(sum((made(stage) - first[stage]).values()) for stage in stages)
    assert 0 < stood < MANY * len(stages), "killed in the middle"

    served.start()
    served.until("the rest of the backfill", lambda: served.backfilled(backfill))
    for stage in stages:
        again = made(stage) - first[stage]
        assert set(again) == set(partitions)
        assert set(again.values()) == {1}, f"{stage}: each chapter once, also what was made before"
    served.until("a quiet instance", served.quiet)
    assert shelf.out.read_bytes() == written
    ids = [record["id"] for record in shelf.records()]
    assert len(ids) == len(set(ids))
