"""Sequences of frozen dataclasses as polars frames, typed by their annotations, and back."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import types
import typing
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # a chapter's frame is small: waking threads costs more than it
import polars as pl

T = TypeVar("T")
SCALARS: dict[type, pl.DataType] = {
    str: pl.String(),
    int: pl.Int64(),
    bool: pl.Boolean(),
    float: pl.Float64(),
    bytes: pl.Binary(),
}


@cache
def schema_of(row: Any) -> pl.Schema:
    """The columns of a frame of ``row`` values."""
    hints = typing.get_type_hints(row)
    return pl.Schema({f.name: _dtype(hints[f.name]) for f in dataclasses.fields(row)})


def to_frame(rows: Sequence[Any], row: type) -> pl.DataFrame:
    """A frame with a line for each of ``rows``, which are all of the dataclass ``row``."""
    return pl.DataFrame([_plain(value) for value in rows], schema=schema_of(row), orient="row")


def from_frame(frame: pl.DataFrame, row: type[T]) -> list[T]:
    """The values that ``to_frame`` was given."""
    build: Callable[[Any], T] = _builder(row)  # type: ignore[arg-type]
    return [build(line) for line in frame.iter_rows(named=True)]


def content_version(frame: pl.DataFrame) -> str:
    """A digest of what a frame holds, whatever file or batch it came from."""
    plain = frame.with_columns(pl.selectors.binary().bin.encode("hex"))  # JSON has no bytes
    return hashlib.sha256(plain.write_ndjson().encode()).hexdigest()


def _inner(hint: Any) -> Any:
    """``X`` of ``X | None``."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return next(part for part in typing.get_args(hint) if part is not type(None))
    return hint


def _dtype(hint: Any) -> pl.DataType:
    hint = _inner(hint)
    if typing.get_origin(hint) is tuple:
        return pl.List(_dtype(typing.get_args(hint)[0]))
    row: Any = hint
    return pl.Struct(schema_of(row)) if dataclasses.is_dataclass(hint) else SCALARS[hint]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if dataclasses.is_dataclass(value):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


@cache
def _builder(hint: Any) -> Callable[[Any], Any]:
    """What turns a plain value of a frame into a value of the hinted type."""
    hint = _inner(hint)
    if typing.get_origin(hint) is tuple:
        part = _builder(typing.get_args(hint)[0])
        return lambda values: tuple(map(part, values))
    if not dataclasses.is_dataclass(hint):
        return lambda value: value
    make: Any = hint
    hints = typing.get_type_hints(hint)
    fields = [(field.name, _builder(hints[field.name])) for field in dataclasses.fields(hint)]

    def build(line: dict[str, Any]) -> Any:
        return make(**{name: None if line[name] is None else of(line[name]) for name, of in fields})

    return build
