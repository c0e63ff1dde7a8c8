"""Dagster's SQLite event log, its connections kept and its events written together.

The stock one makes a SQLAlchemy engine for every connection, so no statement is ever found in its cache, migrates an
empty database for every run, asks for the schema with every event, and waits for the disk at each; that is most of what
a run over many partitions costs. Named in ``dagster.yaml``.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.events import ASSET_CHECK_EVENTS, ASSET_EVENTS, EVENT_TYPE_TO_PIPELINE_RUN_STATUS
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log.schema import DynamicPartitionsTable, SqlEventLogStorageTable
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME, SqliteEventLogStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._serdes import ConfigurableClassData
from sqlalchemy import Connection, Engine, NullPool, create_engine, event, func, select, text

from bookchunk_assets.orchestration.tags import INPUT_VERSION, TAGS

MOST_ENGINES = 8  # a run has a file of its own; older ones are closed
MOST_WAITING = 100  # events that are written together
LONGEST = 0.5  # seconds after which the next event takes with it those that wait
_MIRRORED = ASSET_EVENTS | ASSET_CHECK_EVENTS | set(EVENT_TYPE_TO_PIPELINE_RUN_STATUS)


class KeptSqliteEventLogStorage(SqliteEventLogStorage):
    """The stock event log at its stock place, ``$DAGSTER_HOME/history/runs``. A power cut may lose the last events (not
    the file): ``synchronous=NORMAL`` under the write-ahead log; a partition whose event is lost is run again."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engines: OrderedDict[str, Engine] = OrderedDict()
        self._tables: set[str] = set()
        self._columns: set[str] = set()
        self._empty: bytes | None = None
        self._keys: dict[str, tuple[tuple[Any, ...], tuple[str, ...]]] = {}
        self._waiting: list[EventLogEntry] = []
        self._since = 0.0
        self._together = 0
        self._wait_lock = threading.RLock()
        super().__init__(base_dir, inst_data)

    @classmethod
    def config_type(cls) -> Any:
        """Nothing to configure."""
        return {}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> KeptSqliteEventLogStorage:
        """As Dagster makes it from ``dagster.yaml``."""
        return cls(str(Path(os.environ["DAGSTER_HOME"]) / "history" / "runs"), inst_data)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Meanwhile, let events wait for the next ones. They are written before anything is read here, at the end, when
        they are many, and with the first one after half a second."""
        with self._wait_lock:
            self._together += 1
        try:
            yield
        finally:
            with self._wait_lock:
                self._together -= 1
                self._write_waiting()

    def store_event(self, event: EventLogEntry) -> None:
        """Keep an event, or let it wait."""
        self.store_event_batch([event])

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Keep events, or let them wait."""
        with self._wait_lock:
            if not self._waiting:
                self._since = time.monotonic()
            self._waiting += events
            late = time.monotonic() - self._since > LONGEST
            if not self._together or late or len(self._waiting) >= MOST_WAITING:
                self._write_waiting()

    def _write_waiting(self) -> None:
        with self._wait_lock:
            events, self._waiting = self._waiting, []
            for run, some in groupby(events, key=lambda each: each.run_id):
                self._write(run, list(some))

    def _write(self, run: str, events: Sequence[EventLogEntry]) -> None:
        """As ``SqliteEventLogStorage.store_event`` keeps one: in the run's own file, and what is asked for across runs
        in the index too. Of each asset only the last event of a kind is its newest."""
        rows = {id(each): self._event_to_row(each) for each in events}
        with self.run_connection(run) as connection:
            connection.execute(SqlEventLogStorageTable.insert(), list(rows.values()))
        mirrored = [each for each in events if each.is_dagster_event and each.dagster_event_type in _MIRRORED]
        if not mirrored:
            return
        with self.index_transaction() as connection:
            connection.execute(SqlEventLogStorageTable.insert(), [rows[id(each)] for each in mirrored])
            # Nobody else writes within the transaction: its rows are numbered one after the other.
            last = int(connection.scalar(text("SELECT last_insert_rowid()")))
            ids = range(last - len(mirrored) + 1, last + 1)
            assets = [pair for pair in zip(mirrored, ids, strict=True) if pair[0].dagster_event_type in ASSET_EVENTS]
            self._store_asset_event_tags(connection, [each for each, _ in assets], [key for _, key in assets])
            newest = {
                (each.get_dagster_event().asset_key, each.dagster_event_type): (each, key) for each, key in assets
            }
            for each, key in sorted(newest.values(), key=lambda pair: pair[1]):
                self._store_asset_event(connection, each, key)
        for each, key in zip(mirrored, ids, strict=True):
            if each.dagster_event_type in ASSET_CHECK_EVENTS:
                self.store_asset_check_event(each, key)

    def get_asset_tags_to_index(self, tag_keys: set[str]) -> set[str]:
        """All that staleness follows from: read by the thousand, an index is a tenth of what the events cost."""
        ours = {key for key in tag_keys if key in TAGS or key.startswith(INPUT_VERSION)}
        return super().get_asset_tags_to_index(tag_keys) | ours

    def get_dynamic_partitions(self, partitions_def_name: str) -> Sequence[str]:
        """The keys, read again where some were added or removed: a run asks for all of them a dozen times."""
        table = DynamicPartitionsTable.c
        ours = table.partitions_def_name == partitions_def_name
        last = select(table.id, table.partition).where(ours).order_by(table.id.desc()).limit(1)
        with self.index_connection() as connection:
            many = connection.scalar(select(func.count()).where(ours))
            mark = many, *(connection.execute(last).one_or_none() or ())
        known = self._keys.get(partitions_def_name)
        if known is None or known[0] != mark:
            known = self._keys[partitions_def_name] = mark, tuple(super().get_dynamic_partitions(partitions_def_name))
        return list(known[1])

    def delete_dynamic_partition(self, partitions_def_name: str, partition_key: str) -> None:
        """Remove a key."""
        super().delete_dynamic_partition(partitions_def_name, partition_key)
        self._keys.pop(partitions_def_name, None)

    def has_table(self, table_name: str) -> bool:
        """A table that is there stays."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    def _has_asset_key_col_on_connection(self, conn: Connection, column_name: str) -> bool:
        if column_name not in self._columns and super()._has_asset_key_col_on_connection(conn, column_name):
            self._columns.add(column_name)
        return column_name in self._columns

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        self._write_waiting()
        with self._db_lock, self._engine(shard).connect() as connection, connection.begin():
            yield connection

    def _engine(self, shard: str) -> Engine:
        engine = self._engines.pop(shard, None)
        if engine is None:
            if shard != INDEX_SHARD_NAME:
                self._start_from_empty(shard)
            engine = create_engine(
                self.conn_string_for_shard(shard), connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS}
            )
            event.listen(engine, "connect", relax)
            if shard not in self._initialized_dbs:
                self._initdb(engine)
                self._initialized_dbs.add(shard)
        self._engines[shard] = engine
        while len(self._engines) > MOST_ENGINES:
            self._engines.popitem(last=False)[1].dispose()
        return engine

    def _start_from_empty(self, run: str) -> None:
        """A run's file as a copy of one that was made before, where there is none yet."""
        path = Path(self.path_for_shard(run))
        if path.exists():
            return
        with tempfile.TemporaryDirectory(dir=self._base_dir) as scratch:
            part = Path(scratch) / "empty"
            if self._empty is None:
                engine = create_engine(f"sqlite:///{part}", poolclass=NullPool)
                self._initdb(engine)
                engine.dispose()
                self._empty = part.read_bytes()
            part.write_bytes(self._empty)
            try:
                os.link(part, path)
            except OSError:  # made meanwhile, or a file system without links: Dagster makes what is missing
                return
        self._initialized_dbs.add(run)

    def dispose(self) -> None:
        """Write what waits, and close what is open."""
        self._write_waiting()
        for engine in self._engines.values():
            engine.dispose()
        self._engines.clear()
        super().dispose()


@contextmanager
def together(instance: dg.DagsterInstance) -> Iterator[None]:
    """Write the events of meanwhile in few transactions, where the instance's event log is the one here."""
    storage = instance.event_log_storage
    if isinstance(storage, KeptSqliteEventLogStorage):
        with storage.together():
            yield
    else:
        yield


def relax(connection: Any, record: Any) -> None:
    """Let a new connection leave it to the write-ahead log when the disk has to follow."""
    connection.execute("PRAGMA synchronous=NORMAL")
