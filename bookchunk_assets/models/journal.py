"""An append-only file that outlives its process: what was paid for is on disk before anything is done with it."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO


class Journal:
    """JSON objects, one a line, each synced as it is added, from any thread. A line torn by a crash is passed over."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock, self._syncing = threading.Lock(), threading.Lock()
        self._written = self._synced = 0
        self._file: BinaryIO | None = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        for line in data.splitlines():
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value

    def add(self, value: dict[str, Any]) -> None:
        """Write a line, and return when the disk has it."""
        line = json.dumps(value, ensure_ascii=False).encode() + b"\n"
        with self._lock:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self.path.open("ab")
                line = b"\n" + line  # apart from what a crash may have torn
            file = self._file
            file.write(line)
            file.flush()
            self._written += 1
            mine = self._written
        with self._syncing:  # one sync serves all that was written before it
            if self._synced < mine:
                upto = self._written
                os.fdatasync(file.fileno())
                self._synced = upto

    def close(self) -> None:
        """Close the file; a later line opens it again."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def drop(self) -> None:
        """Remove it: all that it holds stands elsewhere."""
        self.close()
        self.path.unlink(missing_ok=True)
