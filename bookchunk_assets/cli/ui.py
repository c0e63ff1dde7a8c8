"""``bookchunk ui``: the webserver and the daemon with one code server, as ``dagster dev`` starts them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from bookchunk_assets.cli.app import Status
from bookchunk_assets.cli.chunk import tell
from bookchunk_assets.cli.instance import open_instance
from bookchunk_assets.corpus.faults import Refused
from bookchunk_assets.corpus.targets import books_under
from bookchunk_assets.orchestration.sensors import look

GRACE = 30.0  # seconds that Dagster has to end its own children


def serve(host: str, port: int, corpus: Path) -> int:
    """Register what the corpus holds, then serve until interrupted or until Dagster ends."""
    try:
        books_under(corpus)
    except Refused as refused:
        tell(str(refused))
        return Status.REFUSED
    os.environ |= {"BOOKCHUNK_CORPUS": str(corpus.resolve()), "PYTHONWARNINGS": "ignore"}
    for line in look(open_instance()).told:
        tell(line)
    child = subprocess.Popen(
        [sys.executable, "-m", "dagster", "dev", "-h", host, "-p", str(port), "-m", "bookchunk_assets.definitions"]
    )
    tell(f"http://{host}:{port}  (Ctrl-C ends it)")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        child.wait()
        return Status.FAILED
    except KeyboardInterrupt:
        return Status.PASS
    finally:
        child.send_signal(signal.SIGINT)
        try:
            child.wait(GRACE)
        except subprocess.TimeoutExpired:
            child.kill()
