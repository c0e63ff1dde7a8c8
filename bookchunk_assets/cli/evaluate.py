"""``bookchunk evaluate``: how well a book's chunks are found."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from bookchunk_assets.cli.app import Status, print_json
from bookchunk_assets.cli.chunk import tell
from bookchunk_assets.cli.instance import open_instance
from bookchunk_assets.cli.work import checked
from bookchunk_assets.corpus.faults import Fault, Refused
from bookchunk_assets.corpus.targets import find_books
from bookchunk_assets.evaluation.render import table
from bookchunk_assets.evaluation.run import evaluate_book
from bookchunk_assets.orchestration.bindings import Binding, load_binding
from bookchunk_assets.orchestration.home import kept_vectors


def show_evaluation(target: str, corpus: Path, questions: Path, ks: str, as_json: bool) -> int:
    """Print the table, or the same as JSON; nothing of the book is written."""
    try:
        depths = _depths(ks)
        places = find_books([target], corpus)
        if len(places) != 1:
            raise Refused([Fault(target, 1, f"evaluate takes one book; this names {len(places)}")])
        _, book = checked(places[0])
        instance = open_instance()
        binding = load_binding(instance, book.manifest.slug) or Binding("", "", book.manifest_version)
        settings = binding.settings(book.manifest, book.manifest_version)
        found = evaluate_book(book, settings, questions, depths, kept_vectors(instance, book.manifest.slug))
    except Refused as refused:
        tell(str(refused))
        return Status.REFUSED
    if as_json:
        print_json(asdict(found))
    else:
        print(table(found, depths))
    return Status.PASS


def _depths(given: str) -> list[int]:
    try:
        depths = sorted({int(part) for part in given.split(",")})
    except ValueError:
        depths = []
    if not depths or depths[0] < 1:
        raise Refused([Fault("--k", 1, f"{given!r}: give whole numbers from 1 on, as 5,10,20")])
    return depths
