from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from bookchunk_assets.orchestration.frames import content_version, from_frame, to_frame
from bookchunk_assets.orchestration.store import StageStore


@dataclass(frozen=True, slots=True)
class Inner:
    name: str
    number: int | None


@dataclass(frozen=True, slots=True)
class Outer:
    flag: bool
    inner: Inner
    many: tuple[Inner, ...]
    words: tuple[str, ...]
    maybe: str | None


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
INNER = st.builds(Inner, TEXT, st.none() | st.integers(-(2**62), 2**62))
OUTER = st.builds(
    Outer,
    st.booleans(),
    INNER,
    st.lists(INNER, max_size=3).map(tuple),
    st.lists(TEXT, max_size=3).map(tuple),
    st.none() | TEXT,
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(OUTER, max_size=4))
def test_what_goes_in_comes_out(rows: list[Outer]) -> None:
    frame = to_frame(rows, Outer)
    assert from_frame(frame, Outer) == rows
    assert content_version(frame) == content_version(to_frame(rows, Outer))


def test_a_version_follows_the_content() -> None:
    one, two = ([Inner("a", number)] for number in (1, 2))
    assert content_version(to_frame(one, Inner)) != content_version(to_frame(two, Inner))


def test_the_store_keeps_typed_parquet_under_escaped_names(tmp_path: Path) -> None:
    store = StageStore(str(tmp_path))
    rows = [Inner("é", None)]
    store.write("stage", "../book/ch02.5", rows, Inner)
    assert store.read("stage", "../book/ch02.5", Inner) == rows
    (written,) = tmp_path.rglob("*.parquet")
    assert written.relative_to(tmp_path).parts[0] == "stage"
    assert pl.read_parquet(written).schema == {"name": pl.String, "number": pl.Int64}
    assert store.has("stage", "../book/ch02.5")
    assert not store.has("stage", "book/ch02")
