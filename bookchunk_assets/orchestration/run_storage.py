"""Dagster's SQLite run storage, its connections kept: the stock one makes a SQLAlchemy engine for each. Named in
``dagster.yaml``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy import Connection, create_engine, event

from bookchunk_assets.orchestration.event_log import relax


class KeptSqliteRunStorage(SqliteRunStorage):
    """The stock run storage at its stock place, ``$DAGSTER_HOME/history/runs.db``."""

    def __init__(self, conn_string: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engine = create_engine(conn_string)
        event.listen(self._engine, "connect", relax)
        super().__init__(conn_string, inst_data)

    @classmethod
    def config_type(cls) -> Any:
        """Nothing to configure."""
        return {}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> KeptSqliteRunStorage:
        """As Dagster makes it from ``dagster.yaml``."""
        return cls.from_local(str(Path(os.environ["DAGSTER_HOME"]) / "history"), inst_data)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A connection within a transaction."""
        with self._engine.connect() as connection, connection.begin():
            yield connection

    def dispose(self) -> None:
        """Close what is open."""
        self._engine.dispose()
        super().dispose()
