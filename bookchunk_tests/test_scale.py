"""What a library costs, counted rather than timed, and what is written together: on a real instance."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from sqlalchemy import Engine, event

from bookchunk_assets.cli.instance import open_instance
from bookchunk_assets.orchestration import event_log
from bookchunk_assets.orchestration.event_log import KeptSqliteEventLogStorage, together
from bookchunk_assets.orchestration.partitions import CHAPTERS
from bookchunk_assets.orchestration.provenance import materialized, observe, observed
from bookchunk_assets.orchestration.sensors import look
from bookchunk_tests.conftest import Shelf

EVENTS = 14  # a chapter's: a file, its settings, and five stages asked for and made; two to spare
STATEMENTS = 3  # a chapter's: all is asked for and written together


@contextmanager
def counted() -> Iterator[list[str]]:
    """The SQL statements of meanwhile."""
    told: list[str] = []

    def tell(connection: object, cursor: object, statement: str, *rest: object) -> None:
        told.append(statement)

    event.listen(Engine, "before_cursor_execute", tell)
    try:
        yield told
    finally:
        event.remove(Engine, "before_cursor_execute", tell)


def events(home: Path) -> int:
    """The events of all runs, and of none."""
    return sum(rows(path, "select count(*) from event_logs")[0][0] for path in runs(home))


def runs(home: Path) -> list[Path]:
    return [path for path in (home / "history" / "runs").glob("*.db") if path.stem != "index"]


def rows(path: Path, query: str) -> list[tuple[int, ...]]:
    with sqlite3.connect(path) as connection:
        return connection.execute(query).fetchall()


def test_a_chapter_costs_few_events_and_statements(shelf: Shelf) -> None:
    shelf.chunk()
    sizes, asked, wrote = (4, 24), [], []
    for size in sizes:
        shelf.another(f"saga{size}", size)
        before = events(shelf.home)
        with counted() as told:
            assert shelf.run("chunk", f"saga{size}", "--embedding", "none").exit_code == 0
        asked.append(len(told))
        wrote.append(events(shelf.home) - before)
    more = sizes[1] - sizes[0]
    assert (wrote[1] - wrote[0]) / more <= EVENTS
    assert (asked[1] - asked[0]) / more <= STATEMENTS


def test_a_book_costs_the_same_however_many_there_are(shelf: Shelf) -> None:
    asked = []
    for number in range(6):
        shelf.another(f"saga{number}", 2)
        with counted() as told:
            assert shelf.run("chunk", f"saga{number}", "--embedding", "none").exit_code == 0
        asked.append(len(told))
    assert asked[-1] <= asked[1] + 5


def test_where_nothing_is_to_do_a_library_is_asked_for_together(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = str(shelf.root / "corpus")
    monkeypatch.setenv("BOOKCHUNK_CORPUS", corpus)
    for number in range(2):
        shelf.another(f"saga{number}", 2)
    asked, looked = [], []
    for _ in range(2):
        assert shelf.run("chunk", corpus).exit_code == 0
        before = events(shelf.home)
        with counted() as told:
            assert shelf.run("chunk", corpus).exit_code == 0
        asked.append(len(told))
        with counted() as told, open_instance() as instance:
            assert look(instance).told == ()
        looked.append(len(told))
        assert events(shelf.home) == before
        for number in range(2, 6):
            if not (shelf.book.parent / f"saga{number}").exists():
                shelf.another(f"saga{number}", 2)
    assert asked[1] <= asked[0] + 10
    assert looked[1] <= looked[0]


def test_nothing_to_do_is_told_as_a_look_at_each_book_tells_it(shelf: Shelf) -> None:
    path = shelf.chapter(1)
    path.write_text(path.read_text("utf-8").replace("page: 1 ", "page: xiv "), "utf-8")
    shelf.chunk()
    quick = [shelf.chunk(), shelf.chunk()]
    whole = shelf.chunk("--context", "extractive")
    assert quick == [whole, whole]
    assert whole["warnings"]
    report = shelf.out.with_name("report.json")
    report.write_text("{", "utf-8")
    assert shelf.chunk() == whole
    assert report.read_text("utf-8") != "{"


def test_a_verdict_stands_as_long_as_what_it_is_of(shelf: Shelf) -> None:
    shelf.chunk()
    assert shelf.run("diff", "tale").stdout.startswith("6 added")
    assert shelf.chunk()["verdict"] == "PASS"
    assert shelf.run("diff", "tale").stdout.startswith("0 added, 0 modified, 6 unchanged")
    report = shelf.out.with_name("report.json")
    failed = (
        report.read_text("utf-8")
        .replace('"verdict": "PASS"', '"verdict": "FAIL"')
        .replace('"status": 0', '"status": 1')
    )
    report.write_text(failed, "utf-8")
    assert shelf.chunk(status=1)["verdict"] == "FAIL"
    shelf.out.write_bytes(shelf.out.read_bytes()[:-1])
    assert shelf.chunk()["verdict"] == "PASS", "what is damaged is made and checked anew"


def test_what_no_index_has_is_read_from_the_events(shelf: Shelf) -> None:
    """As of a log that was written by Dagster's own storage."""
    shelf.chunk()
    shelf.ran()
    with dg.DagsterInstance.get() as instance:
        before = materialized(instance, "recursive_chunks", ["tale/ch01"], ["section_groups", "chapter_settings"])
    with sqlite3.connect(shelf.home / "history" / "runs" / "index.db") as connection:
        gone = connection.execute("delete from asset_event_tags where key != 'dagster/data_version'").rowcount
    assert gone > 0
    with dg.DagsterInstance.get() as instance:
        after = materialized(instance, "recursive_chunks", ["tale/ch01"], ["section_groups", "chapter_settings"])
    assert after == before
    assert set(after["tale/ch01"].inputs) == {"section_groups", "chapter_settings"}
    shelf.chunk()
    assert shelf.ran() == {}


