"""A file that an installed package ships, found without importing the package."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from bookchunk_assets.embedding.port import EmbeddingFailed


def installed(package: str, file: str, missing: str) -> Path:
    """Where it is; raises ``EmbeddingFailed``, saying what is ``missing``, where it is not."""
    found = find_spec(package)
    path = Path(found.origin).with_name(file) if found and found.origin else None
    if path is None or not path.exists():
        raise EmbeddingFailed(missing)
    return path
