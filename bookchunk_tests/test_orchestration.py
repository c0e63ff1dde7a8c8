"""What must hold where things go wrong, or two go on at once: on a real instance, by Dagster's own records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from bookchunk_assets.assets.chapter import RECIPES
from bookchunk_assets.cli.instance import open_instance
from bookchunk_assets.corpus.targets import Place
from bookchunk_assets.definitions import defs
from bookchunk_assets.orchestration.lock import Busy, book_lock, leave
from bookchunk_assets.orchestration.partitions import BOOKS
from bookchunk_assets.orchestration.provenance import FROM_AUTOMATION, last_metadata, materialized, observed
from bookchunk_assets.orchestration.reconcile import watch
from bookchunk_assets.orchestration.runs import QUIET, StageFailed, run_stages
from bookchunk_assets.orchestration.sensors import corpus_schedule, corpus_sensor, look
from bookchunk_tests.conftest import STAGES, Shelf

ALL = {"ch01", "ch02", "ch03"}
PARTITIONS = [f"tale/{key}" for key in sorted(ALL)]


def stale(shelf: Shelf) -> list[dict[str, str]]:
    return list(json.loads(shelf.run("status", "tale", "--json").stdout))


def place(shelf: Shelf) -> Place:
    return Place(shelf.book, shelf.root / "corpus")


def test_another_code_version_runs_its_stage_and_stops_where_nothing_changes(shelf: Shelf) -> None:
    shelf.chunk()
    shelf.ran()
    newer = (
        "from bookchunk_assets.chunking import groups; groups.RULES = 'newer'; from bookchunk_assets.cli import main"
    )
    command = [sys.executable, "-c", f"{newer}; main()", "chunk", str(shelf.book), "--quiet"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)}
    assert subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False).returncode == 0
    assert shelf.ran() == {"section_groups": ALL}
    assert {each["cause"] for each in stale(shelf) if each["stage"] == "section_groups"} == {
        f"its code changed, newer to {RECIPES[1].code_version}"
    }


def test_a_removed_chapter_is_told_before_it_is_run(shelf: Shelf) -> None:
    shelf.chunk()
    shelf.chapter(3).unlink()
    assert stale(shelf) == [{"partition": "tale", "stage": "chunks_jsonl", "cause": "its chapters change"}]


@pytest.mark.parametrize("name", ["chunks.jsonl", "chunks.diff.json", "report.json"])
def test_a_missing_file_runs_the_book_alone(shelf: Shelf, name: str) -> None:
    shelf.chunk()
    shelf.ran()
    before = shelf.out.read_bytes()
    (shelf.out.parent / name).unlink()
    assert stale(shelf) == [{"partition": "tale", "stage": "chunks_jsonl", "cause": f"{name} is gone"}]
    shelf.chunk()
    assert shelf.ran() == {"chunks_jsonl": {"tale"}}
    assert (shelf.out.parent / name).exists()
    assert shelf.out.read_bytes() == before


def test_a_materialisation_tells_each_changed_chapter_s_versions(shelf: Shelf) -> None:
    def told() -> dict[str, list[str | None]]:
        with dg.DagsterInstance.get() as instance:
            return dict(last_metadata(instance, "chunks_jsonl", "tale")["changed_chapters"])

    shelf.chunk()
    first = told()
    shelf.write(2, None, "Edited.")
    shelf.chunk()
    (changed,) = told().items()
    assert changed[0] == "tale/ch02"
    assert changed[1][0] == first["tale/ch02"][1]
    assert changed[1][1] not in (None, changed[1][0])


def test_a_language_reaches_the_records_of_chapters_that_name_none(shelf: Shelf) -> None:
    shelf.chunk()
    shelf.manifest(language="en-GB")
    shelf.chunk()
    assert {record["metadata"]["language"] for record in shelf.records()} == {"en-GB"}


def test_a_roman_page_number_is_a_warning(shelf: Shelf) -> None:
    path = shelf.chapter(1)
    path.write_text(path.read_text("utf-8").replace("page: 1 ", "page: xiv "), "utf-8")
    assert shelf.chunk()["warnings"] == [f"{path}:5: a Roman page number counts as none: <!-- page: xiv -->"]


def test_out_with_other_settings_leaves_nothing_to_run(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write(1, None, *(f"Paragraph {n} of a longer chapter, with some words in it to fill it." for n in range(30)))
    plain = shelf.chunk()["chunks"]["total"]
    shelf.ran()
    report = shelf.chunk("--out", str(tmp_path / "o.jsonl"), "--target-tokens", "64", "--overlap-tokens", "8")
    assert report["chunks"]["total"] > plain
    assert stale(shelf) == []
    shelf.chunk()
    assert shelf.ran() == {}


def test_a_damaged_stage_output_fails_once_and_comes_back(shelf: Shelf) -> None:
    shelf.chunk()
    before = shelf.out.read_bytes()
    shelf.out.unlink()
    (shelf.home / "storage" / "chunk_embeddings" / "tale" / "ch02.parquet").write_bytes(b"PAR1")
    failed = shelf.chunk(status=3)
    assert (failed["verdict"], failed["chunks"]["total"]) == ("FAILED", 0)
    assert "ch02.parquet is damaged" in failed["warnings"][0]
    assert not shelf.out.exists()
    shelf.chunk()
    assert shelf.out.read_bytes() == before


def test_a_refused_book_is_in_the_json_with_its_faults(shelf: Shelf) -> None:
    shelf.chapter(1).write_text("no front matter", "utf-8")
    shelf.chapter(2).write_bytes(b"\xff")
    refused = shelf.chunk(status=2)
    assert (refused["slug"], refused["status"], refused["verdict"]) == ("tale", 2, "REFUSED")
    assert len(refused["warnings"]) == 2


@pytest.mark.parametrize("damage", ["configuration", "database", "output"])
def test_what_the_machine_does_is_status_3(shelf: Shelf, damage: str) -> None:
    if damage == "configuration":
        shelf.home.mkdir()
        (shelf.home / "dagster.yaml").write_text("telemetry: [", "utf-8")
    elif damage == "database":
        shelf.chunk()
        for path in shelf.home.rglob("index.db*"):
            path.write_bytes(b"no database")
    else:
        shelf.out.parent.write_text("a file where a folder must be", "utf-8")
    result = shelf.run("chunk", "tale")
    assert result.exit_code == 3
    assert result.stderr.strip()
    assert "Traceback" not in result.stderr


def test_a_chapter_that_fails_holds_back_no_other(shelf: Shelf) -> None:
    shelf.chunk()
    for number in (1, 2, 3):
        shelf.write(number, None, "Edited.")
    shelf.chapter(1).unlink()
    with dg.DagsterInstance.get() as instance:
        before = materialized(instance, "parsed_chapter", PARTITIONS)
        with pytest.raises(StageFailed, match="tale/ch01: parsed_chapter"):
            run_stages(instance, defs, ["parsed_chapter"], PARTITIONS)
        after = materialized(instance, "parsed_chapter", PARTITIONS)
        assert {key for key in after if after[key].event != before[key].event} == {"tale/ch02", "tale/ch03"}


def test_only_a_change_of_settings_is_said_to_go_back(shelf: Shelf) -> None:
    shelf.run("chunk", "tale", "--context", "extractive")
    assert "back to" not in shelf.run("chunk", "tale").stderr
    shelf.run("chunk", "tale", "--target-tokens", "100", "--overlap-tokens", "10")
    assert "back to the manifest's settings" in shelf.run("chunk", "tale").stderr


def test_an_override_outlasts_a_look_and_ends_with_a_changed_manifest(shelf: Shelf) -> None:
    shelf.chunk("--target-tokens", "100", "--overlap-tokens", "10")
    with dg.DagsterInstance.get() as instance:
        watch(instance, place(shelf))
    assert stale(shelf) == []
    shelf.manifest(key_of_another_phase=1)
    assert {each["cause"] for each in stale(shelf) if each["stage"] == "recursive_chunks"} == {
        "chapter_settings changed"
    }
    assert shelf.chunk()["tokens"]["target"] == 512


def test_a_look_keeps_off_a_book_at_work(shelf: Shelf) -> None:
    shelf.chunk()
    holder = (
        "import sys; import dagster as dg; from bookchunk_assets.orchestration.lock import book_lock\n"
        "with book_lock(dg.DagsterInstance.get(), 'tale'): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder], cwd=Path(__file__).parent.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        with dg.DagsterInstance.get() as instance, pytest.raises(Busy):
            watch(instance, place(shelf))
        child.kill()
    with dg.DagsterInstance.get() as ours, book_lock(ours, "tale", leave), book_lock(ours, "tale", leave):
        pass  # it died with its holder, and a holder's own runs go on within it


@dataclass
class Automation:
    """What automation asks for, tick by tick."""

    instance: dg.DagsterInstance
    cursor: Any = None

    def asks(self, later: timedelta = timedelta()) -> dict[str, set[str]]:
        result = dg.evaluate_automation_conditions(
            defs, self.instance, cursor=self.cursor, evaluation_time=datetime.now(UTC) + later
        )
        self.cursor = result.cursor
        subsets = {name: result.get_requested_partitions(dg.AssetKey(name)) for name in STAGES}
        return {name: {str(key) for key in subset} for name, subset in subsets.items() if subset}


def run_as_automation(instance: dg.DagsterInstance, partition: str, tags: dict[str, str] | None = None) -> bool:
    """A run of all of a chapter's stages, as automation asks for it."""
    return (
        defs.resolve_implicit_global_asset_job_def()
        .execute_in_process(
            instance=instance,
            asset_selection=[dg.AssetKey(recipe.name) for recipe in RECIPES],
            partition_key=partition,
            tags={FROM_AUTOMATION: "true"} if tags is None else tags,
            run_config=QUIET,
            raise_on_error=False,
        )
        .success
    )


