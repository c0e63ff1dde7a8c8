"""Scripture cited in a text.

No name is tried at every word: from each of the few numbers that follow one, a citation is read backwards to the book's
name and onwards through its list.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import regex
import yaml

# The first digit after a word.
ANCHOR = regex.compile(r"[0-9](?:(?<=[A-Za-z.>*_]\s[0-9])|(?<=[A-Za-z]\.[0-9])|(?<=\s\s[0-9]))")
# The name before it, matched from its end: `Cor.`, with `1` before it, or `Solomon`, with `Song of` before it.
NAME = regex.compile(
    r"(?r)(?<![^\W_])(?:(?P<ordinal>[1-4]|I{1,3}|IV|1st|2nd|3rd|First|Second|Third|Fourth)[\s>]*)?"
    r"(?<!\p{L})(?P<more>[A-Z][A-Za-z]+\s+(?:of|and)\s+(?:the\s+)?)?(?P<last>[A-Z][A-Za-z]+\.?)[\s>*_]*"
)
ORDINALS = {
    **{"I": "1", "1st": "1", "First": "1", "II": "2", "2nd": "2", "Second": "2"},
    **{"III": "3", "3rd": "3", "Third": "3", "IV": "4", "Fourth": "4"},
}


def _passage(point: str) -> str:
    """Chapter and verse, or one number alone, and a range's end; no decimal, version or time of day.

    Groups: chapter, point, number, the end's chapter, the end's number.
    """
    number, letter = "([1-9][0-9]{0,2})", "(?:[a-d]|ff?)?"
    return (
        rf"(?:{number}({point}))?{number}{letter}"
        rf"(?:(?:[‐‑–-]|\s[–-]\s(?![0-9]+\s+[a-z]))(?:{number}[:.])?{number}{letter})?"
        r"(?![.:]?[0-9]|[^\W_]|\s?[AaPp]\.?[Mm]\b)"
    )


# `Romans 8. 3 people` ends at the full stop, `Rom. 8. 3` goes on; `James 5,000` is neither.
AFTER_WORD, AFTER_STOP = (regex.compile(_passage(point) + "(?(1)|(?!,[0-9]))") for point in ("[:.]", r"[:.]\s?"))
# A list goes on with verses (`8:28, 31`) or with chapter and verse (`8:28; 9:1`), not with the next book (`, 2 Kings`).
NEXT = regex.compile(
    r"(?:\s*[,&]|\s*;(?=\s*[0-9]+[:.][0-9])|,?\s+and(?=\s)(?!\s+[0-9]+\s+[a-z]))\s*(?![1-4]\s?[A-Z])" + _passage("[:.]")
)


@dataclass(frozen=True, slots=True)
class _Book:
    """A book under one of its names; ``alone``: a bare chapter may follow; ``stop``: the name ends in a full stop."""

    title: str
    chapters: int
    alone: bool
    stop: bool


def references(text: str) -> Iterator[str]:
    """Each reference in ``text``, in its order: ``Romans 8:28``, ``1 Corinthians 13:4-7``, ``Psalm 119``."""
    end = 0
    for anchor in ANCHOR.finditer(text):
        start = anchor.start()
        if start >= end and (book := _book(text, end, start)):
            for reference, end in _cited(book, text, start):  # noqa: B007 - the next name stands after this one
                yield reference


@cache
def _books() -> dict[str, _Book]:
    """Books by name in lower case, with the number of a numbered one and with a full stop where one may follow."""
    books = yaml.safe_load((files(__package__) / "scripture_books.yaml").read_text("utf-8"))
    return {
        f"{title[:2] if title[0].isdigit() else ''}{written}".casefold(): _Book(
            title, facts["chapters"], kind == "alone", written.endswith(".")
        )
        for kind in ("verse", "alone")
        for title, facts in books.items()
        for name in facts.get(kind, ())
        for written in {name, name.rstrip(".") + "."}
    }


def _book(text: str, start: int, end: int) -> _Book | None:
    """The book whose name ends at ``end`` and does not begin before ``start``."""
    name = NAME.match(text, start, end)
    if name is None:
        return None
    number, more, last = ORDINALS.get(name["ordinal"], name["ordinal"]), name["more"], name["last"].casefold()
    return (
        (number and _books().get(f"{number} {last}"))
        or (more and _books().get(" ".join((more + last).casefold().split())))
        or _books().get(last)
    )


def _cited(book: _Book, text: str, start: int) -> Iterator[tuple[str, int]]:
    """The references to a book that begin with the number at ``start``, each with its end in the text."""
    passage = (AFTER_STOP if book.stop else AFTER_WORD).match(text, start)
    if not passage or not (book.alone or (passage[2] and (book.stop or passage[2][0] == ":"))):
        return
    chapter, verse = int(book.chapters == 1), 0
    while passage:
        said, number, end_chapter, end_number = (int(group or 0) for group in passage.group(1, 3, 4, 5))
        first = (said or chapter, number) if said or chapter else (number, 0)
        if first[0] > book.chapters or (not said and first <= (chapter, verse)):
            return
        last = (end_chapter or first[0], end_number) if first[1] or end_chapter else (end_number, 0)
        if not first < last or last[0] > book.chapters:
            last = first
        yield f"{book.title} {_told(first, last)}", passage.end()
        if not first[1]:
            return
        chapter, verse = last
        passage = NEXT.match(text, passage.end())


def _told(first: tuple[int, int], last: tuple[int, int]) -> str:
    """Chapter and verse, verse 0 for none, as ``8``, ``1-3``, ``8:28``, ``13:4-7`` or ``1:1-2:3``."""
    begin, end = (f"{chapter}:{verse}" if verse else str(chapter) for chapter, verse in (first, last))
    if first == last:
        return begin
    return f"{begin}-{last[1]}" if first[1] and first[0] == last[0] else f"{begin}-{end}"
