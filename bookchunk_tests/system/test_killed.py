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


def test_a_backfill_whose_daemon_and_worker_are_killed_is_finished(shelf: Shelf, serve: Callable[..., Served]) -> None:
    for number in range(4, MANY + 1):
        shelf.write(number)
    partitions = [f"tale/ch{number:02d}" for number in range(1, MANY + 1)]
    shelf.chunk()
    served = serve()
    stages = [recipe.name for recipe in RECIPES]
    written = shelf.out.read_bytes()
    first = {stage: made(stage) for stage in stages}
    backfill = served.backfill(stages, partitions)

    def begun() -> list[str]:
        done = made("recursive_chunks") - first["recursive_chunks"]
        return [*done] if len(done) >= 3 else []

    served.until("the middle of the backfill", begun)
    (run,) = (run for run in served.runs() if run["status"] == "STARTED")
    worker = served.worker(run["runId"])
    assert worker is not None
    served.kill(worker)
    assert not running(worker)
    stood = {stage: made(stage) - first[stage] for stage in stages}
    assert 0 < len(stood["recursive_chunks"]) < MANY, "killed in the middle"

    served.start()
    served.until("the rest of the backfill", lambda: served.backfilled(backfill))
    for stage in stages:
        again = made(stage) - first[stage]
        assert set(again) == set(partitions)
        assert set(again.values()) == {1}, f"{stage}: each chapter once, also what was made before"
    served.until("a quiet instance", lambda: {r["status"] for r in served.runs()} <= {"SUCCESS", "FAILURE"})
    assert shelf.out.read_bytes() == written
    ids = [record["id"] for record in shelf.records()]
    assert len(ids) == len(set(ids)) == 2 * MANY
