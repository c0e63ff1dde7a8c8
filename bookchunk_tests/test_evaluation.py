"""Metrics by hand, ways to retrieve, and the command and the asset on a small book."""

from __future__ import annotations

import json
from pathlib import Path

import dagster as dg
import numpy as np
import pytest

from bookchunk_assets.corpus.faults import Refused
from bookchunk_assets.definitions import defs
from bookchunk_assets.evaluation.intervals import interval
from bookchunk_assets.evaluation.metrics import Extent, first_hit, precision_omega, score
from bookchunk_assets.evaluation.questions import read_questions
from bookchunk_assets.evaluation.retrieval import bm25_scores, rank_fusion, ranks, score_fusion, words
from bookchunk_tests.conftest import Shelf

A, B, C = Extent("a", (0, 100)), Extent("a", (90, 200)), Extent("b", (0, 100))


def test_scores_by_hand() -> None:
    got = score("a", [(50, 150), (300, 320)], [A, C])
    assert got.found == 0.5  # half of the first, none of the second
    assert got.covered == pytest.approx(50 / 120)
    assert got.precision == pytest.approx(50 / 200)
    assert got.iou == pytest.approx(50 / (200 + 120 - 50))
    both = score("a", [(50, 150)], [A, B])
    assert (both.found, both.covered, both.precision) == (1.0, 1.0, pytest.approx(0.5))
    assert score("a", [(0, 10), (5, 20)], []).covered == 0


def test_rank_and_omega_by_hand() -> None:
    assert first_hit("a", [(120, 130)], [C, A, B]) == pytest.approx(1 / 3)
    assert first_hit("a", [(500, 510)], [C, A, B]) == 0
    assert precision_omega("a", [(95, 105)], [A, B, C]) == pytest.approx(10 / 200)


def test_fusion_by_hand() -> None:
    one, other = np.array([[3, 2, 1]], np.float32), np.array([[0, 10, 5]], np.float32)
    assert ranks(one).tolist() == [[1, 2, 3]]
    assert ranks(np.zeros((1, 3), np.float32)).tolist() == [[1, 2, 3]]
    assert np.allclose(rank_fusion(one, other), [[1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 63 + 1 / 62]])
    assert np.allclose(score_fusion(one, other, 0.75), [[0.75, 0.625, 0.125]])
    assert np.isfinite(score_fusion(np.zeros_like(one), other, 0.5)).all()


def test_words_find_their_texts() -> None:
    assert words("The Cats, 3 of them") == ["the", "cats", "3", "of", "them"]
    assert words("ตลาด") == ["ตล", "ลา", "าด"]
    scores = bm25_scores(["a cat sat", "a dog ran", "ตลาดเช้าขายมะม่วง"], ["the dog", "มะม่วง", "zebra"])
    assert scores[:2].argmax(axis=1).tolist() == [1, 2]
    assert not scores[2].any()


def test_an_interval_holds_the_mean_and_narrows() -> None:
    few, many = (np.tile([0.0, 1.0], n) for n in (10, 1000))
    low, high = interval(few)
    assert low < 0.5 < high
    assert np.subtract(*interval(many)[::-1]) < (high - low) / 5
    assert interval(few) == (low, high)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "no JSON"),
        ('{"question": "Q", "chapter": 1, "references": []}', "references: "),
        ('{"question": "Q", "chapter": 1, "references": [{"start": 5, "end": 5}]}', "ends where it starts"),
        ('{"question": "Q", "references": [{"start": 1, "end": 5}]}', "give `document` or `chapter`"),
        ('{"question": "Q", "chapter": "1", "references": [{"start": 1, "end": 5}]}', "chapter: "),
        ("", "no questions"),
    ],
)
def test_questions_that_are_none(tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(line, "utf-8")
    with pytest.raises(Refused, match=told) as refused:
        read_questions(path)
    assert str(refused.value).startswith(f"{path}:1: ")


def asked(shelf: Shelf, chapter: int = 2) -> Path:
    text = shelf.chapter(2).read_text("utf-8")
    start = text.index("This is what chapter 2 says")
    path = shelf.book / "questions.jsonl"
    question = {
        "question": "What does chapter 2 say?",
        "chapter": chapter,
        "references": [{"start": start, "end": start + 27}],
    }
    path.write_text(json.dumps(question) + "\n", "utf-8")
    return path


def test_the_command(shelf: Shelf) -> None:
    path = asked(shelf)
    result = shelf.run("evaluate", "tale", "--questions", str(path))
    assert (result.exit_code, "run `bookchunk chunk tale` first" in result.stderr) == (2, True)
    shelf.chunk()
    result = shelf.run("evaluate", "tale", "--questions", str(path), "--k", "1,3", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["questions"], found["chunks"], [way["name"] for way in found["ways"]]) == (
        1,
        6,
        ["BM25", "BM25+prefix"],
    )
    assert found["ways"][0]["figures"]["found@1"] == {"mean": 100.0, "low": 100.0, "high": 100.0}
    assert "| BM25 | 100.0 ±0.0 |" in shelf.run("evaluate", "tale", "--questions", str(path)).stdout
    assert shelf.run("evaluate", "tale", "--questions", str(path), "--k", "0").exit_code == 2
    result = shelf.run("evaluate", "tale", "--questions", str(asked(shelf, chapter=9)))
    assert (result.exit_code, "is of 9, which the book does not have" in result.stderr) == (2, True)


def test_the_command_and_the_asset_with_vectors(shelf: Shelf) -> None:
    shelf.manifest(rag={"embedding": "local"})
    shelf.chunk()
    path = asked(shelf)
    found = json.loads(shelf.run("evaluate", "tale", "--questions", str(path), "--json").stdout)
    names = [way["name"] for way in found["ways"]]
    assert {"dense plain", "dense plain+prefix", "dense late", "dense mix of late and plain+prefix"} <= set(names)
    assert "ranks of BM25+prefix and late" in names
    assert len(found["held_out"]) == 10
    job = defs.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.get() as instance:
        result = job.execute_in_process(
            instance=instance, asset_selection=[dg.AssetKey("retrieval_evaluation")], partition_key="tale",
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )  # fmt: skip
        assert result.success
        (event,) = result.get_asset_materialization_events()
        metadata = event.materialization.metadata
        assert "█" in str(metadata["plot"].value)
        assert "| way |" in str(metadata["table"].value)