def test_what_waits_is_written_before_it_is_read_and_at_the_end(shelf: Shelf) -> None:
    keys = ["tale/ch01"]
    with open_instance() as here, dg.DagsterInstance.get() as there:
        with together(here), together(here):
            observe(here, "chapter_file", "tale/ch01", "one")
            assert observed(there, "chapter_file", keys) == {}
            assert observed(here, "chapter_file", keys)["tale/ch01"].version == "one"
            observe(here, "chapter_file", "tale/ch01", "two")
            assert observed(there, "chapter_file", keys)["tale/ch01"].version == "one"
        assert observed(there, "chapter_file", keys)["tale/ch01"].version == "two"
        observe(here, "chapter_file", "tale/ch01", "three")
        assert observed(there, "chapter_file", keys)["tale/ch01"].version == "three", "alone, nothing waits"


def test_nothing_waits_for_long_nor_with_many(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_instance() as here, dg.DagsterInstance.get() as there, together(here):
        monkeypatch.setattr(event_log, "MOST_WAITING", 3)
        for number in range(4):
            observe(here, "chapter_file", f"tale/ch{number:02d}", "a")
        assert len(observed(there, "chapter_file", [f"tale/ch{n:02d}" for n in range(4)])) == 3
        monkeypatch.setattr(event_log, "LONGEST", 0.0)
        time.sleep(0.001)
        observe(here, "chapter_file", "tale/ch09", "a")
        assert set(observed(there, "chapter_file", ["tale/ch03", "tale/ch09"])) == {"tale/ch03", "tale/ch09"}


def test_a_run_s_file_is_as_dagster_makes_it(shelf: Shelf, tmp_path: Path) -> None:
    shelf.chunk()
    stock = SqliteEventLogStorage(str(tmp_path / "stock"))
    with stock.run_connection("some-run"):
        pass
    query = "select type, name, tbl_name, sql from sqlite_master order by name"
    version = "select version_num from alembic_version"
    made = tmp_path / "stock" / "some-run.db"
    assert len(runs(shelf.home)) >= 3
    for path in runs(shelf.home):
        assert rows(path, query) == rows(made, query)
        assert rows(path, version) == rows(made, version)
        assert rows(path, "pragma journal_mode") == rows(made, "pragma journal_mode") == [("wal",)]


def test_keys_that_another_process_adds_or_removes_are_seen(shelf: Shelf) -> None:
    name = str(CHAPTERS.name)
    with open_instance() as here, dg.DagsterInstance.get() as there:
        assert isinstance(here.event_log_storage, KeptSqliteEventLogStorage)
        for keys in (["a", "b"], ["c"]):
            there.add_dynamic_partitions(name, keys)
            assert list(here.get_dynamic_partitions(name))[-1] == keys[-1]
        there.delete_dynamic_partition(name, "b")
        assert list(here.get_dynamic_partitions(name)) == ["a", "c"]
        here.delete_dynamic_partition(name, "c")
        here.add_dynamic_partitions(name, ["d"])
        assert list(here.get_dynamic_partitions(name)) == ["a", "d"]
