"""A run whose process died is known to be dead, and one that lives is left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.launcher import WorkerStatus

from bookchunk_assets.orchestration import alive, workers
from bookchunk_assets.orchestration.alive import lives, living
from bookchunk_tests.conftest import Shelf


def test_a_lock_dies_with_its_process(tmp_path: Path) -> None:
    holder = (
        "import sys; from pathlib import Path; from bookchunk_assets.orchestration.alive import hold_to_the_end\n"
        f"hold_to_the_end(Path({str(tmp_path)!r}), 'run'); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder], cwd=Path(__file__).parent.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        assert lives(tmp_path, "run") is True
        child.send_signal(signal.SIGKILL)
    assert lives(tmp_path, "run") is False
    assert lives(tmp_path, "another") is None


def test_what_a_run_left_behind_goes_in_time(tmp_path: Path) -> None:
    alive.hold(tmp_path, "old").close()
    old = tmp_path / "locks" / "runs" / "old.lock"
    os.utime(old, (time.time() - alive.KEPT - 1,) * 2)
    with living(tmp_path, "new"):
        assert not old.exists()
    assert not list(old.parent.iterdir())


def test_the_launcher_tells_a_run_that_was_killed(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.chunk()
    with dg.DagsterInstance.get() as instance:
        launcher = instance.run_launcher
        assert isinstance(launcher, workers.WatchedRunLauncher)
        assert instance.run_monitoring_enabled
        assert instance.run_retries_enabled
        run = instance.get_runs(limit=1)[0]
        assert launcher.check_run_worker_health(run).status is WorkerStatus.RUNNING, "it may yet take its lock"
        monkeypatch.setattr(workers, "GRACE", 0.0)
        assert launcher.check_run_worker_health(run).status is WorkerStatus.FAILED
        with living(shelf.home, run.run_id):
            assert launcher.check_run_worker_health(run).status is WorkerStatus.RUNNING
        alive.hold(shelf.home, run.run_id).close()
        monkeypatch.undo()
        assert launcher.check_run_worker_health(run).status is WorkerStatus.FAILED
