"""``bookchunk prune``: what is gone goes, and nothing else."""

from __future__ import annotations

import json
import shutil

import dagster as dg
import numpy as np
from typer.testing import CliRunner

from bookchunk_assets.cli.app import Status, app
from bookchunk_assets.orchestration.home import kept_vectors
from bookchunk_assets.orchestration.partitions import BOOKS, CHAPTERS
from bookchunk_tests.conftest import Shelf
from bookchunk_tests.test_orchestration import Automation, place, watch


def known(shelf: Shelf) -> set[str]:
    """The partitions, and the stage outputs as stage/partition."""
    with dg.DagsterInstance.get() as instance:
        names = {key for kind in (BOOKS, CHAPTERS) for key in instance.get_dynamic_partitions(str(kind.name))}
    return names | {str(path.relative_to(shelf.home / "storage")) for path in shelf.home.glob("storage/**/*.parquet")}


def pruned(shelf: Shelf, *words: str) -> list[str]:
    result = shelf.run("prune", "--json", *words)
    assert result.exit_code == 0, result.output
    return list(json.loads(result.stdout))


def test_a_chapter_and_a_book_that_are_gone(shelf: Shelf) -> None:
    saga = shelf.another("saga", chapters=2)
    assert shelf.run("chunk", "tale", "saga", "--quiet").exit_code == 0
    with dg.DagsterInstance.get() as instance:
        for book in ("saga", "tale"):
            kept_vectors(instance, book).keep(["ab12"], np.ones((1, 4), np.float32))
    everything = known(shelf)
    assert pruned(shelf) == []
    shelf.chapter(3).unlink()
    shutil.rmtree(saga)
    gone = ["saga/ch01", "saga/ch02", "saga", "tale/ch03"]
    assert sorted(pruned(shelf, "--dry-run")) == sorted(gone)
    assert known(shelf) == everything
    assert sorted(pruned(shelf)) == sorted(gone)
    left = known(shelf)
    assert left == {name for name in everything if "saga" not in name and "tale/ch03" not in name}
    assert not list(shelf.home.glob("locks/saga*"))
    assert [path.parts[-3] for path in shelf.home.glob("storage/vectors/**/*.npy")] == ["tale"]
    assert pruned(shelf) == []
    assert shelf.chunk()["chunks"]["total"] == 4


def test_what_comes_back_is_made_again(shelf: Shelf) -> None:
    shelf.chunk()
    text = shelf.chapter(3).read_bytes()
    shelf.chapter(3).unlink()
    shelf.chunk()
    assert pruned(shelf) == ["tale/ch03"]
    with dg.DagsterInstance.get() as instance:
        automation = Automation(instance)
        assert automation.asks() == {}
        shelf.chapter(3).write_bytes(text)
        watch(instance, place(shelf))
        assert automation.asks()["parsed_chapter"] == {"tale/ch03"}
    assert shelf.chunk()["chunks"]["total"] == 6


def test_a_refused_chapter_and_a_book_elsewhere_are_not_gone(shelf: Shelf) -> None:
    shelf.another("saga")
    assert shelf.run("chunk", "tale", "saga", "--quiet").exit_code == 0
    everything = known(shelf)
    shelf.chapter(2).write_bytes(b"\xff")
    result = shelf.run("prune")
    assert result.exit_code == Status.REFUSED
    assert "tale-ch02.md:1:" in result.stderr
    other = shelf.root / "other"
    other.mkdir()
    shutil.move(shelf.book.with_name("saga"), shelf.root / "elsewhere")
    result = CliRunner().invoke(app, ["prune", "--corpus", str(other)])
    assert (result.exit_code, result.stdout) == (0, "nothing is gone\n")
    assert known(shelf) == everything, "bound under another corpus"
    assert CliRunner().invoke(app, ["prune", "--corpus", str(other / "nowhere")]).exit_code == Status.REFUSED
