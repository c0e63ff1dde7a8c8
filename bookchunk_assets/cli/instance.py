"""The Dagster instance that the commands work on."""

from __future__ import annotations

import os
from pathlib import Path

import dagster as dg

CONFIG = """\
telemetry:
  enabled: false
nux:
  enabled: false
event_log_storage:
  module: bookchunk_assets.orchestration.event_log
  class: KeptSqliteEventLogStorage
  config: {}
run_storage:
  module: bookchunk_assets.orchestration.run_storage
  class: KeptSqliteRunStorage
  config: {}
compute_logs:
  module: bookchunk_assets.orchestration.tick_logs
  class: TickLogManager
  config: {}
run_launcher:
  module: bookchunk_assets.orchestration.workers
  class: WatchedRunLauncher
  config: {}
run_monitoring:
  enabled: true
  poll_interval_seconds: 30
run_retries:
  enabled: true
  max_retries: 3
  retry_on_asset_or_op_failure: false
concurrency:
  runs:
    max_concurrent_runs: 4
  pools:
    granularity: run
    default_limit: 2
"""  # as dagster_home/dagster.yaml, which a test compares


def open_instance() -> dg.DagsterInstance:
    """The instance of ``DAGSTER_HOME``, by default ``./dagster_home``, made where it is not there."""
    home = Path(os.environ.get("DAGSTER_HOME") or "dagster_home").resolve()
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "dagster.yaml").exists():
        (home / "dagster.yaml").write_text(CONFIG, "utf-8")
    os.environ["DAGSTER_HOME"] = str(home)
    return dg.DagsterInstance.get()
