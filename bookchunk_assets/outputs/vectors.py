"""``embeddings.parquet``: a row a chunk, in the order of ``chunks.jsonl``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.io.plugins import register_io_source

from bookchunk_assets.embedding.embedded import EmbeddedChunk
from bookchunk_assets.embedding.plan import Plan, facts_of
from bookchunk_assets.outputs.records import Record, chunk_id

ROWS = 512  # of a row group, and the most that a reader here holds
PIECE = 1 << 20  # bytes
TOLERANCE = 1e-3  # of a vector's length, which is 1


def schema_of(dimensions: int) -> pl.Schema:
    """The columns of a file of vectors of that size."""
    return pl.Schema(
        {
            "id": pl.String(),
            "sha256": pl.String(),
            "model": pl.String(),
            "dimensions": pl.Int32(),
            "late": pl.Boolean(),
            "embedding": pl.Array(pl.Float32(), dimensions),
        }
    )


def parquet_parts(book: str, plan: Plan, chapters: Iterable[Sequence[EmbeddedChunk]]) -> Iterator[bytes]:
    """The file's bytes, from chapters one at a time."""
    size = next(
        (len(each.vector) // 4 for chapter in chapters for each in chapter),
        facts_of(plan.provider, plan.model).dimensions,
    )
    schema = schema_of(size or 1)

    def frames(*_: object) -> Iterator[pl.DataFrame]:
        for chapter in chapters:
            yield pl.DataFrame(
                {
                    "id": [chunk_id(book, each.finished.chunk) for each in chapter],
                    "sha256": [each.finished.sha256 for each in chapter],
                    "model": [plan.model] * len(chapter),
                    "dimensions": [size] * len(chapter),
                    "late": [plan.is_late] * len(chapter),
                    "embedding": np.frombuffer(b"".join(each.vector for each in chapter), "<f4").reshape(
                        len(chapter), size or 1
                    ),
                },
                schema=schema,
            )

    with tempfile.TemporaryFile() as file:
        register_io_source(frames, schema=schema, is_pure=True).sink_parquet(
            file, row_group_size=ROWS, maintain_order=True
        )
        file.seek(0)
        while piece := file.read(PIECE):
            yield piece


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A row of the file."""

    id: str
    sha256: str
    model: str
    dimensions: int
    late: bool
    embedding: npt.NDArray[np.float32]


def read_vectors(path: Path) -> Iterator[VectorRow]:
    """The rows of a file, a few held at a time; raises ``ValueError`` on one that is no such file."""
    names = [field.name for field in fields(VectorRow)]
    try:
        table = pl.scan_parquet(path).select(names)
        at = 0
        while len(some := table.slice(at, ROWS).collect()):
            if not isinstance(some.schema["embedding"], pl.Array) or some.schema["embedding"].inner != pl.Float32:
                raise ValueError(f"{path}: `embedding` is no fixed-size array of float32")
            facts = some.select(names[:-1]).rows()
            for (id_, sha256, model, size, late), vector in zip(facts, some["embedding"].to_numpy(), strict=True):
                yield VectorRow(id_, sha256, model, size, late, vector)
            at += len(some)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ValueError(f"{path}: no embeddings.parquet: {error}") from error


def beside(records: Iterable[Record], rows: Iterator[VectorRow], plan: Plan, faults: list[str]) -> Iterator[Record]:
    """The records as they come, each held against the row at its place; what is wrong with the rows is added to
    ``faults``."""
    size = facts_of(plan.provider, plan.model).dimensions
    rows = _readable(rows, faults)
    for record in records:
        row = next(rows, None)
        if row is None:
            faults.append(f"{record.get('id')}: no vector")
        else:
            size = size or len(row.embedding)
            faults += _row_faults(record, row, plan, size)
        yield record
    faults += [f"{row.id}: a vector of no chunk" for row in rows]


def _readable(rows: Iterator[VectorRow], faults: list[str]) -> Iterator[VectorRow]:
    try:
        yield from rows
    except ValueError as error:
        faults.append(str(error))


def _row_faults(record: Record, row: VectorRow, plan: Plan, size: int) -> Iterator[str]:
    if (row.id, row.sha256) != (record.get("id"), record.get("sha256")):
        yield f"{record.get('id')}: in its place stands the vector of {row.id}, or of another text"
    if (row.model, row.late) != (plan.model, plan.is_late):
        yield f"{row.id}: made by {row.model}, late {row.late}"
    if not len(row.embedding) == row.dimensions == size:
        yield f"{row.id}: {len(row.embedding)} dimensions, told {row.dimensions}, expected {size}"
    elif not np.isfinite(row.embedding).all():
        yield f"{row.id}: not finite"
    elif abs(float(np.linalg.norm(row.embedding)) - 1) > TOLERANCE:
        yield f"{row.id}: not of length 1"
