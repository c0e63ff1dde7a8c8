"""A chunked book on disk, evaluated: what the command and the asset share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bookchunk_assets.corpus.book import Book
from bookchunk_assets.corpus.faults import Fault, Refused
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.embedding.kept import Kept
from bookchunk_assets.embedding.plan import Plan, embedders, plan_of
from bookchunk_assets.embedding.port import Embedder
from bookchunk_assets.evaluation.evaluate import Evaluation, evaluate, vectors_by_way
from bookchunk_assets.evaluation.library import ChapterShelf, shelves
from bookchunk_assets.evaluation.questions import Question, read_questions
from bookchunk_assets.outputs.files import OutputPaths
from bookchunk_assets.outputs.records import read_records


def evaluate_book(book: Book, settings: Settings, questions: Path, ks: Sequence[int], kept: Kept) -> Evaluation:
    """The figures of a book's written chunks. Raises ``Refused`` where the chunks are not those of the chapters, or a
    question is of no chapter; ``EmbeddingFailed``."""
    asked = read_questions(questions)
    chunks = OutputPaths.of_book(book.folder).chunks
    if not chunks.exists():
        raise Refused([Fault(str(chunks), 1, f"not there; run `bookchunk chunk {book.manifest.slug}` first")])
    try:
        records = list(read_records(chunks))
        library = list(shelves(book, records))
    except (ValueError, KeyError) as error:
        raise Refused([Fault(str(chunks), 1, str(error))]) from None
    _refuse_strays(questions, asked, library)
    plan = plan_of(settings)
    ways = by_way(plan) if plan else {}
    return evaluate(
        book.manifest.slug,
        library,
        [record["token_count"] for record in records],
        asked,
        ks,
        plan.model if plan else "no vectors",
        vectors_by_way(ways, library, kept),
        next(iter(ways.values())).queries([question.text for question in asked]) if ways else None,
    )


def by_way(plan: Plan) -> Mapping[str, Embedder]:
    """The ways to vectors that the plan's provider has."""
    found: dict[str, Embedder] = {}
    for late in ("off", "on"):
        for embedder in embedders(Plan(plan.provider, plan.model, late)):
            found["late" if embedder.late else "plain"] = embedder
    return found


def _refuse_strays(path: Path, asked: Sequence[Question], library: Sequence[ChapterShelf]) -> None:
    places = {extent.place for shelf in library for extent in shelf.extents}
    strays = {question.place: question.text for question in asked if question.place not in places}
    if strays:
        raise Refused(
            Fault(str(path), 1, f"{text[:40]!r} is of {place}, which the book does not have")
            for place, text in strays.items()
        )
