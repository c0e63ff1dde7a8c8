"""A scratch home and a scratch corpus with a small book, and what ran on them by Dagster's own records."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from typer.testing import CliRunner, Result

from bookchunk_assets.assets.chapter import RECIPES
from bookchunk_assets.cli.app import app

STAGES = (*(recipe.name for recipe in RECIPES), "chunks_jsonl")


def chapter_text(number: int, title: str, *paragraphs: str) -> str:
    body = "\n\n".join(paragraphs or (f"This is what chapter {number} says.", "And it says one thing more."))
    return f"---\ntitle: {title}\nchapter: {number}\n---\n<!-- page: {number} -->\n\nBefore.\n\n## Section\n\n{body}\n"


@dataclass
class Shelf:
    """A corpus of one book, ``tale``, and the instance that the commands use."""

    root: Path
    home: Path

    @property
    def book(self) -> Path:
        return self.root / "corpus" / "author" / "tale"

    @property
    def out(self) -> Path:
        return self.book / ".ingest" / "chunks.jsonl"

    def chapter(self, number: int) -> Path:
        return self.book / f"tale-ch{number:02d}.md"

    def write(self, number: int, title: str | None = None, *paragraphs: str) -> None:
        self.chapter(number).write_text(chapter_text(number, title or f"Chapter {number}", *paragraphs), "utf-8")

    def manifest(self, **fields: Any) -> None:
        """The manifest; no vectors where a test does not ask for them."""
        rag = {"embedding": "none"} | fields.pop("rag", {})
        given = {"title": "A Tale", "slug": "tale", "author": "Anna Author", "rag": rag} | fields
        (self.book / "tale-book.json").write_text(json.dumps(given), "utf-8")

    def another(self, slug: str, chapters: int = 1, **rag: Any) -> Path:
        """A second book beside this one; its folder."""
        folder = self.book.with_name(slug)
        folder.mkdir()
        given = {"title": slug.title(), "slug": slug, "author": "Anna Author", "rag": rag}
        (folder / f"{slug}-book.json").write_text(json.dumps(given), "utf-8")
        for number in range(1, chapters + 1):
            path = folder / f"{slug}-ch{number:02d}.md"
            path.write_text(chapter_text(number, f"Chapter {number}"), "utf-8")
        return folder

    def run(self, *words: str) -> Result:
        return CliRunner().invoke(app, [*words, "--corpus", str(self.root / "corpus")])

    def chunk(self, *words: str, status: int = 0) -> dict[str, Any]:
        result = self.run("chunk", "tale", "--json", *words)
        assert result.exit_code == status, result.output
        books = json.loads(result.stdout)["books"]
        return dict(books[0]) if books else {}

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.read_bytes().splitlines()]

    def ran(self) -> dict[str, set[str]]:
        """The chapters (or book) of each stage that have run since the last call."""
        with dg.DagsterInstance.get() as instance:
            found: dict[str, set[str]] = {}
            for stage in STAGES:
                seen = self._seen.get(stage, 0)
                some = dg.AssetRecordsFilter(asset_key=dg.AssetKey(stage), after_storage_id=seen)
                records = instance.fetch_materializations(some, limit=1000).records
                if records:
                    self._seen[stage] = max(record.storage_id for record in records)
                    found[stage] = {str(record.partition_key).rpartition("/")[2] for record in records}
            return found

    def __post_init__(self) -> None:
        self._seen: dict[str, int] = {}


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    home = tmp_path / "home"
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "")
    made = Shelf(tmp_path, home)
    made.book.mkdir(parents=True)
    made.manifest()
    for number in (1, 2, 3):
        made.write(number)
    return made
