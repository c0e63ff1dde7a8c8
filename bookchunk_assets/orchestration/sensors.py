"""The watchers of the corpus: they reconcile partitions and observations with the disk, automation does the rest."""

import os
from logging import Logger
from pathlib import Path

import dagster as dg

from bookchunk_assets.corpus.faults import Refused
from bookchunk_assets.corpus.targets import books_under
from bookchunk_assets.orchestration.lock import Busy
from bookchunk_assets.orchestration.reconcile import watch

SWITCH = "BOOKCHUNK_SENSORS"
TICK = 30  # seconds
ON = os.environ.get(SWITCH) == "on"


def look(instance: dg.DagsterInstance, log: Logger) -> int:
    """Look at every book of the corpus; the number of books. What is refused is told, and holds back its book alone."""
    try:
        places = books_under(Path(os.environ.get("BOOKCHUNK_CORPUS") or "corpus"))
    except Refused as refused:
        log.error(str(refused))
        return 0
    for place in places:
        try:
            for fault in watch(instance, place).faults:
                log.warning(str(fault))
        except Busy:
            log.info(f"{place.folder}: another process works on it")
    return len(places)


@dg.sensor(
    minimum_interval_seconds=TICK,
    default_status=dg.DefaultSensorStatus.RUNNING if ON else dg.DefaultSensorStatus.STOPPED,
)
def corpus_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Sees changed, new, removed and renumbered chapters, changed manifests and new books within a tick."""
    return dg.SkipReason(f"looked at {look(context.instance, context.log)} books")


@dg.schedule(
    cron_schedule="0 3 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING if ON else dg.DefaultScheduleStatus.STOPPED,
    target=dg.AssetSelection.assets("chunks_jsonl"),  # Dagster asks for one; nothing is launched from here
)
def corpus_schedule(context: dg.ScheduleEvaluationContext) -> dg.SkipReason:
    """The same nightly, for those who want no sensor."""
    return dg.SkipReason(f"looked at {look(context.instance, context.log)} books")


automation = dg.AutomationConditionSensorDefinition(
    "automation",
    target=dg.AssetSelection.all(),
    default_status=dg.DefaultSensorStatus.RUNNING if ON else dg.DefaultSensorStatus.STOPPED,
    minimum_interval_seconds=TICK,
)
