"""Keeps what sensors and schedules say at their ticks. What steps print is not captured: it costs more than a chapter's
stage. Named in ``dagster.yaml``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dagster._core.storage.compute_log_manager import CapturedLogContext
from dagster._core.storage.local_compute_log_manager import LocalComputeLogManager
from dagster._serdes import ConfigurableClassData


class TickLogManager(LocalComputeLogManager):
    """Dagster's log manager on disk, for ticks alone."""

    @classmethod
    def config_type(cls) -> Any:
        """Nothing to configure."""
        return {}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> TickLogManager:
        """As Dagster makes it from ``dagster.yaml``."""
        return cls(str(Path(os.environ["DAGSTER_HOME"]) / "logs"), inst_data=inst_data)

    @contextmanager
    def capture_logs(self, log_key: Sequence[str]) -> Iterator[CapturedLogContext]:
        """Capture nothing of a step."""
        yield CapturedLogContext(log_key=log_key)

    def is_capture_complete(self, log_key: Sequence[str]) -> bool:
        """Nothing more is to come."""
        return True
