"""The parts of Dagster below its public API that the project reads: these fail when an upgrade moves them."""

from __future__ import annotations

import inspect

import dagster as dg
import pytest

from bookchunk_assets.orchestration import provenance
from bookchunk_assets.orchestration.event_log import KeptSqliteEventLogStorage
from bookchunk_tests.conftest import Shelf


def test_the_tags_are_dagster_s_own() -> None:
    from dagster._core.definitions import data_version as theirs

    assert provenance.DATA_VERSION == theirs.DATA_VERSION_TAG
    assert provenance.CODE_VERSION == theirs.CODE_VERSION_TAG
    assert provenance.USER_PROVIDED == theirs.DATA_VERSION_IS_USER_PROVIDED_TAG
    assert f"{theirs.INPUT_DATA_VERSION_TAG_PREFIX}/" == provenance.INPUT_VERSION
    assert f"{theirs.INPUT_EVENT_POINTER_TAG_PREFIX}/" == provenance.INPUT_POINTER


def test_observations_and_materialisations_come_back(shelf: Shelf) -> None:
    shelf.chunk()
    partitions = ["tale/ch01", "tale/ch02", "tale/ch09"]
    with dg.DagsterInstance.get() as instance:
        seen = provenance.observed(instance, "chapter_file", partitions)
        made = provenance.materialized(instance, "parsed_chapter", partitions, ["chapter_file"])
        assert set(seen) == set(made) == {"tale/ch01", "tale/ch02"}
        assert made["tale/ch01"].inputs == {"chapter_file": seen["tale/ch01"].version}
        provenance.observe(instance, "chapter_file", "tale/ch01", "other")
        assert provenance.observed(instance, "chapter_file", partitions)["tale/ch01"].version == "other"
        record = instance.get_latest_data_version_record(
            dg.AssetKey("chapter_file"), is_source=True, partition_key="tale/ch01"
        )
        assert record is not None
        assert set(provenance.last_metadata(instance, "chunks_jsonl", "tale")) >= {"diff", "chapters", "files"}
        provenance.remember(instance, "a", "b")
        assert provenance.remembered(instance, "a") == "b"
        assert isinstance(instance.event_log_storage, KeptSqliteEventLogStorage)


def test_the_event_log_overrides_what_is_there() -> None:
    from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

    assert list(inspect.signature(SqliteEventLogStorage._connect).parameters) == ["self", "shard"]
    assert {"_initdb", "conn_string_for_shard", "dispose"} <= set(dir(SqliteEventLogStorage))


@pytest.mark.parametrize("wanted", [["a"], ["a", "b", "d"], [], ["d"], ["a", "b", "c", "d"]])
def test_ranges_are_neighbours_in_dagster_s_order(wanted: list[str]) -> None:
    from bookchunk_assets.orchestration.runs import ranges

    order = ["a", "b", "c", "d"]
    got = [order[order.index(first) : order.index(last) + 1] for first, last in ranges(order, wanted)]
    assert [key for keys in got for key in keys] == wanted
    assert all(order.index(after[0]) > order.index(before[-1]) + 1 for before, after in zip(got, got[1:], strict=False))
