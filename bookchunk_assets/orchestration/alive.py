"""Whether a run's process lives: for as long as it does, it holds a lock of the operating system."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

KEPT = 3600.0  # seconds for which the file of a process that ended is left to be asked
_until_the_end: list[IO[str]] = []


def _folder(home: Path) -> Path:
    return home / "locks" / "runs"


def hold(home: Path, run: str) -> IO[str]:
    """Take a run's lock; it is held until the file is closed, or its process is no more."""
    folder = _folder(home)
    folder.mkdir(parents=True, exist_ok=True)
    for other in folder.glob("*.lock"):
        _sweep(other)
    file = (folder / f"{run}.lock").open("a")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def hold_to_the_end(home: Path, run: str) -> None:
    """Hold a run's lock as long as this process lives."""
    _until_the_end.append(hold(home, run))


@contextmanager
def living(home: Path, run: str) -> Iterator[None]:
    """Hold a run's lock meanwhile."""
    with hold(home, run) as file:
        try:
            yield
        finally:
            Path(file.name).unlink(missing_ok=True)


def lives(home: Path, run: str) -> bool | None:
    """Whether the process of a run lives; None where it never took its lock, or long ago."""
    try:
        with (_folder(home) / f"{run}.lock").open() as file:
            return not _free(file)
    except FileNotFoundError:
        return None


def _free(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sweep(path: Path) -> None:
    try:
        with path.open() as file:
            if path.stat().st_mtime < time.time() - KEPT and _free(file):
                path.unlink()
    except FileNotFoundError:
        pass
