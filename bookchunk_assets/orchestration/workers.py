"""How runs are launched and executed: one process a run, and known to be dead when it is.

Dagster's own launcher cannot tell whether a worker lives once the server that started it is gone: such a run stayed
``STARTED`` for ever, and automation waited for it. Here run monitoring asks the lock that every worker holds, and
run retries take over. Named in ``dagster.yaml``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dagster as dg
from dagster._core.launcher import CheckRunHealthResult, DefaultRunLauncher, WorkerStatus

from bookchunk_assets.orchestration.alive import hold_to_the_end, lives
from bookchunk_assets.orchestration.event_log import together


def health(instance: dg.DagsterInstance, run: dg.DagsterRun) -> CheckRunHealthResult:
    """Running as long as its lock is held."""
    if lives(instance, run):
        return CheckRunHealthResult(WorkerStatus.RUNNING)
    return CheckRunHealthResult(WorkerStatus.FAILED, "the process of the run is no more")


class WatchedRunLauncher(DefaultRunLauncher):
    """The default launcher, which can tell whether a worker lives."""

    @property
    def supports_check_run_worker_health(self) -> bool:
        """It does."""
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """By the run's lock."""
        return health(self._instance, run)


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
        hold_to_the_end(plan_context.instance, plan_context.run_id)
        with together(plan_context.instance):
            yield from self._within.execute(plan_context, execution_plan)


@dg.executor(name="one_process", config_schema=dg.in_process_executor.config_schema)  # type: ignore[call-overload,untyped-decorator]
def one_process(init_context: dg.InitExecutorContext) -> dg.Executor:
    """A run's steps in one process: a start costs seconds, a chapter's stage milliseconds."""
    create = dg.in_process_executor.executor_creation_fn
    assert create is not None
    return OneProcess(create(init_context))
