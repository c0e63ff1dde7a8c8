"""What a command's TARGET means: a book's slug, a book's folder, or a folder that holds books."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bookchunk_assets.corpus.faults import Fault, Refused


@dataclass(frozen=True, slots=True)
class Place:
    """A book's folder, and the corpus that it belongs to."""

    folder: Path
    root: Path


def is_book(folder: Path) -> bool:
    """Whether a folder has a manifest."""
    return folder.is_dir() and any(folder.glob("*-book.json"))


def books_under(folder: Path) -> list[Place]:
    """The books of a corpus (``<author>/<slug>``) or of an author's folder; raises ``Refused`` on a slug twice."""
    found = sorted(
        {p.parent for pattern in ("*/*-book.json", "*/*/*-book.json") for p in folder.glob(pattern)}
        if folder.is_dir()
        else ()
    )
    by_slug = defaultdict(list)
    for book in found:
        by_slug[book.name].append(book)
    twice = [books for books in by_slug.values() if len(books) > 1]
    if twice:
        raise Refused(
            Fault(str(book / f"{book.name}-book.json"), 1, f"the slug {book.name!r} is there {len(books)} times")
            for books in twice
            for book in books
        )
    return [Place(book, folder) for book in found]


def find_books(targets: Iterable[str], corpus: Path) -> list[Place]:
    """The books that the targets name, each once; raises ``Refused`` with every target that names none."""
    found: dict[Path, Place] = {}
    faults: list[Fault] = []
    for target in targets:
        try:
            places = _places(target, corpus)
        except Refused as refused:
            faults += refused.faults
            continue
        if not places:
            faults.append(Fault(target, 1, f"no book of that slug in {corpus}, and no folder with books"))
        for place in places:
            found.setdefault(place.folder.resolve(), place)
    slugs = defaultdict(list)
    for place in found.values():
        slugs[place.folder.resolve().name].append(place)
    for slug, places in slugs.items():
        if len(places) > 1:
            faults += [Fault(str(p.folder), 1, f"the slug {slug!r} is there {len(places)} times") for p in places]
    if faults:
        raise Refused(faults)
    return list(found.values())


def _places(target: str, corpus: Path) -> list[Place]:
    folder = Path(target)
    inside = corpus.is_dir() and folder.exists() and folder.resolve().is_relative_to(corpus.resolve())
    if is_book(folder):
        return [Place(folder, corpus if inside else folder)]
    if folder.is_dir() and (places := books_under(folder)):
        return places
    if "/" in target or "\\" in target or target.startswith("."):
        return []
    return [place for place in books_under(corpus) if place.folder.name == target]
