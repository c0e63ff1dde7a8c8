"""Where things stand under ``DAGSTER_HOME``."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

import dagster as dg
from upath import UPath

from bookchunk_assets.embedding.kept import KeptVectors
from bookchunk_assets.orchestration.store import StageStore

STORAGE = "BOOKCHUNK_STORAGE"  # a folder or fsspec URL, where outputs are not to stand under DAGSTER_HOME


def home_of(instance: dg.DagsterInstance) -> Path:
    """The instance's home."""
    return Path(instance.root_directory)


def store_of(instance: dg.DagsterInstance) -> StageStore:
    """Where the instance's stage outputs stand; an ephemeral one keeps them to itself."""
    elsewhere = None if instance.is_ephemeral else os.environ.get(STORAGE)
    return StageStore(elsewhere or str(home_of(instance) / "storage"))


def kept_vectors(instance: dg.DagsterInstance, book: str) -> KeptVectors:
    """Where a book's vectors are kept for reuse; an ephemeral instance shares those of ``DAGSTER_HOME``."""
    home = os.environ.get("DAGSTER_HOME", home_of(instance)) if instance.is_ephemeral else home_of(instance)
    base = UPath(os.environ.get(STORAGE) or Path(home) / "storage")
    return KeptVectors(base / "vectors" / quote(book, safe="").replace(".", "%2E"))
