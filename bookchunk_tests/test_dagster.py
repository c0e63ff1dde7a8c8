"""What runs, on a real instance, after each kind of change; told by Dagster's own records."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest

from bookchunk_assets.assets.chapter import RECIPES
from bookchunk_assets.cli.instance import CONFIG
from bookchunk_assets.definitions import defs
from bookchunk_assets.orchestration import staleness
from bookchunk_tests.conftest import STAGES, Shelf

ALL = {"ch01", "ch02", "ch03"}


def every(chapters: set[str]) -> dict[str, set[str]]:
    return {recipe.name: chapters for recipe in RECIPES} | {"chunks_jsonl": {"tale"}}


def test_a_first_run_makes_everything_and_a_second_nothing(shelf: Shelf) -> None:
    report = shelf.chunk()
    assert (report["verdict"], report["chunks"]["added"]) == ("PASS", 6)
    assert shelf.ran() == every(ALL)
    before = shelf.out.read_bytes()
    report = shelf.chunk()
    assert (report["chunks"]["unchanged"], report["chunks"]["added"]) == (6, 0)
    assert shelf.ran() == {}
    assert shelf.out.read_bytes() == before


def test_an_edited_paragraph_runs_its_chapter_alone(shelf: Shelf) -> None:
    shelf.chunk()
    shelf.ran()
    shelf.write(2, None, "This is what chapter 2 says now.", "And it says one thing more.")
    report = shelf.chunk()
    assert shelf.ran() == every({"ch02"})
    assert report["chunks"] | {"moved": 0} == {
        "total": 6, "added": 0, "modified": 1, "moved": 0, "removed": 0, "unchanged": 5,
    }  # fmt: skip


def test_line_endings_byte_order_mark_and_normal_form_stop_at_the_parse(shelf: Shelf) -> None:
    shelf.write(1, "Café", "Déjà vu.")
    shelf.chunk()
    shelf.ran()
    before = shelf.out.read_bytes()
    path = shelf.chapter(1)
    text = path.read_text("utf-8").replace("é", "e\u0301").replace("\n", "\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    shelf.chunk()
    assert shelf.ran() == {"parsed_chapter": {"ch01"}}
    assert shelf.out.read_bytes() == before


def test_a_moved_page_marker_changes_pages_and_no_text(shelf: Shelf) -> None:
    shelf.chunk()
    texts = [record["text"] for record in shelf.records()]
    path = shelf.chapter(1)
    path.write_text(path.read_text("utf-8").replace("page: 1 ", "page: 11 "), "utf-8")
    shelf.chunk()
    assert [record["text"] for record in shelf.records()] == texts
    assert {record["page_start"] for record in shelf.records() if record["chapter"] == 1} == {11}


def test_added_removed_and_renumbered_chapters(shelf: Shelf) -> None:
    shelf.chunk()
    shelf.ran()
    shelf.write(4)
    assert shelf.chunk()["chunks"]["added"] == 2
    assert shelf.ran() == every({"ch04"})
    shelf.chapter(4).unlink()
    assert shelf.chunk()["chunks"]["removed"] == 2
    assert shelf.ran() == {"chunks_jsonl": {"tale"}}
    path = shelf.chapter(3)
    path.write_text(path.read_text("utf-8").replace("chapter: 3", "chapter: 7"), "utf-8")
    report = shelf.chunk()
    assert shelf.ran() == every({"ch07"})
    assert (report["chunks"]["moved"], report["chunks"]["removed"]) == (2, 2)
    assert shelf.records()[-1]["id"] == "tale-ch07-0002"


def test_a_changed_rule_runs_what_it_made_and_stops_where_nothing_changes(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.chunk()
    shelf.ran()
    with dg.DagsterInstance.get() as instance:
        from bookchunk_assets.orchestration.home import store_of

        partitions = [f"tale/{key}" for key in sorted(ALL)]
        newer = staleness.Recipe("section_groups", "another", ("parsed_chapter",))
        causes = staleness.stale(instance, store_of(instance), newer, partitions)
        assert set(causes) == set(partitions)
        assert "its code changed" in causes["tale/ch01"]
        assert not staleness.stale(instance, store_of(instance), RECIPES[1], partitions)


def test_a_title_goes_through_to_the_prefixes_without_a_parse(shelf: Shelf) -> None:
    shelf.chunk()
    shelf.ran()
    shelf.manifest(title="Another Tale")
    shelf.chunk()
    ran = shelf.ran()
    assert set(ran) == {"recursive_chunks", "context_prefixes", "chunk_embeddings", "chunks_jsonl"}
    assert all("Another Tale" in record["context_prefix"] for record in shelf.records())


@pytest.mark.parametrize("damage", ["gone", "cut", "garbage"])
def test_a_damaged_output_comes_back(shelf: Shelf, damage: str) -> None:
    shelf.chunk()
    shelf.ran()
    before = shelf.out.read_bytes()
    if damage == "gone":
        shelf.out.unlink()
    else:
        shelf.out.write_bytes(before[:-20] if damage == "cut" else b"garbage")
    report = shelf.chunk()
    assert shelf.out.read_bytes() == before
    assert shelf.ran() == {"chunks_jsonl": {"tale"}}
    if damage != "gone":
        assert shelf.out.with_name("chunks.jsonl.bad").exists()
        assert any("chunks.jsonl.bad" in warning for warning in report["warnings"])


def test_a_wiped_stage_and_a_lost_stage_output_run_again(shelf: Shelf) -> None:
    shelf.chunk()
    shelf.ran()
    with dg.DagsterInstance.get() as instance:
        instance.wipe_assets([dg.AssetKey("recursive_chunks")])
    (shelf.home / "storage" / "section_groups" / "tale" / "ch03.parquet").unlink()
    shelf.chunk()
    ran = shelf.ran()
    assert (ran["recursive_chunks"], ran["section_groups"]) == (ALL, {"ch03"})
    assert "chunks_jsonl" not in ran


def test_no_changed_only_runs_every_stage(shelf: Shelf) -> None:
    shelf.chunk()
    shelf.ran()
    before = shelf.out.read_bytes()
    shelf.chunk("--no-changed-only")
    assert shelf.ran() == every(ALL)
    assert shelf.out.read_bytes() == before


def test_overrides_last_until_the_next_plain_run(shelf: Shelf) -> None:
    shelf.write(1, None, *(f"Paragraph {n} of a longer chapter, with some words in it to fill it." for n in range(30)))
    plain = shelf.chunk()["chunks"]["total"]
    small = shelf.chunk("--target-tokens", "100", "--overlap-tokens", "10")
    assert small["tokens"]["target"] == 100
    assert small["chunks"]["total"] > plain
    result = shelf.run("chunk", "tale")
    assert "back to the manifest's settings" in result.stderr
    assert f"Total chunks:        {plain} " in result.stdout


def test_the_ui_can_materialise_what_the_command_made_known(shelf: Shelf) -> None:
    shelf.chunk()
    shelf.write(1, None, "Edited.")
    shelf.out.with_name("report.json").unlink()
    job = defs.resolve_implicit_global_asset_job_def()
    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    with dg.DagsterInstance.get() as instance:
        chapter = [dg.AssetKey(recipe.name) for recipe in RECIPES]
        assert job.execute_in_process(
            instance=instance, asset_selection=chapter, partition_key="tale/ch01", run_config=quiet
        ).success
        observed = job.execute_in_process(
            instance=instance, asset_selection=[dg.AssetKey("book_chapters")], partition_key="tale", run_config=quiet
        )
        assert observed.success
        result = job.execute_in_process(
            instance=instance, asset_selection=[dg.AssetKey("chunks_jsonl")], partition_key="tale", run_config=quiet
        )
        assert result.success
        evaluations = result.get_asset_check_evaluations()
        assert {evaluation.check_name for evaluation in evaluations} >= {"schema_valid", "source_covered"}
        assert all(evaluation.passed for evaluation in evaluations if evaluation.check_name != "token_sum")
    assert "Edited." in shelf.out.read_text("utf-8")
    assert '"verdict": "PASS"' in shelf.out.with_name("report.json").read_text("utf-8")
    shelf.ran()
    shelf.chunk()
    assert shelf.ran() == {}, "what the UI made, the command sees as done"


@pytest.mark.parametrize("seed", [1, 2])
def test_a_killed_run_is_finished_by_the_next(shelf: Shelf, seed: int) -> None:
    wait = random.Random(seed)
    command = [
        sys.executable,
        "-c",
        "from bookchunk_assets.cli import main; main()",
        "chunk",
        str(shelf.book),
        "--quiet",
    ]
    root = str(Path(__file__).parent.parent)
    for number in range(4, 30):
        shelf.write(number)
    for _ in range(2):
        child = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": root}, stderr=subprocess.DEVNULL)
        time.sleep(wait.uniform(1.0, 4.0))
        child.send_signal(signal.SIGKILL)
        child.wait()
        if shelf.out.exists():
            assert shelf.out.read_bytes().endswith(b"}\n")
    shelf.chunk()
    finished = shelf.out.read_bytes()
    shelf.chunk("--no-changed-only")
    assert shelf.out.read_bytes() == finished
    assert len(shelf.records()) == 58
    assert not list(shelf.out.parent.glob(".*.part"))


def test_the_shipped_configuration_is_the_one_that_a_new_home_gets() -> None:
    shipped = Path(__file__).parent.parent / "dagster_home" / "dagster.yaml"
    assert shipped.read_text("utf-8") == CONFIG


def test_stages_are_the_contract_s() -> None:
    assert STAGES == (
        "parsed_chapter", "section_groups", "recursive_chunks", "context_prefixes", "chunk_embeddings", "chunks_jsonl",
    )  # fmt: skip