def test_automation_asks_for_a_change_with_all_that_may_follow_and_no_more(shelf: Shelf) -> None:
    shelf.chunk()
    with dg.DagsterInstance.get() as instance:
        automation = Automation(instance)
        assert automation.asks() == {}
        shelf.write(2, None, "Edited.")
        watch(instance, place(shelf))
        assert automation.asks() == {recipe.name: {"tale/ch02"} for recipe in RECIPES}
        shelf.ran()
        assert run_as_automation(instance, "tale/ch02")
        assert shelf.ran() == {recipe.name: {"ch02"} for recipe in RECIPES}
        assert automation.asks() == {"chunks_jsonl": {"tale"}}, "the last stage has looked at the book"
        run_stages(instance, defs, ["chunks_jsonl"], ["tale"], BOOKS)
        assert automation.asks() == {}
    assert "Edited." in shelf.out.read_text("utf-8")


def test_what_comes_out_the_same_stops_a_run_that_automation_asked_for(shelf: Shelf) -> None:
    shelf.chunk()
    shelf.ran()
    path = shelf.chapter(1)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    with dg.DagsterInstance.get() as instance:
        automation = Automation(instance)
        automation.asks()
        watch(instance, place(shelf))
        assert set(automation.asks()) == {recipe.name for recipe in RECIPES}
        assert run_as_automation(instance, "tale/ch01")
        assert shelf.ran() == {"parsed_chapter": {"ch01"}}
        assert automation.asks() == {}
        assert run_as_automation(instance, "tale/ch01", tags={})
        assert set(shelf.ran()) == {recipe.name for recipe in RECIPES}, "who asks by hand gets all"


