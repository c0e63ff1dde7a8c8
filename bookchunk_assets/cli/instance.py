"""The Dagster instance that the commands work on."""

from __future__ import annotations

import os
from pathlib import Path

import dagster as dg

CONFIG = "telemetry:\n  enabled: false\nnux:\n  enabled: false\n"


def open_instance() -> dg.DagsterInstance:
    """The instance of ``DAGSTER_HOME``, by default ``./dagster_home``, made where it is not there."""
    home = Path(os.environ.get("DAGSTER_HOME") or "dagster_home").resolve()
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "dagster.yaml").exists():
        (home / "dagster.yaml").write_text(CONFIG, "utf-8")
    os.environ["DAGSTER_HOME"] = str(home)
    return dg.DagsterInstance.get()
