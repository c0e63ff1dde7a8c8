"""The command and a run from the UI, on one book: each waits while the other works on it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import dagster as dg
import pytest

from bookchunk_assets.assets.chapter import RECIPES
from bookchunk_assets.cli.instance import open_instance
from bookchunk_tests.claude_server import KEY, Body, answer_to, serving
from bookchunk_tests.claude_shelf import command
from bookchunk_tests.conftest import Shelf
from bookchunk_tests.system.served import LIMIT, Served

STAGES = [recipe.name for recipe in RECIPES]


def test_the_command_and_a_run_from_the_ui_wait_for_each_other(
    shelf: Shelf, serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, gate = threading.Event(), threading.Event()

    def held_back(body: Body) -> str:
        """A model that answers once the gate is open: whoever asks stands in the middle of the book."""
        asked.set()
        assert gate.wait(LIMIT)
        return answer_to(body)

    with serving() as server, open_instance() as instance:
        server.answer = held_back
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("BOOKCHUNK_MODEL_TIMEOUT", str(LIMIT))
        served = serve(sensors=False)

        def began(backfill: str) -> str | None:
            """The backfill's run, once its first step has begun."""
            runs = instance.get_runs(dg.RunsFilter(tags={"dagster/backfill": backfill}))
            return next((run.run_id for run in runs if of(run.run_id, dg.DagsterEventType.STEP_START)), None)

        def of(run: str, kind: dg.DagsterEventType) -> list[float]:
            return [entry.timestamp for entry in instance.all_logs(run, of_type=kind)]

        with command(shelf, "--context", "anthropic") as ours:
            assert asked.wait(LIMIT), "the command at work"
            backfill = served.backfill(["parsed_chapter"], ["tale/ch01", "tale/ch02", "tale/ch03"])
            run = served.until("a run from the UI", lambda: began(backfill))
            assert ours.poll() is None
            assert not of(run, dg.DagsterEventType.ASSET_MATERIALIZATION)
            gate.set()
            ours.communicate(timeout=LIMIT)
            assert ours.returncode == 0
        served.until("the run's end", lambda: served.backfilled(backfill))
        wrote = instance.fetch_materializations(dg.AssetKey("chunks_jsonl"), limit=1).records[0].timestamp
        assert wrote < min(of(run, dg.DagsterEventType.ASSET_MATERIALIZATION)), "the command had its book to itself"

        gate.clear()
        asked.clear()
        shelf.write(2, None, "Edited, while nobody looks.")
        backfill = served.backfill(STAGES, ["tale/ch02"])
        assert asked.wait(LIMIT), "a run from the UI at work"
        with command(shelf) as ours:
            assert ours.stderr is not None
            assert "another process works on it; waiting" in ours.stderr.readline()
            assert ours.poll() is None
            gate.set()
            ours.communicate(timeout=LIMIT)
            assert ours.returncode == 0
        served.until("the run's end", lambda: served.backfilled(backfill))
    assert "Edited, while nobody looks." in shelf.out.read_text("utf-8")