def test_what_a_chapter_s_failure_holds_back_is_asked_for_again(shelf: Shelf) -> None:
    shelf.chunk()
    with dg.DagsterInstance.get() as instance:
        automation = Automation(instance)
        automation.asks()
        shelf.write(1, None, "Edited.")
        shelf.write(2, None, "Edited too.")
        watch(instance, place(shelf))
        assert set(automation.asks()) == {recipe.name for recipe in RECIPES}
        moved = shelf.chapter(1).rename(shelf.root / "aside.md")
        with pytest.raises(StageFailed):
            run_stages(instance, defs, ["parsed_chapter"], PARTITIONS[:2])
        assert automation.asks() == {recipe.name: {"tale/ch02"} for recipe in RECIPES[1:]}
        assert automation.asks() == {}
        assert automation.asks() == {}, "what fails is not asked for at every tick"
        moved.rename(shelf.chapter(1))
        assert automation.asks(timedelta(hours=1))["parsed_chapter"] == {"tale/ch01"}, "but every hour"


def test_a_chapter_that_is_being_written_is_left_for_the_next_look(shelf: Shelf) -> None:
    shelf.chunk()
    shelf.write(1, None, "Edited.")
    writing, begun = threading.Event(), threading.Event()

    def write_on() -> None:
        while not writing.is_set():
            with shelf.chapter(2).open("a", encoding="utf-8") as file:
                file.write("And on.\n")
            begun.set()
            time.sleep(0.05)

    writer = threading.Thread(target=write_on)
    with dg.DagsterInstance.get() as instance:
        before = observed(instance, "chapter_file", PARTITIONS)
        writer.start()
        begun.wait()
        try:
            (fault,) = watch(instance, place(shelf)).faults
        finally:
            writing.set()
            writer.join()
        assert str(fault) == f"{shelf.chapter(2)}:1: is still being written; left for the next look"
        after = observed(instance, "chapter_file", PARTITIONS)
        assert {key for key in after if after[key] != before[key]} == {"tale/ch01"}
        assert watch(instance, place(shelf)).faults == ()
        assert observed(instance, "chapter_file", PARTITIONS)["tale/ch02"] != before["tale/ch02"]


