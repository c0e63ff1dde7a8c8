"""The parts of Dagster below its public API that the project reads: these fail when an upgrade moves them."""

from __future__ import annotations

import inspect

import dagster as dg
import pytest

from bookchunk_assets.orchestration import provenance
from bookchunk_assets.orchestration.event_log import KeptSqliteEventLogStorage
from bookchunk_assets.orchestration.run_storage import KeptSqliteRunStorage
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
        assert isinstance(instance.run_storage, KeptSqliteRunStorage)


def test_the_event_log_overrides_what_is_there() -> None:
    from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

    assert list(inspect.signature(SqliteEventLogStorage._connect).parameters) == ["self", "shard"]
    assert {
        "_event_to_row",
        "_has_asset_key_col_on_connection",
        "_initdb",
        "_store_asset_event",
        "_store_asset_event_tags",
        "conn_string_for_shard",
        "dispose",
        "get_asset_tags_to_index",
        "get_dynamic_partitions",
        "has_table",
        "index_transaction",
        "store_asset_check_event",
        "store_event_batch",
    } <= set(dir(SqliteEventLogStorage))


def test_the_run_storage_overrides_what_is_there() -> None:
    from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage

    assert list(inspect.signature(SqliteRunStorage.connect).parameters) == ["self"]
    assert list(inspect.signature(SqliteRunStorage.from_local).parameters) == ["base_dir", "inst_data"]


@pytest.mark.parametrize("wanted", [["a"], ["a", "b", "d"], [], ["d"], ["a", "b", "c", "d"]])
def test_ranges_are_neighbours_in_dagster_s_order(wanted: list[str]) -> None:
    from bookchunk_assets.orchestration.runs import ranges

    order = ["a", "b", "c", "d"]
    got = [order[order.index(first) : order.index(last) + 1] for first, last in ranges(order, wanted)]
    assert [key for keys in got for key in keys] == wanted
    assert all(order.index(after[0]) > order.index(before[-1]) + 1 for before, after in zip(got, got[1:], strict=False))
