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
        self._lock = threading.Lock()
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
            self._file.write(line)
            self._file.flush()
            os.fdatasync(self._file.fileno())

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
