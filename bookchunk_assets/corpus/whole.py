"""Files under a folder or any fsspec URL, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from upath import UPath


def write_object(path: UPath, data: bytes) -> None:
    """Put ``data`` there; a reader sees what stood there before, or all of it. What a killed process leaves is hidden,
    and has its number in its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(path, Path):
        part = path.with_name(f".{path.name}.{os.getpid()}")
        part.write_bytes(data)
        part.replace(path)
    else:  # object stores write whole objects
        path.write_bytes(data)
