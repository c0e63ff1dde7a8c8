"""The watchers of the corpus: they reconcile partitions and observations with the disk, automation does the rest."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from bookchunk_assets.corpus.faults import Refused
from bookchunk_assets.corpus.targets import Place, books_under
from bookchunk_assets.orchestration.lock import Busy
from bookchunk_assets.orchestration.reconcile import watch
from bookchunk_assets.orchestration.standing import groups, standing

SWITCH = "BOOKCHUNK_SENSORS"
TICK = 30  # seconds
BUDGET = 20.0  # seconds of a tick; Dagster gives up after a minute
SOON = 5  # seconds between two looks of automation: with nothing new, one costs milliseconds a thousand chapters
TOLD = 20  # lines of faults in a tick's reason; its log has them all
ON = os.environ.get(SWITCH) == "on"


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look at the corpus came to: the books seen of all, a line for each fault, and where the next look goes on
    (empty: at the start)."""

    seen: int
    books: int
    told: tuple[str, ...]
    cursor: str = ""

    def __str__(self) -> str:
        head = f"looked at {self.seen} of {self.books} books"
        more = [f"and {len(self.told) - TOLD} more; see the log"] if len(self.told) > TOLD else []
        return "\n".join([head, *self.told[:TOLD], *more])


def look(instance: dg.DagsterInstance, after: str = "", budget: float = float("inf")) -> Looked:
    """Look at the books of the corpus, from the one ``after`` that folder on and round, for as long as ``budget``
    seconds allow. What is refused is told, and holds back its book alone."""
    until = time.monotonic() + budget
    try:
        places = books_under(Path(os.environ.get("BOOKCHUNK_CORPUS") or "corpus"))
    except Refused as refused:
        return Looked(0, 0, tuple(map(str, refused.faults)))
    ahead = [place for place in places if str(place.folder) > after]
    order = [*ahead, *places[: len(places) - len(ahead)]]
    told: list[str] = []
    for seen, (place, stands) in enumerate(_with_those_that_stand(instance, order), 1):
        try:
            told += () if stands else map(str, watch(instance, place).faults)
        except Busy:
            told.append(f"{place.folder}: another process works on it")
        except OSError as error:  # a book that goes away while it is looked at holds back no other
            told.append(f"{place.folder}: {error}")
        if time.monotonic() >= until and seen < len(order):
            return Looked(seen, len(places), tuple(told), str(place.folder))
    return Looked(len(order), len(places), tuple(told))


def _with_those_that_stand(instance: dg.DagsterInstance, places: Sequence[Place]) -> Iterator[tuple[Place, bool]]:
    for some in groups(places):
        stand = {book.place for book in standing(instance, some)}
        yield from ((place, place in stand) for place in some)


@dg.sensor(
    minimum_interval_seconds=TICK,
    default_status=dg.DefaultSensorStatus.RUNNING if ON else dg.DefaultSensorStatus.STOPPED,
    description="Sees changed, new, removed and renumbered chapters, changed manifests and new books within a tick.",
)
def corpus_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Where one tick is too short for the corpus, the next goes on."""
    looked = look(context.instance, context.cursor or "", BUDGET)
    for line in looked.told:
        context.log.warning(line)
    context.update_cursor(looked.cursor)
    return dg.SkipReason(str(looked))


@dg.schedule(
    cron_schedule="0 3 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING if ON else dg.DefaultScheduleStatus.STOPPED,
    target=dg.AssetSelection.assets("chunks_jsonl"),  # Dagster asks for one; nothing is launched from here
    description="The same nightly, for those who want no sensor.",
)
def corpus_schedule(context: dg.ScheduleEvaluationContext) -> dg.SkipReason:
    """The whole corpus in one look."""
    looked = look(context.instance)
    for line in looked.told:
        context.log.warning(line)
    return dg.SkipReason(str(looked))


automation = dg.AutomationConditionSensorDefinition(
    "automation",
    target=dg.AssetSelection.all(),
    default_status=dg.DefaultSensorStatus.RUNNING if ON else dg.DefaultSensorStatus.STOPPED,
    minimum_interval_seconds=SOON,
    emit_backfills=False,  # a run at once; a backfill waits for its daemon's turn
    description="Asks for what is stale, each change with all that may follow from it.",
)
