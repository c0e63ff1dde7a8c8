"""Advisory locks of PostgreSQL: they hold across machines, each as long as its connection lives.

The server asks after a silent connection, so that a machine that vanished frees its locks within a minute. A pooler
between must keep sessions apart (in PgBouncer: session pooling).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from sqlalchemy import Connection, Engine, NullPool, TextClause, create_engine, text
from sqlalchemy.exc import DBAPIError

from bookchunk_assets.orchestration.locks import Lost

PAUSE = 0.5  # seconds between two tries: a wait inside the driver could not be interrupted
WATCHED = text("SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3")
TRY = text("SELECT pg_try_advisory_lock(:key)")
FREE = text("SELECT pg_advisory_unlock(:key)")
HELD = text(
    "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND ((classid::bigint << 32) | objid::bigint) = :key)"
)


class PostgresLocks:
    """Locks in the database at a URL."""

    def __init__(self, url: str) -> None:
        self._url = url

    @contextmanager
    def take(self, name: str, waiting: Callable[[], None]) -> Iterator[None]:
        """Hold a lock; where another has it, call ``waiting`` once and wait. Raises ``Lost`` where it was not held to
        the end."""
        key = {"key": _key(name)}
        with _engine(self._url).connect() as connection:
            connection.execute(WATCHED)
            if not _said(connection, TRY, key):
                waiting()
                while not _said(connection, TRY, key):
                    time.sleep(PAUSE)
            yield
            try:
                kept = _said(connection, FREE, key)
            except DBAPIError:
                kept = False
        if not kept:
            raise Lost(name)

    def held(self, name: str) -> bool:
        """Whether somebody holds a lock."""
        with _engine(self._url).connect() as connection:
            return _said(connection, HELD, {"key": _key(name)})


def _said(connection: Connection, question: TextClause, given: dict[str, int]) -> bool:
    return bool(connection.execute(question, given).scalar())


@cache
def _engine(url: str) -> Engine:
    return create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)


def _key(name: str) -> int:
    """64 bits for a name."""
    digest = hashlib.sha256(f"bookchunk {name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
