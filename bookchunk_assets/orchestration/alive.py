"""Whether a run's process lives: for as long as it does, it holds a lock."""

from __future__ import annotations

import atexit
import time
from contextlib import AbstractContextManager, ExitStack, suppress

import dagster as dg

from bookchunk_assets.orchestration.locks import Lost, locks_of

GRACE = 60.0  # seconds between a run's start and its first step, by when it has its lock
_mine = ExitStack()  # what this process holds
atexit.register(_mine.close)


def living(instance: dg.DagsterInstance, run: str) -> AbstractContextManager[None]:
    """Hold a run's lock meanwhile."""
    return locks_of(instance).take(f"run {run}", lambda: None)


def hold_to_the_end(instance: dg.DagsterInstance, run: str) -> None:
    """Hold a run's lock as long as this process lives, or until it turns to another run: the end of the run itself is
    yet to be recorded when its executor is done."""
    with suppress(Lost):  # the run before is over
        _mine.close()
    _mine.enter_context(living(instance, run))


def lives(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Whether the process of a started run lives."""
    if locks_of(instance).held(f"run {run.run_id}"):
        return True
    if list(instance.all_logs(run.run_id, of_type=dg.DagsterEventType.STEP_START)):
        return False
    record = instance.get_run_record_by_id(run.run_id)
    return record is None or record.start_time is None or time.time() - record.start_time < GRACE
