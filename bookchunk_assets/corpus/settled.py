"""Files that are caught while they are written."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from pathlib import Path

SETTLED = 1.0  # seconds after which an unchanged file counts as written

Mark = tuple[int, int]


def marks(folder: Path) -> dict[Path, Mark]:
    """The size and time of change of each file in a folder, to be taken before the files are read."""
    found = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        try:
            status = path.stat()
        except OSError:
            continue
        found[path] = (status.st_size, status.st_mtime_ns)
    return found


def being_written(before: Mapping[Path, Mark], read: Collection[Path]) -> set[Path]:
    """Those of the files ``read`` that are not what they were ``before`` they were read. Where one was changed just
    now, this waits until it may be taken for settled."""
    if any(abs(time.time() - before[path][1] / 1e9) < SETTLED for path in read if path in before):
        time.sleep(SETTLED)
    folders = {path.parent for path in read}
    now = {path: mark for folder in folders for path, mark in marks(folder).items()}
    return {path for path in read if before.get(path) != now.get(path)}
