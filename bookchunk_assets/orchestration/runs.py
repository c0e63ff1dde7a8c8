"""Running a stage over partitions, in this process, as Dagster runs that the UI lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import uuid4

import dagster as dg

from bookchunk_assets.orchestration.alive import living
from bookchunk_assets.orchestration.home import home_of
from bookchunk_assets.orchestration.partitions import CHAPTERS
from bookchunk_assets.orchestration.provenance import RANGE_END, RANGE_START, failure_of

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class StageFailed(Exception):  # noqa: N818 - says what happened
    """A run did not succeed; the message says why."""


def run_stage(
    instance: dg.DagsterInstance,
    defs: dg.Definitions,
    asset: str,
    partitions: Sequence[str],
    kind: dg.DynamicPartitionsDefinition = CHAPTERS,
) -> None:
    """Materialise an asset's partitions: one run for each range of neighbours, in Dagster's order of keys."""
    job = defs.resolve_implicit_global_asset_job_def()
    for first, last in ranges(instance.get_dynamic_partitions(str(kind.name)), partitions):
        one = first == last
        run = str(uuid4())
        with living(home_of(instance), run):
            result = job.execute_in_process(
                run_id=run,
                instance=instance,
                asset_selection=[dg.AssetKey(asset)],
                partition_key=first if one else None,
                tags={} if one else {RANGE_START: first, RANGE_END: last},
                run_config=QUIET,
                raise_on_error=False,
            )
        if not result.success:
            raise StageFailed(failure_of(instance, result.run_id))


def ranges(order: Sequence[str], wanted: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The wanted keys as runs of neighbours in ``order``, each by its ends."""
    chosen = set(wanted)
    start = end = None
    for key in [*order, None]:
        if key in chosen:
            start, end = start or key, key
        elif start and end:
            yield start, end
            start = end = None
