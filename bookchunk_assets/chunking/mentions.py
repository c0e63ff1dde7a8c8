"""What a text speaks of: its chapter's concepts and figures, labels of figures, and scripture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import regex

from bookchunk_assets.chunking.scripture import references
from bookchunk_assets.markdown.chapter import ChapterFacts

# A character of a word, in scripts that part words by blanks; in the others a term may begin and end anywhere.
LETTER = r"[[^\W_]--[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Han}\p{Hiragana}\p{Katakana}]]"
# What stands between two words of a term: blanks, hyphens, and the marks of emphasis and of a quote's next line.
GAP = r"[\s>*_‐‑–\-]+"
# The last word of a name, where it may stand for it: in `Stephen Langton`, not in `Gregory the Great`.
SURNAME = regex.compile(r"(?:(?!.*\s(?:of|the)\s)[^,(]*\s)?(\p{Lu}[\p{L}'-]{3,})")

NUMBER = r"(?:[A-Z][.-]?)?[0-9]{1,3}(?:[.-][0-9]{1,3})*[a-z]?(?![^\W_])"
LABEL = regex.compile(
    rf"(?<![^\W_])fig(?:ure)?(s)?(?:\.\s*|\s+){NUMBER}(?(1)(?:(?:,|,?\s+and|\s*&)\s+{NUMBER})*)", regex.IGNORECASE
)
LABEL_NUMBER = regex.compile(rf"(?<![^\W_]){NUMBER}", regex.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a text speaks of, each once.

    Concepts and named figures are told as the front matter has them and in its order, labels (``Figure 3.1``) and
    scripture (``1 Corinthians 13:4-7``) in the text's.
    """

    key_concepts: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    scriptures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Term:
    """``name`` is meant where ``pattern`` matches; ``word``, the longest one of it, is quicker to look for."""

    name: str
    word: str
    pattern: regex.Pattern[str]

    def within(self, text: str) -> bool:
        return self.word in text and self.pattern.search(text) is not None


def mentions(text: str, facts: ChapterFacts) -> Mentions:
    """The chapter's concepts and figures that ``text`` names, and the labels and scripture found in it."""
    written = _straight(text)
    folded = written.casefold() if facts.key_concepts or facts.mentions_figures else ""
    named = {term.name for term in _full_names(facts.mentions_figures) if term.within(folded)}
    named |= {term.name for term in _surnames(facts.mentions_figures) if term.within(written)}
    return Mentions(
        _once(term.name for term in _concepts(facts.key_concepts) if term.within(folded)),
        _once((*(name for name in facts.mentions_figures if name in named), *_labels(text))),
        _once(references(text)),
    )


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _straight(text: str) -> str:
    return text.replace("’", "'")


@lru_cache
def _concepts(names: tuple[str, ...]) -> tuple[_Term, ...]:
    """Concepts in any case, an English one in the plural too."""
    return tuple(
        term
        for name in names
        for term in _term(name, name.casefold(), "(?:e?s)?" if regex.search("[A-Za-z]$", name) else "")
    )


@lru_cache
def _full_names(figures: tuple[str, ...]) -> tuple[_Term, ...]:
    """Names in any case; but `Mark` alone is no `mark`, and a label is told from the text, `Figure 3` not in `3.1`."""
    return tuple(
        term
        for name in figures
        if _surname(name) != _straight(name) and not LABEL.fullmatch(name)
        for term in _term(name, name.casefold())
    )


@lru_cache
def _surnames(figures: tuple[str, ...]) -> tuple[_Term, ...]:
    """Surnames that stand for the name, as they are written."""
    return tuple(term for name in figures for term in _term(name, _surname(name)))


def _surname(name: str) -> str:
    found = SURNAME.fullmatch(_straight(name))
    return found[1] if found else ""


def _term(name: str, written: str, ending: str = "") -> Iterator[_Term]:
    """The term to look for where a name is written thus; none for a name without a word."""
    words = [word for word in regex.split(GAP, _straight(written)) if word]
    if words:
        before = f"(?<!{LETTER})" if regex.match(LETTER, words[0], regex.V1) else ""
        after = f"(?!{LETTER})" if regex.match(LETTER, words[-1][-1], regex.V1) else ""
        whole = GAP.join(regex.escape(word) for word in words)
        yield _Term(name, max(words, key=len), regex.compile(before + whole + ending + after, regex.V1))


def _labels(text: str) -> Iterator[str]:
    """`Fig. 3.1` as `Figure 3.1`, and each of `Figures 3 and 4`."""
    for label in LABEL.finditer(text):
        for number in LABEL_NUMBER.findall(label[0]):
            yield f"Figure {number}"
