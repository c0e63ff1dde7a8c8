"""Locks of the operating system: on one machine, each a file that is there while it is held."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import quote


class FileLocks:
    """Locks under a folder. A holder that is killed leaves its file, which holds nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def take(self, name: str, waiting: Callable[[], None]) -> Iterator[None]:
        """Hold a lock; where another has it, call ``waiting`` once and wait."""
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path, waiting):
            try:
                yield
            finally:
                path.unlink(missing_ok=True)  # who waits for it makes a new one

    def held(self, name: str) -> bool:
        """Whether somebody holds a lock."""
        try:
            with self._path(name).open() as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def _path(self, name: str) -> Path:
        return self._folder / f"{quote(name, safe='')}.lock"


def _locked(path: Path, waiting: Callable[[], None]) -> IO[str]:
    while True:
        file = path.open("a")
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(file, fcntl.LOCK_EX)
            if path.exists() and os.fstat(file.fileno()).st_ino == path.stat().st_ino:
                return file
        except BaseException:
            file.close()
            raise
        file.close()  # its holder removed it