def test_a_look_goes_on_where_the_last_one_stopped(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOKCHUNK_CORPUS", str(shelf.root / "corpus"))
    for slug in ("saga", "yarn"):
        shelf.another(slug)
    seen: list[str] = []
    with open_instance() as instance:
        cursor = ""
        for _ in range(4):
            looked = look(instance, cursor, budget=0)
            cursor = looked.cursor
            seen.append(Path(cursor).name)
        assert (looked.seen, looked.books) == (1, 3)
        assert seen == ["saga", "tale", "yarn", "saga"]
        looked = look(instance, cursor)
        assert (looked.seen, looked.cursor) == (3, "")


def test_a_broken_book_is_told_and_holds_back_no_other(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOKCHUNK_CORPUS", str(shelf.root / "corpus"))
    (shelf.another("saga") / "saga-book.json").write_text("{", "utf-8")
    with dg.build_sensor_context(instance=open_instance()) as context:
        reason = corpus_sensor(context)
        assert isinstance(reason, dg.SkipReason)
        assert reason.skip_message is not None
        assert reason.skip_message.startswith("looked at 2 of 2 books\n")
        assert "saga-book.json:1:" in reason.skip_message
        assert set(observed(context.instance, "chapter_file", PARTITIONS)) == set(PARTITIONS)


def test_the_schedule_looks_at_the_whole_corpus_nightly(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOKCHUNK_CORPUS", str(shelf.root / "corpus"))
    shelf.another("saga", 2)
    yarn = shelf.another("yarn") / "yarn-ch01.md"
    yarn.write_bytes(b"\xff")
    assert (corpus_schedule.cron_schedule, corpus_schedule.default_status.value) == ("0 3 * * *", "STOPPED")
    with dg.build_schedule_context(instance=open_instance()) as context:
        reason = corpus_schedule(context)
        assert isinstance(reason, dg.SkipReason), "it launches nothing: automation does"
        assert reason.skip_message is not None
        assert reason.skip_message.startswith("looked at 3 of 3 books\n")
        assert "yarn-ch01.md:1: byte 0xff" in reason.skip_message
        chapters = [*PARTITIONS, "saga/ch01", "saga/ch02"]
        assert set(context.instance.get_dynamic_partitions("chapters")) == set(chapters)
        first = observed(context.instance, "chapter_file", chapters)
        shelf.write(2, None, "Edited.")
        shelf.chapter(3).rename(shelf.chapter(4))
        shelf.write(4)
        assert isinstance(corpus_schedule(context), dg.SkipReason)
        now = observed(context.instance, "chapter_file", [*chapters, "tale/ch04"])
        assert {key for key in now if now[key] != first.get(key)} == {"tale/ch02", "tale/ch04"}


def test_a_refused_chapter_holds_back_its_book_and_not_the_sound_chapters(shelf: Shelf) -> None:
    shelf.chunk()
    shelf.ran()
    shelf.chapter(1).write_bytes(b"\xff")
    shelf.write(2, None, "Edited.")
    with dg.DagsterInstance.get() as instance:
        assert len(watch(instance, place(shelf)).faults) == 1
        for recipe in RECIPES:
            run_stages(instance, defs, [recipe.name], ["tale/ch02"])
        watch(instance, place(shelf))
        assert dg.evaluate_automation_conditions(defs, instance).get_requested_partitions(
            dg.AssetKey("chunks_jsonl")
        ) in (None, set())
    assert "Edited." not in shelf.out.read_text("utf-8")
