"""Running stages over partitions, in this process, as Dagster runs that the UI lists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any
from uuid import uuid4

import dagster as dg

from bookchunk_assets.orchestration.alive import living
from bookchunk_assets.orchestration.claude import declare_key
from bookchunk_assets.orchestration.event_log import together
from bookchunk_assets.orchestration.partitions import CHAPTERS
from bookchunk_assets.orchestration.provenance import RANGE_END, RANGE_START, failure_of
from bookchunk_assets.orchestration.spending import Spent

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class StageFailed(Exception):  # noqa: N818 - says what happened
    """A run did not succeed; the message says why, ``told`` what each chapter that failed had to say, and ``spent``
    what the book's runs had cost until then."""

    def __init__(self, why: str, told: Mapping[str, Mapping[str, Any]], spent: Spent | None = None) -> None:
        self.told, self.spent = told, spent or Spent()
        super().__init__(why)

    @classmethod
    def of(cls, failures: Sequence[StageFailed], spent: Spent | None = None) -> StageFailed:
        """Several as one."""
        lines = dict.fromkeys(line for failure in failures for line in str(failure).splitlines())
        told = {name: each for failure in failures for name, each in failure.told.items()}
        return cls("\n".join(lines), told, spent)


def run_stages(
    instance: dg.DagsterInstance,
    defs: dg.Definitions,
    assets: Sequence[str],
    partitions: Sequence[str],
    kind: dg.DynamicPartitionsDefinition = CHAPTERS,
    config: Callable[[Sequence[StageFailed]], Mapping[str, Any]] = lambda failed: {},
    tags: Mapping[str, str] = MappingProxyType({}),
    heard: Callable[[str], None] = lambda asset: None,
) -> Mapping[str, float]:
    """Materialise partitions of assets, those in order within a run: one run for each range of neighbours, in Dagster's
    order of keys, with what ``config`` gives after those that failed. ``heard`` is called with each asset of which a
    partition is made. The seconds that each asset took; one range that fails holds back no other, and ``StageFailed``
    tells of all."""
    declare_key()
    failed: list[StageFailed] = []
    seconds: dict[str, float] = defaultdict(float)
    job = defs.resolve_implicit_global_asset_job_def()
    for first, last in ranges(instance.get_dynamic_partitions(str(kind.name)), partitions):
        one = first == last
        run = str(uuid4())
        instance.add_event_listener(run, partial(_hear, heard))
        with living(instance, run), together(instance):
            result = job.execute_in_process(
                run_id=run,
                instance=instance,
                asset_selection=[dg.AssetKey(asset) for asset in assets],
                partition_key=first if one else None,
                tags={**tags, **({} if one else {RANGE_START: first, RANGE_END: last})},
                run_config={**QUIET, **config(failed)},
                raise_on_error=False,
            )
        for step in result.get_step_success_events():
            seconds[str(step.step_key)] += step.step_success_data.duration_ms / 1000
        if not result.success:
            failed.append(StageFailed(*failure_of(instance, result.run_id)))
    if failed:
        raise StageFailed.of(failed)
    return seconds


def _hear(heard: Callable[[str], None], entry: dg.EventLogEntry) -> None:
    event = entry.dagster_event
    if event is not None and event.is_step_materialization and event.asset_key is not None:
        heard(event.asset_key.to_user_string())


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
