"""How runs are launched and executed: one process a run, and known to be dead when it is.

Dagster's own launcher cannot tell whether a worker lives once the server that started it is gone: such a run stayed
``STARTED`` for ever, and automation waited for it. Here run monitoring asks the lock that every worker holds, and
run retries take over. Named in ``dagster.yaml``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.launcher import CheckRunHealthResult, DefaultRunLauncher, WorkerStatus

from bookchunk_assets.orchestration.alive import hold_to_the_end, lives
from bookchunk_assets.orchestration.event_log import together

GRACE = 300.0  # seconds that a started run has to take its lock


class WatchedRunLauncher(DefaultRunLauncher):
    """The default launcher, which can tell whether a worker on this machine lives."""

    @property
    def supports_check_run_worker_health(self) -> bool:
        """It does."""
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Running as long as its lock is held."""
        found = lives(Path(self._instance.root_directory), run.run_id)
        if found is None:
            record = self._instance.get_run_record_by_id(run.run_id)
            found = record is None or record.start_time is None or time.time() - record.start_time < GRACE
        if found:
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return CheckRunHealthResult(WorkerStatus.FAILED, "the process of the run is no more")


class OneProcess(dg.Executor):
    """The in-process executor, its process known to live."""

    def __init__(self, within: dg.Executor) -> None:
        self._within = within

    @property
    def retries(self) -> Any:
        """As the executor within has them."""
        return self._within.retries

    def execute(self, plan_context: Any, execution_plan: Any) -> Iterator[Any]:
        """Execute the plan's steps, one after the other."""
        hold_to_the_end(Path(plan_context.instance.root_directory), plan_context.run_id)
        with together(plan_context.instance):
            yield from self._within.execute(plan_context, execution_plan)


@dg.executor(name="one_process", config_schema=dg.in_process_executor.config_schema)  # type: ignore[call-overload,untyped-decorator]
def one_process(init_context: dg.InitExecutorContext) -> dg.Executor:
    """A run's steps in one process: a start costs seconds, a chapter's stage milliseconds."""
    create = dg.in_process_executor.executor_creation_fn
    assert create is not None
    return OneProcess(create(init_context))
