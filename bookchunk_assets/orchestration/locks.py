"""Locks by name that die with their holder, and where they are: with the instance's records, so that whoever shares
these shares the locks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import dagster as dg

from bookchunk_assets.orchestration.file_locks import FileLocks


class Lost(Exception):  # noqa: N818 - says what the lock is
    """The lock was not held to the end: its server was restarted, or cannot be reached."""


class Locks(Protocol):
    """Locks by name."""

    def take(self, name: str, waiting: Callable[[], None]) -> AbstractContextManager[None]:
        """Hold a lock; where another has it, call ``waiting`` once and wait, unless that raises. Raises ``Lost``
        at the end."""

    def held(self, name: str) -> bool:
        """Whether somebody holds a lock."""


def locks_of(instance: dg.DagsterInstance) -> Locks:
    """The locks of an instance: the operating system's for one machine's, PostgreSQL's where the records are there."""
    url = getattr(instance.event_log_storage, "postgres_url", None)
    if url is None:
        return FileLocks(Path(instance.root_directory) / "locks")
    from bookchunk_assets.orchestration.postgres_locks import PostgresLocks

    return PostgresLocks(url)
