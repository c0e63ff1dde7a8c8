"""Where words start, in any script: after white space, and inside the runs of scripts that write none.

Thai words are pythainlp's, Chinese and Japanese phrases those of BudouX, whose small models come with it. For Lao,
Khmer, Burmese and Tibetan there is what the text itself tells: zero-width spaces and syllable marks, else its
syllables, as far as they show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate

import regex
from budoux import Parser, parser

from bookchunk_assets.chunking import thai

# Flags are said first: \X counts back to the first of a row of them, so that a row takes quadratic time.
GRAPHEME = regex.compile(r"\p{Regional_Indicator}{2}[\p{Grapheme_Extend}\p{Emoji_Modifier}\p{Mc}\u200d]*+|\X")
KANA = r"\p{Hiragana}\p{Katakana}\u30fc"
SPACELESS = rf"{thai.LETTERS}\p{{Han}}{KANA}\p{{Lao}}\p{{Khmer}}\p{{Myanmar}}\p{{Tibetan}}"
NO_SPACES = regex.compile(f"[{SPACELESS}]")
# All of these scripts and more, by a class that is looked up some twenty times as fast.
MAY_LACK_SPACES = re.compile("[\u0e00-\u1fff\u200b\u2e80-\U0010ffff]")
RUN = regex.compile(
    rf"(?P<thai>[{thai.LETTERS}]+)|(?P<cjk>[\p{{Han}}{KANA}\u3001-\u303f！（），．：；？]+)"
    r"|(?P<other>[\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}\u200b]+)"
)
HAS_KANA = regex.compile(f"[{KANA}]")
WORD = re.compile(r"\S+")
BEGINS = regex.compile(r"[\p{L}\p{N}--ะาำๅๆฯະາຳຽໆຯ]", regex.VERSION1)
MARKED_ENDS = re.compile("[^\u200b་]*[\u200b་]+|[^\u200b་]+")
# A cluster with the Lao vowels around it, the consonants stacked under it, and those that close a Burmese syllable.
SYLLABLE = regex.compile(r"[ເແໂໃໄ]*\X(?:(?<=[\u1039\u17d2])\X|[\u1000-\u1021]\u1037?\u103a[\u1037\u1038]*|[ະາຳຽໆຯ])*+")
LOOK_BACK = 200  # characters before a stretch that its first words are told by
LONGEST_RUN = 1000  # characters that BudouX is given at once


def lacks_spaces(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` has letters of a script that writes no spaces between words."""
    return bool(MAY_LACK_SPACES.search(text, start, end) and NO_SPACES.search(text, start, end))


def word_starts(text: str, start: int, end: int) -> list[int]:
    """Offsets in ``[start, end)`` where a word of ``text`` begins, with a letter or digit where no space stands
    before it."""
    spaced = [match.start() for match in WORD.finditer(text, start, end)]
    if spaced and spaced[0] == start and start and not text[start - 1].isspace():
        del spaced[0]
    if not MAY_LACK_SPACES.search(text, max(0, start - 1), end) or not RUN.search(text, max(0, start - 1), end):
        return spaced
    before = max(0, start - LOOK_BACK)
    clusters = {cluster.start() for cluster in GRAPHEME.finditer(text, before, end)}
    inside = {at for run in RUN.finditer(text, before, end) for at in _starts(run) if at >= start}
    return sorted({*spaced, *(at for at in inside & clusters if BEGINS.match(text, at))})


def _starts(run: regex.Match[str]) -> Iterator[int]:
    """The starts of a run's words, and its end, where something else starts."""
    parts = {"thai": thai.words, "cjk": _phrases, "other": _syllables}[run.lastgroup or ""](run[0])
    return accumulate(map(len, parts), initial=run.start())


def _phrases(run: str) -> list[str]:
    japanese, *chinese = _parsers()
    model = japanese if HAS_KANA.search(run) else max(chinese, key=lambda each: _known(run, each))
    return [part for n in range(0, len(run), LONGEST_RUN) for part in model.parse(run[n : n + LONGEST_RUN])]


def _known(run: str, model: Parser) -> int:
    """How many of the characters a model has seen: that of the other Chinese script knows fewer."""
    return sum(character in model.model["UW3"] or character in model.model["UW4"] for character in run[:LONGEST_RUN])


@cache
def _parsers() -> tuple[Parser, Parser, Parser]:
    return (
        parser.load_default_japanese_parser(),
        parser.load_default_simplified_chinese_parser(),
        parser.load_default_traditional_chinese_parser(),
    )


def _syllables(run: str) -> list[str]:
    marked = MARKED_ENDS.findall(run)
    return marked if len(marked) > 1 else SYLLABLE.findall(run)
