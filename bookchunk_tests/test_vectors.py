"""``embeddings.parquet`` from outside: what is in it, when it is made again, and what its check sees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from bookchunk_assets.corpus.settings import Settings, unsaid
from bookchunk_assets.embedding.plan import Plan, plan_of
from bookchunk_assets.outputs.vectors import VectorRow, beside, read_vectors
from bookchunk_tests.conftest import Shelf

PLAN = Plan("local", "multilingual-e5-small", "off")


def test_a_book_with_vectors(shelf: Shelf) -> None:
    shelf.manifest(rag={"embedding": "local"})
    report = shelf.chunk()
    path = shelf.out.with_name("embeddings.parquet")
    told = {"embedded": 6, "reused": 0, "model": "multilingual-e5-small", "dimensions": 384, "dollars": 0.0}
    assert report["embeddings"] == told
    table = pl.read_parquet(path)
    assert table.schema == {
        "id": pl.String, "sha256": pl.String, "model": pl.String, "dimensions": pl.Int32, "late": pl.Boolean,
        "embedding": pl.Array(pl.Float32, 384),
    }  # fmt: skip
    records = shelf.records()
    assert table["id"].to_list() == [record["id"] for record in records]
    assert table["sha256"].to_list() == [record["sha256"] for record in records]
    assert table.select("model", "dimensions", "late").unique().rows() == [("multilingual-e5-small", 384, False)]
    assert np.allclose(np.linalg.norm(table["embedding"].to_numpy(), axis=1), 1, atol=1e-5)
    before = path.read_bytes()
    assert shelf.chunk()["embeddings"] | {"reused": 0} == told | {"embedded": 0}

    shelf.ran()
    path.write_bytes(before[:-9])
    shelf.chunk()
    assert (path.read_bytes(), shelf.ran()) == (before, {"chunks_jsonl": {"tale"}})
    report = shelf.chunk("--no-changed-only")
    assert (path.read_bytes(), report["embeddings"]["embedded"]) == (before, 0)

    page = shelf.chapter(1)
    page.write_text(page.read_text("utf-8").replace("And it says one thing more.", "And it says another."), "utf-8")
    assert shelf.chunk()["embeddings"] | {"reused": 5} == told | {"embedded": 1, "reused": 5}

    shelf.manifest(rag={"embedding": "local", "late": "mix"})
    assert shelf.chunk()["embeddings"]["embedded"] == 6
    assert pl.read_parquet(path)["late"].all()
    assert shelf.run("chunk", "tale", "--embedding", "none").exit_code == 0
    assert not path.exists()


def test_late_vectors_do_not_change_with_a_moved_page_marker_or_another_chapter_s_number(shelf: Shelf) -> None:
    shelf.manifest(rag={"embedding": "local", "late": "on"})
    shelf.chunk()
    path = shelf.out.with_name("embeddings.parquet")
    before = pl.read_parquet(path)["embedding"].to_numpy()
    chapter = shelf.chapter(1)
    chapter.write_text(chapter.read_text("utf-8").replace("page: 1 ", "page: 11 "), "utf-8")
    assert shelf.chunk()["embeddings"]["embedded"] == 0
    shelf.chapter(3).write_text(shelf.chapter(3).read_text("utf-8").replace("chapter: 3", "chapter: 7"), "utf-8")
    assert shelf.chunk()["embeddings"]["embedded"] == 0
    assert np.array_equal(pl.read_parquet(path)["embedding"].to_numpy(), before)


def test_out_takes_its_own_file_and_reuses_the_book_s_vectors(shelf: Shelf, tmp_path: Path) -> None:
    shelf.manifest(rag={"embedding": "local"})
    shelf.chunk()
    report = shelf.chunk("--out", str(tmp_path / "x" / "aside.jsonl"))
    assert report["embeddings"]["embedded"] == 0
    assert (tmp_path / "x" / "aside.embeddings.parquet").read_bytes() == shelf.out.with_name(
        "embeddings.parquet"
    ).read_bytes()


def test_a_local_model_that_is_not_there_is_refused(shelf: Shelf) -> None:
    shelf.manifest(rag={"embedding": "local", "embedding_model": "word2vec"})
    result = shelf.run("chunk", "tale")
    assert result.exit_code == 2
    assert "'word2vec' is no local model; take multilingual-e5-small" in result.stderr


@pytest.mark.parametrize(
    ("keys", "provider"),
    [({}, "local"), ({"OPENAI_API_KEY": "x"}, "openai"), ({"OPENAI_API_KEY": "x", "VOYAGE_API_KEY": "y"}, "voyage"),
     ({"VOYAGE_API_KEY": ""}, "local")],
)  # fmt: skip
def test_who_makes_the_vectors_of_a_new_book(keys: dict[str, str], provider: str) -> None:
    assert unsaid(keys).embedding == provider


@pytest.mark.parametrize(
    ("settings", "plan"),
    [
        ({"embedding": "none"}, None),
        ({"embedding": "local", "late": "mix"}, "local multilingual-e5-small mix"),
        ({"embedding": "voyage", "late": "on"}, "voyage voyage-3-large off"),
        ({"embedding": "voyage", "embedding_model": "voyage-context-3"}, "voyage voyage-context-3 on"),
        ({"embedding": "openai", "late": "mix"}, "openai text-embedding-3-large off"),
        ({"embedding": "jina"}, "jina jina-embeddings-v3 on"),
    ],
)
def test_plans(settings: dict[str, Any], plan: str | None) -> None:
    made = plan_of(Settings("tale", "A Tale", **settings))
    assert (None if made is None else str(made)) == plan


def sound() -> tuple[list[dict[str, Any]], list[VectorRow]]:
    unit = np.zeros(384, dtype=np.float32)
    unit[0] = 1
    names = ["tale-ch01-0001", "tale-ch01-0002", "tale-ch02-0001"]
    records = [{"id": name, "sha256": name[-7:]} for name in names]
    return records, [VectorRow(name, name[-7:], PLAN.model, 384, False, unit) for name in names]


def with_row(n: int, **changes: Any) -> Callable[[list[VectorRow]], list[VectorRow]]:
    def change(rows: list[VectorRow]) -> list[VectorRow]:
        from dataclasses import replace

        return [*rows[:n], replace(rows[n], **changes), *rows[n + 1 :]]

    return change


DAMAGES: dict[str, Callable[[list[VectorRow]], list[VectorRow]]] = {
    "no vector": lambda rows: rows[:-1],
    "a vector of no chunk": lambda rows: [*rows, rows[-1]],
    "in its place stands the vector of": lambda rows: [rows[1], rows[0], rows[2]],
    "or of another text": with_row(1, sha256="x"),
    "made by": with_row(2, model="voyage-3-large"),
    "late True": with_row(0, late=True),
    "10 dimensions": with_row(0, embedding=np.ones(10, dtype=np.float32)),
    "told 10": with_row(0, dimensions=10),
    "not finite": with_row(0, embedding=np.full(384, np.inf, dtype=np.float32)),
    "not of length 1": with_row(0, embedding=np.ones(384, dtype=np.float32)),
}


def test_sound_rows_pass() -> None:
    records, rows = sound()
    faults: list[str] = []
    assert list(beside(records, iter(rows), PLAN, faults)) == records
    assert faults == []


@pytest.mark.parametrize("told", DAMAGES)
def test_damaged_rows_are_told(told: str) -> None:
    records, rows = sound()
    faults: list[str] = []
    assert list(beside(records, iter(DAMAGES[told](rows)), PLAN, faults)) == records
    assert any(told in fault for fault in faults)


def test_what_is_no_file_of_vectors_is_told(tmp_path: Path) -> None:
    path = tmp_path / "embeddings.parquet"
    for data in (b"PAR1", b""):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"no embeddings\.parquet"):
            list(read_vectors(path))
    pl.DataFrame({"id": ["a"]}).write_parquet(path)
    faults: list[str] = []
    assert len(list(beside([{"id": "a"}], read_vectors(path), PLAN, faults))) == 1
    assert len(faults) == 2
