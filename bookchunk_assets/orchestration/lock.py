"""One process at a time works on a book: by a lock that dies with its holder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import dagster as dg

from bookchunk_assets.orchestration.locks import locks_of

_held = threading.local()  # what this thread holds: a run that the holder itself starts goes on within its lock


class Busy(Exception):  # noqa: N818 - says what the book is
    """Another process works on the book."""


def leave() -> None:
    """What to call instead of waiting."""
    raise Busy


@contextmanager
def book_lock(instance: dg.DagsterInstance, book: str, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a book's lock; where another process (or thread) has it, call ``waiting`` once and wait; with
    ``leave`` for it, raise ``Busy``."""
    held: set[tuple[str, str]] = _held.__dict__.setdefault("books", set())
    mine = (instance.root_directory, book)
    if mine in held:
        yield
        return
    with locks_of(instance).take(f"book {book}", waiting):
        held.add(mine)
        try:
            yield
        finally:
            held.remove(mine)
