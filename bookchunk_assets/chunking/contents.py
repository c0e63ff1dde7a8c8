"""The contents chunk of a listing page: the names of its sections and links, without what every page has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

import regex
import yaml

from bookchunk_assets.chunking.tokens import count

FEWEST, MOST = 8, 150  # names
LONGEST = 80  # characters of a name
NAVIGATION = 3  # links of one text
GENERIC = Path(__file__).with_name("generic_names.yaml")
PICTURES = regex.compile(
    r"[\p{Extended_Pictographic}\p{Regional_Indicator}\u200d\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
EDGES = regex.compile(r"\A[^\p{L}\p{M}]+|[^\p{L}\p{M}\p{N}]+\Z")  # numbering too
# `A`, `ก`, `A–C`, and the page numbers of a listing; a Chinese character is a word.
LETTERS = regex.compile(
    r"[\p{L}--\p{Han}]\p{M}*(?:\s*[-–—/…]\s*[\p{L}--\p{Han}]\p{M}*)?|\p{N}{0,3}(?:\s*[-–—]\s*\p{N}{1,3})?", regex.V1
)
ADDRESS = regex.compile(r"(?:[a-z][a-z0-9+.-]*://|www\.|mailto:)\S+|[^\s@]+@[^\s@]+\.[^\s@]+", regex.IGNORECASE)
HEADS = {"th": "สารบัญ"}
HEAD = "Contents"


def contents_names(sections: Iterable[str], links: Sequence[str], title: str) -> tuple[str, ...]:
    """What a file lists, each name once: its section titles, then the texts of its links, less what is too long,
    generic, the title, or navigation; none where there are too few."""
    times = Counter(map(_key, links))
    names: dict[str, str] = {}
    for name in (*sections, *(link for link in links if times[_key(link)] < NAVIGATION)):
        if len(name) <= LONGEST and _key(name) != _key(title) and not _is_generic(name):
            names.setdefault(_key(name), name)
    return tuple(names.values()) if len(names) >= FEWEST else ()


def contents_text(title: str, names: Iterable[str], language: str, limit: int) -> str:
    """The title, a blank line, and the first of the names as lines ``- name``, as many as fit ``limit`` cl100k tokens;
    empty where none does. A title that takes more than half the room gives way to ``Contents``; a name that does is
    left out."""
    head = title if title and count(title) <= limit // 2 else HEADS.get(language.partition("-")[0].lower(), HEAD)
    text = f"{head}\n"
    for line in islice(_lines(names, limit // 2), MOST):
        if count(text + line) > limit:
            break
        text += line
    return text if len(text) > len(head) + 1 else ""


def listed_names(text: str) -> tuple[str, ...]:
    """The names of a contents chunk."""
    return tuple(line.removeprefix("- ") for line in text.split("\n")[2:])


def _lines(names: Iterable[str], limit: int) -> Iterator[str]:
    return (line for name in names if count(line := f"\n- {name}") <= limit)


def _key(name: str) -> str:
    """What tells two names apart: not their emoji, case or spacing."""
    return " ".join((name if name.isascii() else PICTURES.sub("", name)).casefold().split())


def _is_generic(name: str) -> bool:
    key = _key(name)
    letters = key.lstrip("#").strip("()[]{}<>.,:;|*·•-–—«»‹›←→↑↓ ")  # `C#` and `C++` are names
    return (
        EDGES.sub("", key) in _generic_names()
        or LETTERS.fullmatch(letters) is not None
        or ADDRESS.fullmatch(key) is not None
    )


@cache
def _generic_names() -> frozenset[str]:
    kinds: dict[str, list[str]] = yaml.safe_load(GENERIC.read_text("utf-8"))
    return frozenset(name for names in kinds.values() for name in names)
