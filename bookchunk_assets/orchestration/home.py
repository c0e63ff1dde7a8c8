"""Where things stand under ``DAGSTER_HOME``."""

from __future__ import annotations

import os
from pathlib import Path

import dagster as dg

from bookchunk_assets.orchestration.provenance import remember, remembered
from bookchunk_assets.orchestration.store import StageStore

LENT = "bookchunk/paid_home"
STORAGE = "BOOKCHUNK_STORAGE"  # a folder or fsspec URL, where outputs are not to stand under DAGSTER_HOME


def home_of(instance: dg.DagsterInstance) -> Path:
    """The instance's home."""
    return Path(instance.root_directory)


def store_of(instance: dg.DagsterInstance) -> StageStore:
    """Where the instance's stage outputs stand; an ephemeral one keeps them to itself."""
    elsewhere = None if instance.is_ephemeral else os.environ.get(STORAGE)
    return StageStore(elsewhere or str(home_of(instance) / "storage"))


def lend(instance: dg.DagsterInstance, aside: dg.DagsterInstance) -> None:
    """Let an instance that is made for one command share what was paid for in ``instance``."""
    remember(aside, LENT, str(home_of(instance)))


def paid_home(instance: dg.DagsterInstance) -> Path:
    """The home in which stands what was paid for."""
    return Path(remembered(instance, LENT) or home_of(instance))


def paid_store(instance: dg.DagsterInstance) -> StageStore:
    """The store of what was paid for."""
    return StageStore(os.environ.get(STORAGE) or str(paid_home(instance) / "storage"))
