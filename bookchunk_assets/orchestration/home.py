"""Where things stand under ``DAGSTER_HOME``."""

from __future__ import annotations

import os
from pathlib import Path

import dagster as dg

from bookchunk_assets.orchestration.store import StageStore

STORAGE = "BOOKCHUNK_STORAGE"  # a folder or fsspec URL, where outputs are not to stand under DAGSTER_HOME


def home_of(instance: dg.DagsterInstance) -> Path:
    """The instance's home."""
    return Path(instance.root_directory)


def store_of(instance: dg.DagsterInstance) -> StageStore:
    """Where the instance's stage outputs stand; an ephemeral one keeps them to itself."""
    elsewhere = None if instance.is_ephemeral else os.environ.get(STORAGE)
    return StageStore(elsewhere or str(home_of(instance) / "storage"))
