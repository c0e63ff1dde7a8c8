"""How well a book's chunks are found, where it has questions: made by hand, after its chunks."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from bookchunk_assets.assets.book import sound
from bookchunk_assets.corpus.book import survey
from bookchunk_assets.corpus.faults import Refused
from bookchunk_assets.embedding.port import EmbeddingFailed
from bookchunk_assets.evaluation.render import plot, table
from bookchunk_assets.evaluation.run import evaluate_book
from bookchunk_assets.orchestration.home import kept_vectors
from bookchunk_assets.orchestration.partitions import BOOKS
from bookchunk_assets.orchestration.stages import open_book

QUESTIONS = "questions.jsonl"


class EvaluationConfig(dg.Config):
    """Which questions are asked (a path; else ``questions.jsonl`` in the book's folder), and how many chunks count."""

    questions: str = ""
    k: list[int] = Field(default=[5, 10, 20])


@dg.asset(
    partitions_def=BOOKS,
    deps=["chunks_jsonl"],
    code_version="1",
    group_name="book",
    kinds={"json"},
    backfill_policy=dg.BackfillPolicy.multi_run(),
)
def retrieval_evaluation(context: dg.AssetExecutionContext, config: EvaluationConfig) -> Iterator[Any]:
    """Recall, coverage, MRR, precision and IoU of every way to retrieve a book's chunks, by its questions."""
    slug, instance = context.partition_key, context.instance
    opened = open_book(instance, slug)
    book = sound(survey(Path(opened.binding.folder), Path(opened.binding.root)))
    settings = opened.binding.settings(opened.manifest, opened.manifest_version)
    questions = Path(config.questions) if config.questions else book.folder / QUESTIONS
    try:
        found = evaluate_book(book, settings, questions, config.k, kept_vectors(instance, slug))
    except (Refused, EmbeddingFailed) as error:
        raise dg.Failure(str(error)) from error
    best = max(found.ways, key=lambda way: way.figures["mrr"].mean)
    yield dg.MaterializeResult(
        metadata={
            "table": dg.MetadataValue.md(table(found, config.k)),
            "plot": dg.MetadataValue.md(plot(found, "mrr")),
            "figures": dg.MetadataValue.json(asdict(found)),
            "questions": found.questions,
            "best_by_mrr": best.name,
            "mrr": best.figures["mrr"].mean,
        }
    )
