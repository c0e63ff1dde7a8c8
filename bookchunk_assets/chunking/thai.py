"""Thai words, and the spaces at which Thai sentences end, by pythainlp.

It is imported with the first Thai text (half a second, and its dictionary), writes nothing and asks no network. Words
are those of ``newmm``, maximal matching in a dictionary, by ``nlpo3`` where that has a wheel: pythainlp's own version
in Rust, ten times as fast. Sentences are those of ``crfcut``; its model ends them at white space alone, so only white
space is put to it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Protocol

# pythainlp, which spaCy's Thai imports too, would make a folder in the user's home. It takes only one of its two names.
if "PYTHAINLP_READ_MODE" not in os.environ:
    os.environ.setdefault("PYTHAINLP_READ_ONLY", "1")

LETTERS = r"\u0e00-\u0e7f"
RUN = re.compile(rf"[{LETTERS}]+")
GAP = r"[^\S\n]*+\n[\s>]*+|\s++"  # between two words; quote marks are no more than the line that they start
TOKEN = re.compile(rf"(?P<run>[{LETTERS}]+)|(?P<space>{GAP})|[-a-zA-Z]+|\d+(?:[,.]\d+)*|[^{LETTERS}\s]+")
LONGEST_RUN = 1000  # letters without a space that are looked at together
KEPT = 1 << 14  # runs whose words are remembered: a run is asked for by overlap, sentences and terms

# crfcut's features of a token: the n-grams of the five from two before it to two after it. Name, and slice of the five.
NEAR = 2
GRAMS = {
    kind: [(f"{kind}_{n}_{a - NEAR}_{a + n - NEAR}=", a, a + n) for n in (1, 2, 3) for a in range(2 * NEAR + 2 - n)]
    for kind in ("word", "ender", "starter")
}


class _Tagger(Protocol):
    def set(self, xseq: Sequence[Sequence[str]]) -> None: ...
    def marginal(self, y: str, pos: int) -> float: ...
    def probability(self, yseq: Sequence[str]) -> float: ...


def words(run: str) -> tuple[str, ...]:
    """The words of ``run``, Thai characters without a space; together they are ``run``."""
    if len(run) <= LONGEST_RUN:
        return _words(run)
    return tuple(word for n in range(0, len(run), LONGEST_RUN) for word in _words(run[n : n + LONGEST_RUN]))


@lru_cache(KEPT)
def _words(run: str) -> tuple[str, ...]:
    found = tuple(_engine().segment(run))
    return found if "".join(found) == run else (run,)  # on heaps of tone marks the engines may lose some


@cache
def stop_words() -> frozenset[str]:
    """Words on which no passage turns."""
    from pythainlp.corpus import thai_stopwords

    return frozenset(thai_stopwords())


def sentence_spaces(text: str) -> Iterator[int]:
    """Where the white space starts that ends a sentence, between two Thai characters."""
    tokens, at = ["xxpad"] * NEAR, 0  # as crfcut pads
    spaces: list[tuple[int, int]] = []
    for match in TOKEN.finditer(text):
        if match.lastgroup == "run":
            tokens += words(match[0])
        else:
            if match.lastgroup == "space":
                spaces.append((len(tokens), match.start()))
            tokens.append(match[0] if match.lastgroup is None else " ")
        at = match.end()
    tokens += ["xxpad"] * NEAR
    tagger, threshold = _model()
    for n, at in spaces:
        if RUN.match(tokens[n - 1][-1:]) and RUN.match(tokens[n + 1]):
            tagger.set([features(tokens[n - NEAR : n + NEAR + 1])])
            if tagger.marginal("E", 0) > threshold:
                yield at


def features(near: Sequence[str]) -> list[str]:
    """crfcut's features of the third of five tokens, in an order of their own."""
    crfcut = _crfcut()
    enders = _ender_grams(*(token in crfcut._ENDERS for token in near))
    starters = _starter_grams(*(token in crfcut._STARTERS for token in near))
    return ["bias", *_grams("word", near), *enders, *starters]


def _grams(kind: str, near: Sequence[str]) -> list[str]:
    return [name + "|".join(near[a:b]) for name, a, b in GRAMS[kind]]


@cache
def _ender_grams(*ends: bool) -> list[str]:
    return _grams("ender", ["ender" if end else "normal" for end in ends])


@cache
def _starter_grams(*starts: bool) -> list[str]:
    return _grams("starter", ["starter" if start else "normal" for start in starts])


@cache
def _model() -> tuple[_Tagger, float]:
    """crfcut's tagger, and the probability from which a token alone ends a sentence among tokens that end none."""
    tagger: _Tagger = _crfcut()._tagger
    tagger.set([[], [], []])  # tokens without features: what is left are the costs of going from one kind to another
    odds = tagger.probability(["I", "I", "I"]) / tagger.probability(["I", "E", "I"])
    return tagger, odds / (1 + odds)


@cache
def _engine() -> ModuleType:
    return import_module(f"pythainlp.tokenize.{'nlpo3' if find_spec('nlpo3') else 'newmm'}")


@cache
def _crfcut() -> ModuleType:
    from pythainlp.tokenize import crfcut

    return crfcut
