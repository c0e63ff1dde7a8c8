"""The commands, their options and exit statuses."""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


class Status:
    """Exit statuses: a verdict, input that is refused, and what is not the input's fault."""

    PASS, FAIL, REFUSED, FAILED = 0, 1, 2, 3


class Context(StrEnum):
    """Who writes the prefixes."""

    auto = "auto"
    extractive = "extractive"
    anthropic = "anthropic"


class Mode(StrEnum):
    """How a model is asked."""

    sync = "sync"
    batch = "batch"


class Embedding(StrEnum):
    """Who makes the vectors."""

    auto = "auto"
    local = "local"
    voyage = "voyage"
    openai = "openai"
    jina = "jina"
    none = "none"


Corpus = Annotated[Path, typer.Option(envvar="BOOKCHUNK_CORPUS", help="Where slugs are looked up.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON value on standard output, nothing else there.")]
Targets = Annotated[list[str], typer.Argument(help="A book's slug, its folder, or a folder that holds books.")]
CORPUS = Path("corpus")


@app.command()
def chunk(
    target: Targets,
    target_tokens: Annotated[int | None, typer.Option(help="Tokens a chunk, for this run.")] = None,
    overlap_tokens: Annotated[int | None, typer.Option(help="Tokens of overlap, for this run.")] = None,
    changed_only: Annotated[bool, typer.Option(help="Run what is stale, or every stage again.")] = True,
    out: Annotated[Path | None, typer.Option(help="Write one book's files there instead.")] = None,
    context: Annotated[Context, typer.Option()] = Context.auto,
    embedding: Annotated[Embedding, typer.Option()] = Embedding.auto,
    context_mode: Annotated[Mode, typer.Option(help="Ask at once, or by batches at half the price.")] = Mode.sync,
    refresh_context: Annotated[bool, typer.Option("--refresh-context", help="Ask anew for every prefix.")] = False,
    max_cost: Annotated[float | None, typer.Option(min=0, help="Dollars at which to stop, before more.")] = None,
    corpus: Corpus = CORPUS,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Chunk books into chunks.jsonl, running only what is stale."""
    from bookchunk_assets.cli.chunk import chunk_books
    from bookchunk_assets.cli.paying import Purse
    from bookchunk_assets.corpus.settings import Choice

    asked = Choice(
        target_tokens,
        overlap_tokens,
        None if context is Context.auto else context.value,
        None if embedding is Embedding.auto else embedding.value,
    )
    purse = Purse(context_mode is Mode.batch, refresh_context, max_cost)
    leave(lambda: chunk_books(target, corpus, asked, changed_only, out, as_json, quiet, purse))


@app.command()
def status(
    target: Annotated[list[str] | None, typer.Argument()] = None,
    cost: Annotated[bool, typer.Option("--cost", help="Also what a run would cost.")] = False,
    corpus: Corpus = CORPUS,
    as_json: Json = False,
) -> None:
    """What is stale or missing, by partition and stage, each with its cause."""
    from bookchunk_assets.cli.look import show_status

    leave(lambda: show_status(target or [str(corpus)], corpus, as_json, cost))


@app.command()
def diff(target: str, corpus: Corpus = CORPUS, as_json: Json = False) -> None:
    """What the last run added, modified, moved and removed."""
    from bookchunk_assets.cli.look import show_diff

    leave(lambda: show_diff(target, corpus, as_json))


@app.command()
def evaluate(
    target: Annotated[str, typer.Argument(help="A book's slug or folder.")],
    questions: Annotated[Path, typer.Option(help="JSON lines: question, document or chapter, references.")],
    k: Annotated[str, typer.Option(help="How many chunks count, as 5,10,20.")] = "5,10,20",
    corpus: Corpus = CORPUS,
    as_json: Json = False,
) -> None:
    """How well a book's chunks are found: words, vectors and both, by questions with references."""
    from bookchunk_assets.cli.evaluate import show_evaluation

    leave(lambda: show_evaluation(target, corpus, questions, k, as_json))


@app.command()
def prune(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be removed.")] = False,
    corpus: Corpus = CORPUS,
    as_json: Json = False,
) -> None:
    """Remove partitions and stage outputs of the corpus's chapters and books that are gone."""
    from bookchunk_assets.cli.prune import prune as prune_corpus

    leave(lambda: prune_corpus(corpus, dry_run, as_json))


@app.command()
def ui(
    port: Annotated[int, typer.Option()] = 3000,
    host: Annotated[str, typer.Option()] = "127.0.0.1",
    corpus: Corpus = CORPUS,
) -> None:
    """The Dagster webserver and daemon on the same instance and corpus."""
    from bookchunk_assets.cli.ui import serve

    leave(lambda: serve(host, port, corpus))


def leave(work: Callable[[], int]) -> NoReturn:
    """Exit with the status of ``work``."""
    try:
        status = work()
    except Exception as error:  # 1 and 2 say something of a book; whatever else goes wrong is the machine's
        print(told(error), file=sys.stderr)
        status = Status.FAILED
    raise typer.Exit(status)


def told(error: Exception) -> str:
    """An error in a line: its own words, and what it is where these do not say it."""
    return str(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"


def main() -> None:
    """Entry point."""
    if not sys.warnoptions:  # what Dagster says of its own preview parameters is not the user's business
        warnings.simplefilter("ignore")
    logging.getLogger("dagster").setLevel(logging.CRITICAL)
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "1")
    app()


def print_json(value: Any) -> None:
    """One JSON value on standard output."""
    print(json.dumps(value, ensure_ascii=False))
