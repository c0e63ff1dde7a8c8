"""Dagster's SQLite event log, its connections kept.

The stock one makes a SQLAlchemy engine for every connection, so no statement is ever found in its cache, and waits for
the disk at every event; that is most of what a run over many partitions costs. Named in ``dagster.yaml``.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._serdes import ConfigurableClassData
from sqlalchemy import Connection, Engine, create_engine, event

MOST_ENGINES = 8  # a run has a file of its own; older ones are closed


class KeptSqliteEventLogStorage(SqliteEventLogStorage):
    """The stock event log at its stock place, ``$DAGSTER_HOME/history/runs``. A power cut may lose the last events (not
    the file): ``synchronous=NORMAL`` under the write-ahead log; a partition whose event is lost is run again."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engines: OrderedDict[str, Engine] = OrderedDict()
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
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._db_lock, self._engine(shard).connect() as connection, connection.begin():
            yield connection

    def _engine(self, shard: str) -> Engine:
        engine = self._engines.pop(shard, None)
        if engine is None:
            engine = create_engine(
                self.conn_string_for_shard(shard), connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS}
            )
            event.listen(engine, "connect", _relax)
            if shard not in self._initialized_dbs:
                self._initdb(engine)
                self._initialized_dbs.add(shard)
        self._engines[shard] = engine
        while len(self._engines) > MOST_ENGINES:
            self._engines.popitem(last=False)[1].dispose()
        return engine

    def dispose(self) -> None:
        """Close what is open."""
        for engine in self._engines.values():
            engine.dispose()
        self._engines.clear()
        super().dispose()


def _relax(connection: Any, record: Any) -> None:
    connection.execute("PRAGMA synchronous=NORMAL")
