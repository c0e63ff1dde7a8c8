"""The real webserver and daemon on a scratch home and corpus, asked by GraphQL, ended by their process ids."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
LIMIT = 600.0  # seconds for anything, on a slow and busy machine
PAUSE = 0.5
ROOT = Path(__file__).parent.parent.parent
BOOKCHUNK = [sys.executable, "-c", "from bookchunk_assets.cli import main; main()"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(what: str, look: Callable[[], T | None], limit: float = LIMIT, alive: Callable[[], bool] = lambda: True) -> T:
    """What ``look`` gives once it gives something; fails after ``limit`` seconds, saying ``what`` was waited for."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if found := look():
            return found
        assert alive(), f"Dagster ended before: {what}"
        time.sleep(PAUSE)
    raise AssertionError(f"not within {limit:.0f} s: {what}")


def descendants(pid: int) -> list[int]:
    """A process's children, and theirs."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if parent == pid:
            child = int(path.parent.name)
            found += [child, *descendants(child)]
    return found


@dataclass
class Served:
    """Dagster on the home in ``DAGSTER_HOME`` and a corpus, by ``bookchunk ui`` or by another command that takes a
    port."""

    corpus: Path
    log: Path
    sensors: bool = True
    command: Sequence[str] = ()
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = self.command or [*BOOKCHUNK, "ui", "--corpus", str(self.corpus)]
        environment = {name: value for name, value in os.environ.items() if name != "BOOKCHUNK_SENSORS"}
        environment |= {"BOOKCHUNK_CORPUS": str(self.corpus), "PYTHONPATH": str(ROOT)}
        if self.sensors:
            environment["BOOKCHUNK_SENSORS"] = "on"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        until("the webserver's answer", self._answers, alive=self.lives)
        until("the daemon's heartbeat", self._beats, alive=self.lives)

    def lives(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        """End it as a user does; what does not end by itself is killed."""
        if self.process is not None:
            children = descendants(self.process.pid)
            self.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(60)
            end([*children, self.process.pid], self.process)

    def kill(self, *others: int) -> None:
        """End it and other processes without a warning."""
        assert self.process is not None
        end([*others, *descendants(self.process.pid), self.process.pid], self.process)

    def until(self, what: str, look: Callable[[], T | None], limit: float = LIMIT) -> T:
        return until(what, look, limit, self.lives)

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"{self.address}/graphql", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            found = json.loads(answer.read())
        assert "errors" not in found, found
        return dict(found["data"])

    def reload(self, location: str) -> None:
        """Load the code anew, as the UI's button does."""
        told = self.ask(
            "mutation($n: String!) { reloadRepositoryLocation(repositoryLocationName: $n) { __typename ... on"
            " WorkspaceLocationEntry { loadStatus locationOrLoadError { __typename } } } }",
            n=location,
        )["reloadRepositoryLocation"]
        assert told["locationOrLoadError"]["__typename"] == "RepositoryLocation", told

    def location(self) -> str:
        data = self.ask("{ repositoriesOrError { ... on RepositoryConnection { nodes { location { name } } } } }")
        return str(data["repositoriesOrError"]["nodes"][0]["location"]["name"])

    def backfill(self, assets: Sequence[str], partitions: Sequence[str]) -> str:
        """Launch a backfill; its id."""
        told = self.ask(
            "mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) { __typename ... on"
            " LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }",
            p={"assetSelection": [{"path": [name]} for name in assets], "partitionNames": list(partitions)},
        )["launchPartitionBackfill"]
        return str(told["backfillId"])

    def backfill_status(self, backfill: str) -> str:
        query = (
            "query($b: String!) { partitionBackfillOrError(backfillId: $b) { ... on PartitionBackfill { status } } }"
        )
        return str(self.ask(query, b=backfill)["partitionBackfillOrError"]["status"])

    def backfilled(self, backfill: str) -> bool:
        """Whether a backfill is done; fails where it failed."""
        status = self.backfill_status(backfill)
        assert "FAIL" not in status, status
        return status == "COMPLETED_SUCCESS"

    def ticks(self, sensor: str) -> list[dict[str, Any]]:
        """A sensor's last ticks, each with its reason and log."""
        selector = {
            "repositoryName": "__repository__", "repositoryLocationName": self.location(), "sensorName": sensor,
        }  # fmt: skip
        query = (
            "query($s: SensorSelector!) { sensorOrError(sensorSelector: $s) { ... on Sensor { sensorState { status"
            " ticks(limit: 3) { status skipReason error { message } logEvents { events { message } } } } } } }"
        )
        return list(self.ask(query, s=selector)["sensorOrError"]["sensorState"]["ticks"])

    def runs(self) -> list[dict[str, Any]]:
        query = (
            "{ runsOrError { ... on Runs { results { runId status assetSelection { path } tags { key value } } } } }"
        )
        return list(self.ask(query)["runsOrError"]["results"])

    def quiet(self) -> bool:
        """Whether no run is waiting or under way."""
        return {run["status"] for run in self.runs()} <= {"SUCCESS", "FAILURE", "CANCELED"}

    def worker(self, run: str) -> int | None:
        """The process of a run, as its log names it; None before it has one."""
        query = (
            "query($r: ID!) { logsForRun(runId: $r) { ... on EventConnection { events { ... on MessageEvent { message"
            " } } } } }"
        )
        for event in self.ask(query, r=run)["logsForRun"]["events"]:
            _, mark, pid = str(event.get("message", "")).partition("Executing steps in process (pid: ")
            if mark:
                return int(pid.rstrip(")"))
        return None

    def _answers(self) -> bool:
        try:
            return bool(self.location())
        except (OSError, urllib.error.URLError, AssertionError, LookupError):
            return False

    def _beats(self) -> bool:
        query = "{ instance { daemonHealth { allDaemonStatuses { daemonType required healthy } } } }"
        statuses = self.ask(query)["instance"]["daemonHealth"]["allDaemonStatuses"]
        return all(each["healthy"] for each in statuses if each["required"])


def end(pids: Sequence[int], child: subprocess.Popen[bytes]) -> None:
    """Kill processes of ours by their ids, and wait until they are no more."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    child.wait()
    until("the end of processes", lambda: not any(running(pid) for pid in pids), 60)


def running(pid: int) -> bool:
    """Whether a process is there, and more than a name in its parent's list."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
