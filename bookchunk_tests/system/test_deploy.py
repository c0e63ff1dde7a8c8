"""The configurations in ``deploy/``, run as they stand: PostgreSQL, a broker with two workers, an object store."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest
import sqlalchemy

from bookchunk_assets.assets.chapter import RECIPES
from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.orchestration.lock import Busy, book_lock, leave
from bookchunk_assets.orchestration.locks import Lost, locks_of
from bookchunk_assets.orchestration.postgres_locks import PostgresLocks
from bookchunk_assets.orchestration.stages import MOST
from bookchunk_assets.orchestration.store import StageStore
from bookchunk_tests.conftest import Shelf, chapter_text
from bookchunk_tests.system import servers
from bookchunk_tests.system.served import BOOKCHUNK, ROOT, Served, descendants, end, until

DEPLOY = ROOT / "deploy"
BOOKS, CHAPTERS = 10, 20
STAGES = [recipe.name for recipe in RECIPES]


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with servers.postgres() as url:
        yield url


@pytest.fixture
def on_postgres(shelf: Shelf, database: str, monkeypatch: pytest.MonkeyPatch) -> dg.DagsterInstance:
    monkeypatch.setenv("BOOKCHUNK_POSTGRES", database)
    configure(shelf.home, "postgres")
    return dg.DagsterInstance.get()


def configure(home: Path, name: str) -> None:
    home.mkdir()
    shutil.copy(DEPLOY / name / "dagster.yaml", home)


def test_postgres_on_one_machine(shelf: Shelf, on_postgres: dg.DagsterInstance) -> None:
    aside = shelf.root / "aside.jsonl"
    shelf.chunk("--out", str(aside))
    shelf.chunk()
    assert shelf.out.read_bytes() == aside.read_bytes()
    assert set(shelf.ran()) == {*STAGES, "chunks_jsonl"}
    shelf.write(2, None, "Another text.")
    shelf.chunk()
    assert shelf.ran() == {**{stage: {"ch02"} for stage in STAGES}, "chunks_jsonl": {"tale"}}
    assert not list(shelf.home.rglob("*.db")), "no SQLite beside it"
    assert not list(shelf.home.rglob("*.lock"))


def test_a_lock_in_postgres_holds_for_all_and_dies_with_its_process(on_postgres: dg.DagsterInstance) -> None:
    locks = locks_of(on_postgres)
    assert isinstance(locks, PostgresLocks)
    holder = (
        "import sys; import dagster as dg; from bookchunk_assets.orchestration.lock import book_lock\n"
        "with book_lock(dg.DagsterInstance.get(), 'tale'): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        assert locks.held("book tale")
        with pytest.raises(Busy), book_lock(on_postgres, "tale", leave):
            pass
        told: list[str] = []

        def waiting() -> None:
            told.append("waits")
            child.send_signal(signal.SIGKILL)

        with book_lock(on_postgres, "tale", waiting), book_lock(on_postgres, "tale", leave):
            assert locks.held("book tale")
    assert told == ["waits"]
    assert not locks.held("book tale")


def test_a_lock_that_was_lost_is_told(on_postgres: dg.DagsterInstance, database: str) -> None:
    engine = sqlalchemy.create_engine(database, isolation_level="AUTOCOMMIT")
    cut = sqlalchemy.text("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
    with ExitStack() as held:
        held.enter_context(locks_of(on_postgres).take("book tale", pytest.fail))
        with engine.connect() as other:
            assert other.execute(cut).scalar()
        with pytest.raises(Lost):
            held.close()
    engine.dispose()


def test_an_object_store(monkeypatch: pytest.MonkeyPatch) -> None:
    with servers.object_store("stages") as found:
        for name, value in found.items():
            monkeypatch.setenv(name, value)
        store = StageStore("s3://stages/deep")
        assert not store.has("stage", "tale/ch01")
        versions = {store.write("stage", f"tale/{key}", [], Chunk) for key in ("ch01", "ch02.5")}
        assert len(versions) == 1
        store.drop("tale/ch01")
        assert [store.has("stage", f"tale/{key}") for key in ("ch01", "ch02.5")] == [False, True]
        assert store.read("stage", "tale/ch02.5", Chunk) == []
        with pytest.raises(OSError, match="ch01"):
            store.read("stage", "tale/ch01", Chunk)
        store.drop("tale")
        assert not store.has("stage", "tale/ch02.5")


@dataclass
class Worker:
    """A machine's worker: its own home, as the page says."""

    home: Path
    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls, home: Path) -> Worker:
        configure(home, "celery")
        environment = os.environ | {"DAGSTER_HOME": str(home), "PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
        with (home / "worker.log").open("wb") as log:
            command = [str(DEPLOY / "celery" / "worker.sh"), "-n", f"{home.name}@%h", "--loglevel", "INFO"]
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        worker = cls(home, process)
        until("a worker that is ready", lambda: " ready." in worker.log(), alive=lambda: process.poll() is None)
        return worker

    def log(self) -> str:
        return (self.home / "worker.log").read_text("utf-8", "replace")

    def kill(self) -> None:
        if self.process.poll() is None:
            end([*descendants(self.process.pid), self.process.pid], self.process)


def made(stage: str) -> Counter[str]:
    """How often each partition of a stage was made, by Dagster's records."""
    with dg.DagsterInstance.get() as instance:
        records = instance.fetch_materializations(dg.AssetKey(stage), limit=1000).records
    return Counter(str(record.partition_key) for record in records)


def write_books(shelf: Shelf) -> list[str]:
    slugs = ["tale", *(f"book-{number}" for number in range(2, BOOKS + 1))]
    for slug in slugs:
        folder = shelf.book if slug == "tale" else shelf.another(slug, embedding="none")
        for number in range(1, CHAPTERS + 1):
            words = (f"Paragraph {n} of chapter {number} of {slug}, with words in it to fill it." for n in range(12))
            text = chapter_text(number, f"Chapter {number}", *words)
            (folder / f"{slug}-ch{number:02d}.md").write_text(text, "utf-8")
    return slugs


def chunked_on_one_machine(shelf: Shelf, slugs: list[str]) -> dict[str, bytes]:
    """The books' chunks as a plain command writes them, on a copy of the corpus and a home without any server."""
    copy = shelf.root / "alone" / "corpus"
    shutil.copytree(shelf.root / "corpus", copy)
    environment = os.environ | {"DAGSTER_HOME": str(shelf.root / "alone" / "home"), "PYTHONPATH": str(ROOT)}
    command = [*BOOKCHUNK, "chunk", str(copy), "--corpus", str(copy), "--quiet"]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return {slug: (copy / "author" / slug / ".ingest" / "chunks.jsonl").read_bytes() for slug in slugs}


def test_two_workers_and_one_is_killed(
    shelf: Shelf, serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    slugs = write_books(shelf)
    expected = chunked_on_one_machine(shelf, slugs)
    outputs = {slug: shelf.book.with_name(slug) / ".ingest" / "chunks.jsonl" for slug in slugs}
    configure(shelf.home, "celery")
    with ExitStack() as stack:
        monkeypatch.setenv("BOOKCHUNK_POSTGRES", stack.enter_context(servers.postgres()))
        monkeypatch.setenv("BOOKCHUNK_BROKER", stack.enter_context(servers.redis()))
        monkeypatch.setenv("BOOKCHUNK_STORAGE", "s3://stages/bookchunk")
        for name, value in stack.enter_context(servers.object_store("stages")).items():
            monkeypatch.setenv(name, value)
        workers = []
        for name in ("one", "two"):
            workers.append(Worker.start(shelf.root / name))
            stack.callback(workers[-1].kill)
        served = serve(sensors=False)
        stack.callback(served.stop)
        begun = time.monotonic()
        with dg.DagsterInstance.get() as instance:
            chapters = instance.get_dynamic_partitions("chapters")
        assert len(chapters) == BOOKS * CHAPTERS
        backfill = served.backfill(STAGES, chapters)

        def both_at_work() -> dict[str, int]:
            """The runs under way with their processes, once each worker has one."""
            found = {run: pid for run in started(served) if (pid := served.worker(run))}
            return found if len(found) == len(workers) else {}

        at_work = served.until("a run on each worker", both_at_work)
        lost = workers[0]
        run = next(run for run, pid in at_work.items() if pid in descendants(lost.process.pid))
        served.until("the middle of a run", lambda: outputs_of(run) > MOST)
        lost.kill()
        stood = outputs_of(run)
        print(f"killed after {time.monotonic() - begun:.0f} s, {stood} outputs into its run")
        assert MOST < stood < MOST * len(STAGES), "killed in the middle"

        served.until("all chapters", lambda: served.backfilled(backfill))
        backfill = served.backfill(["chunks_jsonl"], slugs)
        served.until("all books", lambda: served.backfilled(backfill))
        served.until("a quiet instance", served.quiet)
        print(f"all done after {time.monotonic() - begun:.0f} s")
        assert {slug: path.read_bytes() for slug, path in outputs.items()} == expected
        for stage in STAGES:
            times = made(stage)
            assert len(times) == BOOKS * CHAPTERS
            assert set(times.values()) == {1}, f"{stage}: each chapter once, also what the killed worker had made"
        ends = {each["runId"]: each for each in served.runs()}
        assert ends[run]["status"] == "FAILURE"
        again = [each for each in ends.values() if {"key": "dagster/parent_run_id", "value": run} in each["tags"]]
        assert [each["status"] for each in again] == ["SUCCESS"]
        assert all(each["status"] == "SUCCESS" for name, each in ends.items() if name != run)
        assert not list((shelf.home / "storage").rglob("*.parquet")), "stage outputs stand in the object store"
        told = shelf.run("status", "--json")
        assert told.exit_code == 0, (told.output, told.exception)
        assert json.loads(told.stdout) == []
        cancelled_in_the_ui(served, chapters)


def cancelled_in_the_ui(served: Served, chapters: Sequence[str]) -> None:
    """A run that is cancelled ends where it stands, is not tried again, and its worker goes on."""
    before = {run["runId"] for run in served.runs()}
    served.backfill(STAGES, chapters[:MOST])
    run = served.until("a run to cancel", lambda: next((run for run in started(served) if outputs_of(run)), None))
    served.ask("mutation($r: String!) { terminateRun(runId: $r) { __typename } }", r=run)
    served.until("its end", lambda: status_of(served, run) == "CANCELED", 120)
    assert outputs_of(run) < MOST * len(STAGES)
    backfill = served.backfill(STAGES[:1], chapters[:1])
    served.until("another run", lambda: served.backfilled(backfill))
    ends = [each["status"] for each in served.runs() if each["runId"] not in before]
    assert sorted(ends) == ["CANCELED", "SUCCESS"]


def status_of(served: Served, run: str) -> str:
    return next(str(each["status"]) for each in served.runs() if each["runId"] == run)


def started(served: Served) -> list[str]:
    return [run["runId"] for run in served.runs() if run["status"] == "STARTED"]


def outputs_of(run: str) -> int:
    """How much a run has made."""
    with dg.DagsterInstance.get() as instance:
        return len(instance.all_logs(run, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION))
