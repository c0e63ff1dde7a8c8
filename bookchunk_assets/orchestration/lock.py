"""One process at a time works on a book: an advisory lock of the operating system, which dies with its holder."""

from __future__ import annotations

import fcntl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

_held: dict[Path, int] = {}
_guard = threading.RLock()


@contextmanager
def book_lock(home: Path, book: str, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a book's lock; where another process has it, call ``waiting`` once and wait. A run that the holder itself
    started goes on within it."""
    path = home / "locks" / f"{quote(book, safe='')}.lock"
    with _guard:
        if _held.get(path):
            _held[path] += 1
            try:
                yield
            finally:
                _held[path] -= 1
            return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        _held[path] = 1
        try:
            yield
        finally:
            _held[path] = 0
            fcntl.flock(file, fcntl.LOCK_UN)
