"""``bookchunk ui``: the webserver and the daemon as child processes, ended with this one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from bookchunk_assets.cli.app import Status
from bookchunk_assets.cli.chunk import tell
from bookchunk_assets.cli.instance import open_instance
from bookchunk_assets.corpus.faults import Refused
from bookchunk_assets.corpus.targets import books_under
from bookchunk_assets.orchestration.lock import Busy
from bookchunk_assets.orchestration.reconcile import watch

MODULE = ["-m", "bookchunk_assets.definitions"]
GRACE = 10.0  # seconds that a child has to end by itself


def serve(host: str, port: int, corpus: Path) -> int:
    """Register what the corpus holds, then serve until interrupted or until a child dies."""
    instance = open_instance()
    try:
        for place in books_under(corpus):
            try:
                for fault in watch(instance, place).faults:
                    tell(str(fault))
            except Busy:
                tell(f"{place.folder}: another process works on it")
    except Refused as refused:
        tell(str(refused))
        return Status.REFUSED
    environment = os.environ | {"BOOKCHUNK_CORPUS": str(corpus.resolve())}
    python = [sys.executable, "-m"]
    children = [
        subprocess.Popen([*python, "dagster_webserver", "-h", host, "-p", str(port), *MODULE], env=environment),
        subprocess.Popen([*python, "dagster._daemon", "run", *MODULE], env=environment),
    ]
    tell(f"http://{host}:{port}  (Ctrl-C ends it)")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        while all(child.poll() is None for child in children):
            time.sleep(0.5)
        return Status.FAILED
    except KeyboardInterrupt:
        return Status.PASS
    finally:
        for child in children:
            child.terminate()
        for child in children:
            try:
                child.wait(GRACE)
            except subprocess.TimeoutExpired:
                child.kill()
