"""Where the stages keep what they made: a Parquet file for each stage and partition.

Not Dagster's IO manager: a range run hands an IO manager all its partitions in one dictionary, and memory would grow
with the book. Here a stage reads and writes one chapter at a time.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import polars as pl
from upath import UPath

from bookchunk_assets.corpus.whole import write_object
from bookchunk_assets.orchestration.frames import content_version, from_frame, to_frame

T = TypeVar("T")


class StageStore:
    """Stage outputs under a folder or any fsspec URL."""

    def __init__(self, base: str) -> None:
        self._base = UPath(base)

    def path(self, stage: str, partition: str) -> UPath:
        """Where a partition's output stands; partition names are escaped, so none leaves the folder."""
        *folders, name = map(_escaped, partition.split("/"))
        return self._base.joinpath(stage, *folders, f"{name}.parquet")

    def write(self, stage: str, partition: str, rows: Sequence[Any], row: type) -> str:
        """Keep ``rows``, whole or not at all; the version of their content."""
        frame = to_frame(rows, row)
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        write_object(self.path(stage, partition), buffer.getvalue())
        return content_version(frame)

    def read(self, stage: str, partition: str, row: type[T]) -> list[T]:
        """What was kept; raises ``OSError`` where nothing was. What is damaged is removed, and so counts as gone."""
        path = self.path(stage, partition)
        try:
            return from_frame(pl.read_parquet(io.BytesIO(path.read_bytes())), row)
        except pl.exceptions.PolarsError as error:
            path.unlink()
            raise OSError(f"{path} is damaged and was removed; run again to make it anew") from error

    def has(self, stage: str, partition: str) -> bool:
        """Whether something was kept."""
        return bool(self.path(stage, partition).exists())

    def kept(self, stage: str, partitions: Sequence[str]) -> set[str]:
        """Those of which something was kept; a folder is looked at once."""
        by_folder: dict[str, list[str]] = {}
        for partition in partitions:
            by_folder.setdefault(partition.rpartition("/")[0], []).append(partition)
        found: set[str] = set()
        for some in by_folder.values():
            folder = self.path(stage, some[0]).parent
            names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
            found.update(each for each in some if f"{_escaped(each.rpartition('/')[2])}.parquet" in names)
        return found

    def drop(self, partition: str) -> None:
        """Remove what each stage kept of a partition, and of all partitions below it."""
        for stage in self._base.iterdir() if self._base.is_dir() else ():
            path = self.path(stage.name, partition)
            path.unlink(missing_ok=True)
            if (below := path.with_name(path.name.removesuffix(".parquet"))).is_dir():
                below.fs.rm(below.path, recursive=True)  # a folder in an object store goes with its last file


def _escaped(part: str) -> str:
    return quote(part, safe="").replace(".", "%2E")
