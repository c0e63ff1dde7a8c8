"""Prefixes by Claude from outside: the real SDK against a local server, and what is paid for when."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator

import dagster as dg
import pytest

from bookchunk_assets.assets.chapter import RECIPES
from bookchunk_assets.corpus.targets import Place
from bookchunk_assets.definitions import defs
from bookchunk_assets.models.journal import Journal
from bookchunk_assets.orchestration.partitions import BOOKS
from bookchunk_assets.orchestration.provenance import last_metadata, materialized
from bookchunk_assets.orchestration.reconcile import watch
from bookchunk_assets.orchestration.runs import run_stages
from bookchunk_tests.claude_server import KEY, Body, ClaudeServer, Fault, is_summary, prompt_of, serving
from bookchunk_tests.claude_shelf import CHAPTERS, PLANTED, SECTIONS, command, write_book, write_chapter
from bookchunk_tests.conftest import Shelf

CHUNKS = CHAPTERS * SECTIONS
AT_ONCE = 8


@pytest.fixture
def claude(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClaudeServer]:
    write_book(shelf)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("BOOKCHUNK_MODEL_WAIT", "0.01")
    monkeypatch.setenv("BOOKCHUNK_MODEL_LONGEST", "0.05")
    monkeypatch.setenv("BOOKCHUNK_MODEL_TIMEOUT", "60")
    with serving() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server


def test_what_is_paid_for_when(shelf: Shelf, claude: ClaudeServer) -> None:
    claude.latency = 0.01
    report = shelf.chunk()
    assert claude.calls() == (CHAPTERS, CHUNKS)
    assert claude.most_under_way <= AT_ONCE
    assert report["context"] == {
        "dollars": pytest.approx(claude.dollars(), abs=1e-6),
        "generated": CHUNKS,
        "reused": 0,
        "model": "claude-haiku-4-5",
    }
    assert {record["metadata"]["prefix_source"] for record in shelf.records()} == {"claude-haiku-4-5"}
    first = shelf.out.read_bytes()
    assert not list((shelf.home / "paid").glob("*")), "the journal is empty once the store has the answers"

    assert shelf.chunk()["context"]["reused"] == CHUNKS
    again = shelf.chunk("--no-changed-only")["context"]
    assert (again["dollars"], again["generated"], again["reused"]) == (0.0, 0, CHUNKS)
    assert claude.calls() == (0, 0)
    assert shelf.out.read_bytes() == first

    path = shelf.chapter(2)
    path.write_text(path.read_text("utf-8").replace("<!-- page: 2 -->", "<!-- page: 22 -->"), "utf-8")
    shelf.chunk()
    path.write_text(path.read_text("utf-8").replace("year 1085", "year <!-- page: 23 -->1085"), "utf-8")
    shelf.chunk()
    assert claude.calls() == (0, 0), "a moved page marker"

    write_chapter(shelf, 3, s4="An edited paragraph.")
    assert shelf.chunk()["context"]["generated"] == 1
    assert claude.calls() == (1, 1), "an edited paragraph"
    write_chapter(shelf, 3)
    shelf.chunk()
    assert claude.calls() == (0, 0), "an edit taken back"

    write_chapter(shelf, 4, "Another Title")
    shelf.chunk()
    assert claude.calls() == (1, SECTIONS), "a chapter's title"
    path = shelf.chapter(5)
    path.write_text(path.read_text("utf-8").replace("chapter: 5", "chapter: 50"), "utf-8")
    shelf.chunk()
    assert claude.calls() == (0, 0), "a chapter's number"
    shelf.manifest(title="A Tale", rag={"context_model": "claude-haiku-5-5"})
    shelf.chunk()
    assert claude.calls() == (CHAPTERS, CHUNKS), "the model"
    assert shelf.chunk("--refresh-context")["context"]["generated"] == CHUNKS
    assert claude.calls() == (CHAPTERS, CHUNKS), "asked anew"


def test_a_changed_prompt_asks_for_prefixes_alone(shelf: Shelf, claude: ClaudeServer) -> None:
    shelf.chunk()
    shelf.ran()
    claude.calls()
    newer = (
        "from bookchunk_assets.context import prompts\n"
        "prompts.PREFIX = prompts.PREFIX.replace('to improve', 'to help')\n"
        "prompts.VERSION = prompts._version(prompts.PREFIX)"
    )
    child = command(shelf, before=newer)
    _, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    assert claude.calls() == (0, CHUNKS)
    assert set(shelf.ran()) == {"context_prefixes"}, "the same answers: nothing after them runs"
    stale = json.loads(shelf.run("status", "tale", "--json").stdout)
    assert {each["stage"] for each in stale if "its code changed" in each["cause"]} == {"context_prefixes"}
    assert {each["stage"] for each in stale} == {"context_prefixes", "chunk_embeddings", "chunks_jsonl"}


@pytest.mark.parametrize("call", [3, 30])
def test_a_killed_run_pays_again_for_the_calls_in_flight_alone(shelf: Shelf, claude: ClaudeServer, call: int) -> None:
    claude.latency = 0.02
    child = command(shelf)

    def killed(n: int, body: Body) -> Fault | None:
        if claude.answered >= call:
            child.send_signal(signal.SIGKILL)
        return None

    claude.fault = killed
    child.communicate(timeout=120)
    assert child.returncode == -signal.SIGKILL
    kept = bool(list(Journal(shelf.home / "paid" / "tale.jsonl")))
    assert kept or call < AT_ONCE  # the first answers may not have come home
    assert ("a run that was cut off had paid $0.0" in "".join(shelf.chunk()["warnings"])) == kept
    summaries, prefixes = claude.calls()
    assert CHUNKS + CHAPTERS <= summaries + prefixes <= CHUNKS + CHAPTERS + AT_ONCE
    shelf.chunk("--no-changed-only")
    assert claude.calls() == (0, 0)


def test_the_first_call_of_a_chapter_goes_alone(shelf: Shelf, claude: ClaudeServer) -> None:
    write_book(shelf, 1)
    claude.latency = 0.05
    seen: list[int] = []
    claude.fault = lambda n, body: seen.append(claude.under_way)
    shelf.chunk()
    assert seen[:2] == [1, 1]
    assert max(seen) > 1


def test_batches_give_the_same_for_half(shelf: Shelf, claude: ClaudeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.chunk()
    at_once, price = shelf.out.read_bytes(), claude.dollars()
    claude.usage.clear()
    claude.calls()
    monkeypatch.setenv("DAGSTER_HOME", str(shelf.root / "another"))
    shelf.out.unlink()
    expired = [0]

    def one_in_ten(body: Body) -> bool:
        expired[0] += not is_summary(body)
        return not is_summary(body) and expired[0] % 10 == 0

    claude.expired = one_in_ten
    report = shelf.chunk("--context-mode", "batch")
    assert shelf.out.read_bytes() == at_once
    assert len(claude.batches) == 2
    assert report["context"]["generated"] == CHUNKS
    assert report["context"]["dollars"] == pytest.approx(claude.dollars(), abs=1e-6)
    assert set(claude.usage) == {"claude-haiku-4-5", "claude-haiku-4-5/batch"}
    assert (
        claude.usage["claude-haiku-4-5"]["output_tokens"]
        < 0.2 * claude.usage["claude-haiku-4-5/batch"]["output_tokens"]
    )
    assert claude.dollars() < 0.6 * price


def test_a_batch_is_picked_up_by_the_next_run(shelf: Shelf, claude: ClaudeServer) -> None:
    claude.polls = 10**9
    child = command(shelf, "--context-mode", "batch")
    while not any(batch["polls"] > 2 for batch in list(claude.batches.values())):
        assert child.poll() is None, child.communicate()[1]
        time.sleep(0.02)
    child.kill()
    child.communicate()
    claude.polls = 0
    shelf.chunk("--context-mode", "batch")
    assert claude.calls() == (CHAPTERS, CHUNKS)
    assert len(claude.batches) == 2
    assert "/v1/messages" not in claude.paths


def test_a_batch_that_is_gone_or_ended_holds_up_no_later_run(shelf: Shelf, claude: ClaudeServer) -> None:
    write_book(shelf, 1)
    claude.polls = 10**9
    child = command(shelf, "--context-mode", "batch")
    while not any(batch["polls"] for batch in list(claude.batches.values())):
        assert child.poll() is None, child.communicate()[1]
        time.sleep(0.02)
    child.kill()
    child.communicate()
    claude.polls = 0
    shelf.chunk()
    assert claude.calls() == (1, SECTIONS), "the summary was there to be collected, without a batch for the rest"
    assert claude.paths.count("/v1/messages") == SECTIONS
    shelf.manifest(title="Another")
    journal = shelf.home / "paid" / "tale.jsonl"
    journal.parent.mkdir(exist_ok=True)
    journal.write_text('{"batch": "msgbatch_of_old", "open": true}\n', "utf-8")
    shelf.chunk("--context-mode", "batch")
    assert not journal.exists()


def test_a_batch_whose_name_never_came_is_found(shelf: Shelf, claude: ClaudeServer) -> None:
    claude.fault = lambda n, body: Fault(status=0) if "requests" in body else None
    shelf.chunk("--context-mode", "batch")
    assert claude.calls() == (CHAPTERS, CHUNKS)
    assert len(claude.batches) == 2
    claude.fault = lambda n, body: None
    write_chapter(shelf, 3, s4="An edited paragraph.")
    child = command(shelf, "--context-mode", "batch")

    def killed(n: int, body: Body) -> Fault | None:
        if "requests" in body:
            child.send_signal(signal.SIGKILL)
            return Fault(status=0)
        return None

    claude.fault = killed
    child.communicate(timeout=120)
    claude.fault = lambda n, body: None
    shelf.chunk("--context-mode", "batch")
    assert claude.calls() == (1, 1)
    assert len(claude.batches) == 4


def test_results_are_fetched_from_the_base_url_s_host_alone(shelf: Shelf, claude: ClaudeServer) -> None:
    with serving() as elsewhere:
        claude.results_host = elsewhere.url
        failed = shelf.chunk("--context-mode", "batch", status=3)
        assert elsewhere.paths == []
    assert "not followed" in failed["warnings"][0]
    claude.results_host = None
    shelf.chunk("--context-mode", "batch")
    assert claude.calls() == (CHAPTERS, CHUNKS)


def test_a_budget_stops_before_it_is_exceeded_and_keeps_what_was_paid(shelf: Shelf, claude: ClaudeServer) -> None:
    failed = shelf.chunk("--max-cost", "0.02", status=3)
    assert 0.01 < claude.dollars() <= 0.02
    assert failed["context"]["dollars"] == pytest.approx(claude.dollars(), abs=1e-6)
    assert "--max-cost $0.02" in failed["warnings"][0]
    assert len(failed["warnings"]) == 1
    assert not shelf.out.exists()
    shelf.chunk()
    summaries, prefixes = claude.calls()
    assert (summaries, prefixes) == (CHAPTERS, CHUNKS)


def test_a_budget_holds_though_a_server_charges_more_than_a_prompt_can_have(shelf: Shelf, claude: ClaudeServer) -> None:
    claude.answer = lambda body: "A word of it, " * 900 + "and an end."
    shelf.chunk("--max-cost", "0.2", status=3)
    assert claude.dollars() <= 0.2
    assert claude.answered > 2


def test_without_the_key_nothing_is_replaced(
    shelf: Shelf, claude: ClaudeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.chunk()
    before = shelf.out.read_bytes()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "")
    claude.calls()
    path = shelf.chapter(1)
    path.write_text(path.read_text("utf-8").replace("<!-- page: 1 -->", "<!-- page: 11 -->"), "utf-8")
    assert shelf.chunk()["context"]["reused"] == CHUNKS, "what needs no call goes on"
    before = shelf.out.read_bytes()
    write_chapter(shelf, 3, s4="An edited paragraph.")
    failed = shelf.chunk(status=3)
    assert "ANTHROPIC_API_KEY is not set" in failed["warnings"][0]
    assert "--context extractive" in failed["warnings"][0]
    assert shelf.out.read_bytes() == before
    assert shelf.chunk("--context", "extractive")["context"]["model"] == "extractive"
    assert shelf.chunk()["context"]["model"] == "extractive", "recorded"
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert shelf.chunk()["context"]["model"] == "extractive", "a key alone switches no book"
    assert shelf.chunk("--context", "anthropic")["context"]["generated"] == 1
    assert claude.calls() == (1, 1), "what was paid for before is still there"


def test_an_aside_pays_and_keeps(shelf: Shelf, claude: ClaudeServer) -> None:
    shelf.chunk("--out", str(shelf.root / "aside.jsonl"))
    assert claude.calls() == (CHAPTERS, CHUNKS)
    shelf.chunk()
    shelf.chunk("--out", str(shelf.root / "aside.jsonl"))
    assert claude.calls() == (0, 0)


def test_what_it_would_cost(shelf: Shelf, claude: ClaudeServer) -> None:
    told = json.loads(shelf.run("status", "tale", "--cost", "--json").stdout)["cost"][0]
    assert "65 calls" in shelf.run("status", "tale", "--cost").stdout
    assert claude.paths == []
    shelf.chunk()
    assert told["calls"] == len(claude.requests)
    assert told["input_tokens"] == pytest.approx(claude.usage["claude-haiku-4-5"]["input_tokens"], rel=0.3)
    assert told["dollars"] == pytest.approx(claude.dollars(), rel=0.3)
    told = json.loads(shelf.run("status", "tale", "--cost", "--json").stdout)["cost"][0]
    assert (told["calls"], told["dollars"]) == (0, 0.0)


def test_no_key_passage_or_prompt_is_told_anywhere(
    shelf: Shelf, claude: ClaudeServer, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_LOG", "debug")
    write_chapter(shelf, 2, s3=PLANTED)

    def echoes(n: int, body: Body) -> Fault | None:
        prompt = prompt_of(body)
        return (
            Fault(400, "invalid_request_error", f"{KEY}: {prompt}")
            if PLANTED in prompt and not is_summary(body)
            else None
        )

    claude.fault = echoes
    child = command(shelf)
    told = "".join(child.communicate(timeout=120))
    assert child.returncode == 3
    assert "tale/ch02" in told
    with dg.DagsterInstance.get() as instance:
        made = materialized(instance, "context_prefixes", [f"tale/ch{n:02d}" for n in range(1, CHAPTERS + 1)])
    assert set(made) == {"tale/ch01", "tale/ch03", "tale/ch04", "tale/ch05"}, "other chapters go on"
    claude.fault = lambda n, body: None
    told += "".join(command(shelf).communicate(timeout=120))
    result = shelf.run("chunk", "tale")
    told += result.output + "".join(capfd.readouterr())
    files = [
        path for path in shelf.home.rglob("*") if path.is_file() and "storage" not in path.relative_to(shelf.home).parts
    ]
    assert len(files) > 5
    for secret in (KEY, PLANTED, "left-handed beekeeper", "You are generating"):
        assert secret not in told
        for path in files:
            assert secret.encode() not in path.read_bytes(), path


def test_an_answer_of_no_use_is_a_warning_for_as_long_as_it_stands(shelf: Shelf, claude: ClaudeServer) -> None:
    write_book(shelf, 1)
    claude.fault = lambda n, body: Fault(text="") if "year 1043" in prompt_of(body) and not is_summary(body) else None
    report = shelf.chunk()
    assert report["context"]["generated"] == SECTIONS
    assert [warning.partition(" (request")[0] for warning in report["warnings"]] == [
        f"1 of {SECTIONS} prefixes are extractive: claude-haiku-4-5 gave no answer of use",
        "tale-ch01-0003: claude-haiku-4-5 gave an empty answer",
    ]
    assert [record["metadata"]["prefix_source"] for record in shelf.records()].index("extractive") == 2
    claude.calls()
    assert len(shelf.chunk("--no-changed-only")["warnings"]) == 1
    assert claude.calls() == (0, 0)


def test_an_unknown_model_is_unpriced_and_not_free(shelf: Shelf, claude: ClaudeServer) -> None:
    write_book(shelf, 1)
    shelf.manifest(rag={"context_model": "claude-of-tomorrow"})
    assert "claude-of-tomorrow, unpriced" in shelf.run("status", "tale", "--cost").stdout
    assert "no price of claude-of-tomorrow is known" in shelf.chunk("--max-cost", "1", status=3)["warnings"][0]
    assert claude.paths == []
    report = shelf.run("chunk", "tale").stdout
    assert f"unpriced in API spend ({SECTIONS} generated, 0 reused, claude-of-tomorrow)" in report
    assert shelf.chunk()["context"]["dollars"] == 0.0, "nothing was asked for"


def test_a_run_of_dagster_s_own_reports_what_the_file_has_cost(shelf: Shelf, claude: ClaudeServer) -> None:
    shelf.chunk()
    claude.usage.clear()
    write_chapter(shelf, 2, s3="An edited paragraph.")
    with dg.DagsterInstance.get() as instance:
        place = Place(shelf.book, shelf.root / "corpus")
        watch(instance, place)
        for recipe in RECIPES:
            run_stages(instance, defs, [recipe.name], ["tale/ch02"])
        watch(instance, place)
        run_stages(instance, defs, ["chunks_jsonl"], ["tale"], BOOKS)
        told = last_metadata(instance, "context_prefixes", "tale/ch02")
    report = json.loads((shelf.out.parent / "report.json").read_bytes())
    assert report["context"]["generated"] == told["generated"] == 1
    assert report["context"]["dollars"] == pytest.approx(claude.dollars(), abs=1e-6)
    assert report["spend"]["claude-haiku-4-5"]["output"] == claude.usage["claude-haiku-4-5"]["output_tokens"]
    assert told["dollars"] == pytest.approx(claude.dollars())
