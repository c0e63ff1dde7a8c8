"""What a command's TARGET means: a book's slug, a book's folder, or a folder that holds books."""

from __future__ import annotations

import glob
import os
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
    """Whether a folder has a manifest, or a book's chapters that lack one."""
    if not folder.is_dir():
        return False
    chapters = f"{glob.escape(folder.resolve().name)}-ch*.md"
    return any(any(folder.glob(pattern)) for pattern in ("*-book.json", chapters))


def books_under(folder: Path) -> list[Place]:
    """The books of a corpus (``<author>/<slug>``) or of an author's folder, hidden folders left out; raises
    ``Refused`` on a slug twice."""
    inside = {path for pattern in ("[!.]*", "[!.]*/[!.]*") for path in folder.glob(pattern)}
    places = [Place(path, folder) for path in sorted(inside) if is_book(path)]
    if faults := _twice(places):
        raise Refused(faults)
    return places


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
            told = f"no book of that slug in {corpus}, and no folder with books; name either, or give --corpus"
            faults.append(Fault(target, 1, told))
        for place in places:
            found.setdefault(place.folder.resolve(), place)
    if faults := [*faults, *_twice(found.values())]:
        raise Refused(faults)
    return list(found.values())


def _twice(places: Iterable[Place]) -> list[Fault]:
    by_slug = defaultdict(list)
    for place in places:
        by_slug[place.folder.resolve().name].append(str(place.folder))
    return [
        Fault(folder, 1, f"the slug {slug!r} is there {len(folders)} times; rename all but one")
        for slug, folders in by_slug.items()
        for folder in folders
        if len(folders) > 1
    ]


def _places(target: str, corpus: Path) -> list[Place]:
    """The books of one target. Outside the corpus, a folder of books is its own corpus, a lone book's is around it."""
    folder = Path(target)
    if folder.is_dir():
        inside = _inside(folder, corpus)
        if is_book(folder):
            return [Place(folder, corpus if inside else folder.resolve().parent)]
        if places := books_under(folder):
            return [Place(place.folder, corpus) for place in places] if inside else places
    return [place for place in books_under(corpus) if place.folder.name == target]


def _inside(folder: Path, corpus: Path) -> bool:
    """Whether a folder stands in the corpus by its path, symlinks left alone, or in fact."""
    named = Path(os.path.abspath(folder)).is_relative_to(os.path.abspath(corpus))  # noqa: PTH100 - resolve() follows
    return named or folder.resolve().is_relative_to(corpus.resolve())
