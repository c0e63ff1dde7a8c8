"""The output files of a book: where they stand, and how they are written whole or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = ".ingest"


@dataclass(frozen=True, slots=True)
class OutputPaths:
    """A book's four files."""

    chunks: Path
    diff: Path
    report: Path
    embeddings: Path

    @classmethod
    def of_book(cls, folder: Path) -> OutputPaths:
        """In the book's ``.ingest``."""
        at = folder / FOLDER
        return cls(at / "chunks.jsonl", at / "chunks.diff.json", at / "report.json", at / "embeddings.parquet")

    @classmethod
    def beside(cls, chunks: Path) -> OutputPaths:
        """Beside a path that ``--out`` gave."""
        stem = chunks.with_name(chunks.stem)
        return cls(
            chunks, *(stem.with_name(stem.name + end) for end in (".diff.json", ".report.json", ".embeddings.parquet"))
        )


def write_whole(path: Path, parts: Iterable[bytes]) -> str:
    """Write a file that a reader sees whole or not at all; the digest of what was written."""
    return write_set({path: parts})[path.name]


def write_set(files: Mapping[Path, Iterable[bytes]]) -> dict[str, str]:
    """Write files that belong together; the digests of what was written, by name. Each is written and synced in order,
    and only when all are there do they move into place, the first last: where it is new, all are."""
    parts = {path: path.with_name(f".{path.name}.{os.getpid()}.part") for path in files}
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f".{path.name}.*.part"):  # of a killed run; one process at a time writes here
            left.unlink(missing_ok=True)
    try:
        digests = {path.name: _write(parts[path], content) for path, content in files.items()}
        for path in reversed(parts):
            parts[path].replace(path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    return digests


def _write(path: Path, content: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for data in content:
            digest.update(data)
            file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def digest_of(path: Path) -> str | None:
    """The digest of a file; None where there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
