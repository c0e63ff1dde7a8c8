"""One process at a time works on a book: an advisory lock of the operating system, which dies with its holder."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import quote

_held = threading.local()  # what this thread holds: a run that the holder itself starts goes on within its lock


class Busy(Exception):  # noqa: N818 - says what the book is
    """Another process works on the book."""


def leave() -> None:
    """What to call instead of waiting."""
    raise Busy


@contextmanager
def book_lock(home: Path, book: str, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a book's lock; where another process (or thread) has it, call ``waiting`` once and wait; with
    ``leave`` for it, raise ``Busy``."""
    held: set[Path] = _held.__dict__.setdefault("paths", set())
    path = _path(home, book)
    if path in held:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path, waiting):
        held.add(path)
        try:
            yield
        finally:
            held.remove(path)  # closing the file gives the lock back


def remove_lock(home: Path, book: str) -> None:
    """Remove the file of a lock that is held; who waits for it makes a new one."""
    _path(home, book).unlink(missing_ok=True)


def _path(home: Path, book: str) -> Path:
    return home / "locks" / f"{quote(book, safe='')}.lock"


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
        file.close()  # removed while it was waited for
