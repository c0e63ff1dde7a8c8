"""A run whose process died is known to be dead, and one that lives is left alone."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.launcher import WorkerStatus

from bookchunk_assets.definitions import defs
from bookchunk_assets.orchestration import alive, workers
from bookchunk_assets.orchestration.file_locks import FileLocks
from bookchunk_assets.orchestration.locks import locks_of
from bookchunk_tests.conftest import Shelf


def test_a_lock_dies_with_its_process(tmp_path: Path) -> None:
    holder = (
        "import sys; from pathlib import Path; from bookchunk_assets.orchestration.file_locks import FileLocks\n"
        f"with FileLocks(Path({str(tmp_path)!r})).take('run', print): print('held', flush=True); sys.stdin.read()"
    )
    locks = FileLocks(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", holder], cwd=Path(__file__).parent.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        assert locks.held("run")
        child.send_signal(signal.SIGKILL)
    assert not locks.held("run")
    assert not locks.held("another")
    with locks.take("run", pytest.fail):
        assert locks.held("run"), "also by a process that has it itself"
    assert not list(tmp_path.iterdir())


def test_a_process_that_turns_to_another_run_is_done_with_the_one_before(shelf: Shelf) -> None:
    shelf.chunk()
    with dg.DagsterInstance.get() as instance:
        held = locks_of(instance).held
        alive.hold_to_the_end(instance, "first")
        alive.hold_to_the_end(instance, "second")
        assert (held("run first"), held("run second")) == (False, True)


def test_the_launcher_tells_a_run_that_was_killed(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.chunk()
    with dg.DagsterInstance.get() as instance:
        launcher = instance.run_launcher
        assert isinstance(launcher, workers.WatchedRunLauncher)
        assert instance.run_monitoring_enabled
        assert instance.run_retries_enabled
        worked = instance.get_runs(limit=1)[0]
        assert launcher.check_run_worker_health(worked).status is WorkerStatus.FAILED, "it worked, and is no more"
        with alive.living(instance, worked.run_id):
            assert launcher.check_run_worker_health(worked).status is WorkerStatus.RUNNING

        began = instance.create_run_for_job(defs.resolve_implicit_global_asset_job_def())
        started = dg.DagsterEvent(dg.DagsterEventType.RUN_START.value, began.job_name)
        instance.report_dagster_event(started, began.run_id)
        assert launcher.check_run_worker_health(began).status is WorkerStatus.RUNNING, "it may yet take its lock"
        monkeypatch.setattr(alive, "GRACE", 0.0)
        assert launcher.check_run_worker_health(began).status is WorkerStatus.FAILED
