"""The words that a passage turns on, as it writes them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from operator import itemgetter

import regex

from bookchunk_assets.chunking import thai

# White space, punctuation and symbols are in no word, and hiragana is what stands between Japanese ones. Said this way
# round, since ``\w`` of ``re`` leaves out the vowel signs of Thai and Hindi, and that of ``regex`` is slow.
OUTSIDE = r"\s\x00-/:-@\[-`{-\xbf،؛؟।\u2000-\u2bff\u3000-\u309f\uff00-\uff20\U0001f000-\U0001faff"
# ``sacred-secular``, ``set_up``, ``utf8``, not the stump of ``didn't``; two Chinese characters are a word.
WORD = re.compile(rf"[^\d{OUTSIDE}][^{OUTSIDE}]{{2,}}+(?:[-_][^{OUTSIDE}]++)*+(?!['’]t\b)|[\u4e00-\u9fff]{{2}}")
UNPARTED = regex.compile(r"[\p{Lao}\p{Khmer}\p{Myanmar}]")
RUNS = re.compile(rf"[{thai.LETTERS}]+|[^{thai.LETTERS}]{{3,}}")
THAI_WORD = re.compile(r"(?=.*[ก-ฮ])[^ฯๆ]{3,}")
LONGEST = 24  # letters; longer "words" are phrases of a script without spaces, or no words at all
WEIGHTS = (*range(8), *[8] * 3 * LONGEST)  # by letters; a small letter may be longer than its capital
NAME = 1.5  # a word never written in lower case

# spaCy's list leaves out these, on which no passage turns.
MORE_STOP_WORDS = """
    art came come doth example following follows hath know let like need said saith says shall thee thine thing things
    thou thus thy unto upon want way went yes
"""

# And pythainlp's list these.
MORE_THAI_STOP_WORDS = frozenset(
    """
    กรุณา กลับมา กลายเป็น การแสดง กำหนดให้ ค่าที่ จำเป็นต้อง ดังนั้น ดังนี้ เดิม ต้องการ ต่อไป ตัวอย่าง ตามปกติ ตามลำดับ ทางการ ทำการ ทำได้
    ทำให้เกิด ที่จะ แทน ในกรณีที่ บางอย่าง เบื้องต้น ประกอบด้วย เป็นหลัก เพิ่มเติม มากขึ้น มาจาก มีค่า มีปัญหา ไม่ต้อง ยกตัวอย่าง ยังมี ร่วมกับ เสมอ
    หมายถึง หมายเหตุ เหมือน เหมือนกับ ออกจาก ออกมา อย่างใดอย่างหนึ่ง อีกครั้ง ใช้ได้ โดยส่วนมาก เข้ามา
""".split()
)


@cache
def stop_words(language: str) -> frozenset[str]:
    """spaCy's stop words of a language (a BCP 47 tag), with the English ones, which turn up in any book; in lower case
    and capitalised."""
    found = set(MORE_STOP_WORDS.split())
    for code in {"en", language.partition("-")[0].lower()}:
        try:
            found |= import_module(f"spacy.lang.{code}.stop_words").STOP_WORDS
        except ModuleNotFoundError:
            continue
    return frozenset(found | {word.capitalize() for word in found})


@cache
def thai_stop_words() -> frozenset[str]:
    """pythainlp's stop words, and more."""
    return thai.stop_words() | MORE_THAI_STOP_WORDS


def terms(text: str, language: str) -> Iterator[str]:
    """The words of a text that are no stop words, the weightiest first: those told often, longer ones before
    shorter ones, names before others; ties in the order of the text. It looks at the passage alone, so that an edit
    elsewhere in the chapter changes nothing here."""
    ignored = stop_words(language)
    words = [word for word in WORD.findall(text) if word not in ignored]
    if thai.RUN.search(text):
        words = [*_apart(words)]
    forms = dict.fromkeys(words)
    written = {key: word for word in forms if len(word) <= LONGEST and (key := word.lower()) not in ignored}
    times = Counter(map(str.lower, words))
    weighed = [(times[key] * WEIGHTS[len(key)] * (1 if key in forms else NAME), key) for key in written]
    weighed.sort(key=itemgetter(0), reverse=True)
    told: set[str] = set()
    for _, key in weighed:
        stem = key.removesuffix("s")
        if stem in told or (not key.isascii() and UNPARTED.match(key) and times[key] == 1):
            continue
        told.add(stem)
        yield key if key in forms else written[key]


def _apart(words: Iterable[str]) -> Iterator[str]:
    """The words, a Thai phrase as those of its words that are no stop words."""
    ignored = thai_stop_words()
    for word in words:
        for run in RUNS.findall(word) if thai.RUN.search(word) else (word,):
            if thai.RUN.match(run):
                yield from (each for each in thai.words(run) if each not in ignored and THAI_WORD.fullmatch(each))
            else:
                yield run
