"""A chapter's prefixes, made from the passage alone or asked of a model."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import dagster as dg

from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.context import answers, extractive, prompts
from bookchunk_assets.context.asking import Asking, ChapterJob, Written, write_prefixes
from bookchunk_assets.context.batching import collect_by_batches
from bookchunk_assets.context.extractive import extractive_prefixes
from bookchunk_assets.context.paid import Answer, Paid
from bookchunk_assets.context.prefix import PrefixedChunk
from bookchunk_assets.markdown.chapter import ParsedChapter
from bookchunk_assets.models.budget import Budget
from bookchunk_assets.models.failure import ModelFailed
from bookchunk_assets.models.journal import Journal
from bookchunk_assets.models.limits import Limits
from bookchunk_assets.models.prices import dollars, price_of
from bookchunk_assets.models.usage import Usage, added, plain
from bookchunk_assets.orchestration.claude import ContextOptions
from bookchunk_assets.orchestration.home import paid_home, paid_store
from bookchunk_assets.orchestration.libraries import WORDS, with_libraries
from bookchunk_assets.orchestration.stages import BookAtWork, ChapterAtWork, Rows, book_stage

ANSWERS = "context_answers"  # beside the stages' outputs: every answer that a book has paid for


@book_stage(
    inputs=["recursive_chunks", "parsed_chapter", "chapter_settings"],
    code_version=with_libraries(
        f"{extractive.RULES} {answers.RULES} prompt-{prompts.VERSION}-{prompts.SUMMARY_VERSION}",
        "spacy",
        "regex",
        *WORDS,
    ),
    row=PrefixedChunk,
    kinds={"anthropic", "parquet"},
    options=ContextOptions,
    resources={"claude"},
    pool="prefix_models",
)
def context_prefixes(book: BookAtWork) -> Iterator[tuple[ChapterAtWork, Rows]]:
    """The chunks with the prefix that situates each in its book."""
    for chapter in book.chapters:
        if chapter.settings().context == "extractive":
            yield chapter, partial(_extractive, chapter)
        else:  # the settings are the book's: so are all that follow
            yield from _asked(book, chapter)


def _extractive(chapter: ChapterAtWork) -> list[PrefixedChunk]:
    chunks = chapter.read("recursive_chunks", Chunk)
    prefixes = extractive_prefixes(chunks, chapter.settings())
    return [PrefixedChunk(chunk, prefix) for chunk, prefix in zip(chunks, prefixes, strict=True)]


def _asked(book: BookAtWork, first: ChapterAtWork) -> Iterator[tuple[ChapterAtWork, Rows]]:
    """The chapters as a model's answers make them complete. What was paid for goes from the journal to the store when
    all went well; else the journal stays, and the next run goes on from there."""
    options: ContextOptions = book.options
    model = first.settings().context_model
    paid = open_paid(book.instance, book.slug, anew=options.refresh)
    try:
        limits = Limits.of(os.environ)
    except ModelFailed as failed:
        raise dg.Failure(str(failed)) from None
    asking = Asking(partial(book.resources.claude.connect, limits), limits, paid, Budget(options.max_cost))
    if options.max_cost is not None and price_of(model) is None:
        asking.stop(
            ModelFailed(f"no price of {model} is known, so --max-cost cannot be kept; leave it out", final=True)
        )
    at_work: dict[str, tuple[ChapterAtWork, float]] = {}
    unread: list[tuple[ChapterAtWork, Rows]] = []

    def jobs() -> Iterator[ChapterJob]:
        for chapter in _with_first(first, book.chapters):
            try:
                job = _job(chapter)
            except OSError as error:
                unread.append((chapter, partial(_raise, error)))
            else:
                at_work[job.name] = chapter, time.perf_counter()
                yield job

    sound = True
    try:
        coming = jobs()
        if (options.batch or paid.batches) and (together := list(coming)):
            collect_by_batches(asking, together, wait=options.batch)
            coming = iter(together)
        for job, outcome in write_prefixes(asking, coming):
            sound = sound and not isinstance(outcome, ModelFailed)
            chapter, started = at_work.pop(job.name)
            chapter.metadata |= _told(job, outcome) | {"seconds": round(time.perf_counter() - started, 4)}
            if before := dollars(paid.untold):
                said = f"{book.slug}: a run that was cut off had paid ${before:.4f}, which no report has"
                warnings = [*chapter.metadata.get("warnings", ()), said]
                chapter.metadata |= {"dollars_before": before, "warnings": warnings}
                paid.untold = {}
            yield chapter, partial(_rows, job, outcome)
        yield from unread
        if not sound or paid.batches:
            paid.told()
        else:
            if every := paid.merged():
                paid_store(book.instance).write(ANSWERS, book.slug, every, Answer)
            paid.journal.drop()
    finally:
        paid.journal.close()


def open_paid(instance: dg.DagsterInstance, slug: str, *, anew: bool) -> Paid:
    """What a book has paid for."""
    store = paid_store(instance)
    stored = store.read(ANSWERS, slug, Answer) if store.has(ANSWERS, slug) else []
    return Paid(stored, Journal(paid_home(instance) / "paid" / f"{slug}.jsonl"), anew=anew)


def chapter_content(parsed: ParsedChapter) -> str:
    """All that a chapter says, its footnotes last."""
    return "\n\n".join([parsed.text, *(note.text for note in parsed.notes)])


def _with_first(first: ChapterAtWork, others: Iterator[ChapterAtWork]) -> Iterator[ChapterAtWork]:
    yield first
    yield from others


def _job(chapter: ChapterAtWork) -> ChapterJob:
    (parsed,) = chapter.read("parsed_chapter", ParsedChapter)
    chunks = chapter.read("recursive_chunks", Chunk)
    return ChapterJob(chapter.partition, chapter.settings(), chunks, chapter_content(parsed))


def _rows(job: ChapterJob, outcome: Written | ModelFailed) -> list[PrefixedChunk]:
    if isinstance(outcome, ModelFailed):
        raise outcome
    return [PrefixedChunk(chunk, prefix) for chunk, prefix in zip(job.chunks, outcome.prefixes, strict=True)]


def _raise(error: Exception) -> list[PrefixedChunk]:
    raise error


def _told(job: ChapterJob, outcome: Written | ModelFailed) -> dict[str, Any]:
    """What the UI plots over time, and the report adds up."""
    used = sum(added([{"all": usage} for usage in job.spend.values()]).values(), Usage())
    price = dollars(job.spend)
    figures: dict[str, Any] = {
        "spend": plain(job.spend),
        "input_tokens": used.input + used.cache_write + used.cache_read,
        "output_tokens": used.output,
        **({} if price is None else {"dollars": round(price, 8)}),
    }
    if isinstance(outcome, Written):
        figures |= {"generated": outcome.generated, "reused": len(job.chunks) - outcome.generated}
        figures |= {"warnings": outcome.warnings}
    return figures
