"""The words that a passage turns on, as it writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module

import regex

from bookchunk_assets.context.plain import read_text

# Letters and marks, joined inside by apostrophe, hyphen or underscore; digits may follow: ``Lord's``, ``set_up``, ``utf8``.
WORD = regex.compile(r"\p{L}[\p{L}\p{M}]{2,}(?:['’_-][\p{L}\p{M}]+)*\d*")
POSSESSIVE = ("'s", "’s")
LONGEST = 24  # letters; longer "words" are phrases of a script without spaces, or no words at all


@cache
def stop_words(language: str) -> frozenset[str]:
    """spaCy's stop words of a language (a BCP 47 tag), with the English ones, which turn up in any book."""
    found: set[str] = set()
    for code in ("en", language.partition("-")[0].lower()):
        try:
            found |= import_module(f"spacy.lang.{code}.stop_words").STOP_WORDS
        except ModuleNotFoundError:
            continue
    return frozenset(found)


def terms(source: str, language: str) -> Iterator[str]:
    """The words of Markdown source that are no stop words, the weightiest first: those told often, longer ones before
    shorter ones, names before others; ties in the order of the text. It looks at the passage alone, so that an edit
    elsewhere in the chapter changes nothing here."""
    ignored = stop_words(language)
    tally: Counter[str] = Counter()
    written: dict[str, str] = {}
    for form, n in Counter(WORD.findall(read_text(source))).items():
        word = form[:-2] if form.endswith(POSSESSIVE) else form
        key = word.lower()
        if key not in ignored and len(word) <= LONGEST and "'" not in word and "’" not in word:
            tally[key] += n
            # Lower case wins over the capital that starts a sentence.
            written[key] = max(word, written.get(key, word))
    yield from (written[key] for key in sorted(tally, key=lambda key: -tally[key] * _weight(written[key])))


def _weight(word: str) -> float:
    return min(len(word), 8) * (1.0 if word.islower() else 1.5)
