"""Runs as Celery tasks, on whichever machine takes them, known to be dead when their worker is.

dagster-celery's own launcher asks Celery's result backend, where a task whose worker was killed stays ``STARTED`` for
ever, and a run that it cancels dies without a word, to be tried again. Here no backend is needed: Dagster's records say
what became of a run. Named in ``dagster.yaml``; needs ``bookchunk[celery]``.
"""

from __future__ import annotations

import dagster as dg
from dagster._core.launcher import CheckRunHealthResult
from dagster_celery.launcher import CeleryRunLauncher
from dagster_celery.tags import DAGSTER_CELERY_TASK_ID_TAG

from bookchunk_assets.orchestration.workers import health


class WatchedCeleryRunLauncher(CeleryRunLauncher):
    """dagster-celery's launcher, which can tell whether a worker lives."""

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """By the run's lock."""
        return health(self._instance, run)

    def terminate(self, run_id: str) -> bool:
        """Cancel a run: its process is interrupted, and ends by itself. What is waiting is not begun."""
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        self._instance.report_run_canceling(run)
        self.celery.control.revoke(run.tags[DAGSTER_CELERY_TASK_ID_TAG], terminate=True, signal="SIGINT")
        return True

    def get_run_worker_debug_info(self, run: dg.DagsterRun, include_container_logs: bool | None = True) -> str | None:
        """Nothing that the run's events do not say."""
        return None
