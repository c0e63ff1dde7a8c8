"""``bookchunk status --cost``: what a run would pay, from the files as they stand; nothing is run or asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import dagster as dg

from bookchunk_assets.assets.prefixes import chapter_content, open_paid
from bookchunk_assets.chunking.chunker import chunk_groups
from bookchunk_assets.chunking.groups import section_groups
from bookchunk_assets.cli.work import checked, settings_of
from bookchunk_assets.context.asking import ChapterJob
from bookchunk_assets.context.estimate import Estimate, estimate
from bookchunk_assets.corpus.book import Book
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.corpus.targets import Place
from bookchunk_assets.markdown.parse import parse_chapter
from bookchunk_assets.models.prices import dollars
from bookchunk_assets.models.usage import BATCH, Usage
from bookchunk_assets.outputs.report import writer


@dataclass(frozen=True, slots=True)
class Cost:
    """A book's: dollars are None where the model's price is not known."""

    slug: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    dollars: float | None
    batch_dollars: float | None

    def __str__(self) -> str:
        tokens = f"{self.input_tokens} tokens in, {self.output_tokens} out"
        if self.dollars is None:
            return f"{self.slug}: {self.calls} calls, about {tokens} ({self.model}, unpriced)"
        price = f"about ${self.dollars:.4f}, by batches ${self.batch_dollars:.4f}"
        return f"{self.slug}: {self.calls} calls, about {tokens}: {price} ({self.model})"


def cost(instance: dg.DagsterInstance, place: Place) -> Cost:
    """What the next run on a book would pay."""
    _, book = checked(place)
    settings = settings_of(instance, book)
    paid = open_paid(instance, settings.book_slug, anew=False)
    asked = Estimate(0, Usage()) if settings.context == "extractive" else estimate(_jobs(book, settings), paid)
    prices = [dollars({settings.context_model + tariff: asked.usage}) for tariff in ("", BATCH)]
    rounded = [None if price is None else round(price, 6) for price in prices]
    return Cost(book.manifest.slug, writer(settings), asked.calls, asked.usage.input, asked.usage.output, *rounded)


def _jobs(book: Book, settings: Settings) -> Iterator[ChapterJob]:
    for chapter in book.chapters:
        parsed = parse_chapter(chapter.path.read_bytes(), settings.kind, chapter.path.name)
        chunks = chunk_groups(section_groups(parsed), settings)
        yield ChapterJob(chapter.key, settings, chunks, chapter_content(parsed))
