"""What becomes of a chapter where a server does wrong: the real SDK, no Dagster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bookchunk_assets.chunking.chunker import chunk_groups
from bookchunk_assets.chunking.groups import section_groups
from bookchunk_assets.context.asking import Asking, ChapterJob, Written, write_prefixes
from bookchunk_assets.context.paid import Paid
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.markdown.parse import parse_chapter
from bookchunk_assets.models.budget import Budget
from bookchunk_assets.models.claude import Claude
from bookchunk_assets.models.failure import ModelFailed
from bookchunk_assets.models.journal import Journal
from bookchunk_assets.models.limits import Limits
from bookchunk_tests.claude_server import KEY, Body, ClaudeServer, Fault, is_summary, prompt_of, serving

FAULTS: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "fixtures" / "faults.yaml").read_text("utf-8"))
SETTINGS = Settings("years", "Years", ("A",), context="anthropic")
LIMITS = Limits(calls=4, attempts=4, wait=0.002, longest=0.01, timeout=0.3)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ClaudeServer]:
    with serving() as made:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", made.url)
        yield made


def job(number: int) -> ChapterJob:
    sections = "\n\n".join(f"## Part {n}\n\nIn year {number}0{n} it was so." for n in (1, 2, 3))
    parsed = parse_chapter(f"---\ntitle: C{number}\nchapter: {number}\n---\n{sections}\n".encode(), "book", "a.md")
    chunks = chunk_groups(section_groups(parsed), SETTINGS)
    return ChapterJob(f"years/ch0{number}", SETTINGS, chunks, parsed.text)


def written(path: Path, key: str = KEY) -> dict[str, Written | ModelFailed]:
    with Asking(lambda: Claude(key, LIMITS), LIMITS, Paid([], Journal(path), anew=False), Budget(None)) as asking:
        return {job.name: outcome for job, outcome in write_prefixes(asking, [job(1), job(2)])}


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case["name"])
def test_faults(server: ClaudeServer, case: dict[str, Any], tmp_path: Path) -> None:
    asked: Counter[str] = Counter()
    fault = Fault(**case["fault"])

    def wrong(n: int, body: Body) -> Fault | None:
        prompt = prompt_of(body)
        if is_summary(body) or "year 102" not in prompt:
            return None
        asked[prompt] += 1
        return fault if asked[prompt] <= case["times"] else None

    server.fault = wrong
    outcomes = written(tmp_path / "j.jsonl")
    first, second = outcomes["years/ch01"], outcomes["years/ch02"]
    assert isinstance(second, Written) or (isinstance(first, ModelFailed) and first.final), "other chapters go on"
    assert list(asked.values()) == [case["asked"]]
    if "told" in case:
        assert isinstance(first, ModelFailed)
        assert case["told"] in str(first)
        server.fault = lambda n, body: None
        server.calls()
        again = written(tmp_path / "j.jsonl")
        assert all(isinstance(outcome, Written) for outcome in again.values())
        summaries, prefixes = server.calls()
        assert summaries == 0 or first.final
        assert (summaries + prefixes == 1) or first.final, "nothing that was paid for is lost"
        return
    assert isinstance(first, Written)
    sources = [prefix.source for prefix in first.prefixes]
    assert sources == [
        "claude-haiku-4-5",
        "extractive" if "fallback" in case else "claude-haiku-4-5",
        "claude-haiku-4-5",
    ]
    assert len(first.warnings) == ("fallback" in case)
    assert case.get("fallback", "") in "".join(first.warnings)
    assert first.generated == 3


def test_a_wrong_key_is_told_once_and_stops_the_run(server: ClaudeServer, tmp_path: Path) -> None:
    outcomes = written(tmp_path / "j.jsonl", "another-key")
    assert {str(outcome)[:24] for outcome in outcomes.values()} == {"401 authentication_error"}
    assert len(server.paths) <= 2


def test_a_refused_answer_is_not_asked_for_a_third_time(server: ClaudeServer, tmp_path: Path) -> None:
    server.fault = lambda n, body: Fault(text="") if "year 102" in prompt_of(body) and not is_summary(body) else None
    written(tmp_path / "j.jsonl")
    server.calls()
    again = written(tmp_path / "j.jsonl")["years/ch01"]
    assert server.calls() == (0, 0)
    assert isinstance(again, Written)
    assert [prefix.source for prefix in again.prefixes].count("extractive") == 1


def test_a_summary_that_is_refused_is_done_without(server: ClaudeServer, tmp_path: Path) -> None:
    server.fault = lambda n, body: Fault(text="") if is_summary(body) else None
    outcome = written(tmp_path / "j.jsonl")["years/ch01"]
    assert isinstance(outcome, Written)
    assert len(outcome.warnings) == 1
    assert "without a summary" in outcome.warnings[0]
    assert all("<summary>\n" not in prompt_of(body) for body in server.requests)


def test_the_cache_is_used_where_a_model_has_one_for_so_short_a_start(server: ClaudeServer, tmp_path: Path) -> None:
    server.answer = lambda body: (
        "A summary of some length that goes on. " * 60 if is_summary(body) else "It is so. " * 12
    )
    one = job(1)
    one.settings = Settings(
        "years", "Years upon years " * 10, ("A",), context="anthropic", context_model="claude-haiku-5-5"
    )
    paid = Paid([], Journal(tmp_path / "j.jsonl"), anew=False)
    with Asking(lambda: Claude(KEY, LIMITS), LIMITS, paid, Budget(None)) as asking:
        list(write_prefixes(asking, [one]))
    used = one.spend["claude-haiku-5-5"]
    assert used.cache_write > 400
    assert used.cache_read == 2 * used.cache_write


def test_a_run_that_is_left_keeps_what_is_under_way(server: ClaudeServer, tmp_path: Path) -> None:
    server.latency = 0.02
    jobs = [job(number) for number in range(1, 7)]

    def asking() -> Asking:
        return Asking(
            lambda: Claude(KEY, LIMITS), LIMITS, Paid([], Journal(tmp_path / "j.jsonl"), anew=False), Budget(None)
        )

    left = write_prefixes(asking(), jobs)
    next(left)
    left.close()
    before = len(server.requests)
    assert 4 <= before < 24
    assert len(list(write_prefixes(asking(), jobs))) == 6
    assert len(server.requests) == 24, "each question once"
