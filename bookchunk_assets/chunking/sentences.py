"""Where sentences start in a paragraph of Markdown source: a spaCy pipeline with rules made for books.

The tokenizer cuts only where a sentence may end, so a token is a stretch between two such places; the component
``sentence_starts`` then decides. What is in doubt is no end: one sentence too long costs less than one cut in two.
Each mark speaks for its own script, whatever the book's language. Thai has none: there a model is asked about spaces.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import pairwise

import spacy
import yaml
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from bookchunk_assets.chunking import thai

_known = yaml.safe_load(files(__package__).joinpath("sentence_marks.yaml").read_text("utf-8"))
JOINED = "".join(_known["joined"].values())
MARKS = "".join(_known["spaced"].values()) + JOINED
QUOTES = "\"'”’»」』"
CLOSING = QUOTES + ")]*_`>）】"
NOTES = r"(?:\[\^[^\[\]\s]++\])*+"
# Code, links, images and tags are passed over whole. The rest takes a mark with all that belongs to it at once,
# whether or not white space follows, so that no run of marks is read twice.
PLACE = re.compile(
    rf"""
      (?<![`\\]) (?P<ticks>`{{1,3}}) (?!`) .*? (?<!`) (?P=ticks) (?!`)
    | \[[^\[\]]*+\] (?: \( (?: [^()] | \([^()]*+\) )*+ \) | \[(?!\^) [^\[\]]*+ \] )
    | < [A-Za-z/!] [^<>]*+ >
    | (?<=[{thai.LETTERS}]) (?P<thai> {thai.GAP} ) (?=[{thai.LETTERS}])
    | (?P<mark> (?: (?<=\s) \.(?:[ ]\.){{2,}}+ | [{MARKS}] ) [{MARKS}{re.escape(CLOSING)}]*+ {NOTES} )
      (?P<gap> {thai.GAP} )?+
    """,
    re.VERBOSE | re.DOTALL,
)
# Some scripts go on without a space, but Chinese and Japanese not where a quotation is only reported.
FULL_STOP = re.compile(rf"[{JOINED}][{re.escape(CLOSING)}]*+{NOTES}\Z")
REPORTED = re.compile("[、，とっ]")

# A sentence begins with code, or with a word or number that is not in lower case, after opening marks of any kind.
NEXT = re.compile(
    r"""[\s>]*+ (?:\.[ ]\.[ ]\.[ ])?
        (?: ` | (?: [^\w\s.,;:!?)\]}^…—–`-] | _ )*+ (?P<word>[^\W_]{1,30}) (?P<stop>[.,;:)]?) )""",
    re.VERBOSE,
)
BEFORE = 80  # characters before a place that decide about it
SIGNS = r"\u0900-\u0dff\u0e80-\u109f\u1780-\u17ff"  # scripts whose vowel signs are no letters to ``re``
LAST_WORD = re.compile(rf"(?:\d+|(?:[^\W\d_]|[{SIGNS}]|\.(?=[^\W\d_])|°)+)\Z")
LABEL = re.compile(r"[\W_]*(?:\d{1,3}|[a-z]|[ivx]+|[A-Z]{1,12})[\W_]*")
DOTTED = re.compile(rf"[^\W\d_](?:(?!\w)[{SIGNS}])*|(?:[^\W\d_]{{1,2}}\.)+[^\W\d_]{{1,3}}")
ROMAN = re.compile(r"[IVXLC]+")
SHORT_NUMBER = re.compile(r"\d{1,3}|[ivxlc]+", re.IGNORECASE)
OMISSION = re.compile(r"(?:\A|[^\s.])\s+\. \. \.\Z")
LINE_LABEL = re.compile(r"\n[\s>*_]*(?:\d{1,3}|[A-Z])\Z")
THAI = re.compile(rf"[{thai.LETTERS}]\Z")
SPEAKER = re.compile(r"(?:\w+\s){1,2}(?:said|says|asked|cried|replied|answered|exclaimed|shouted|whispered|called)\b")
# Words that begin sentences and are hardly ever a name.
STARTER = re.compile(
    "After|All|Also|Although|And|Are|As|At|Because|Before|Both|But|By|Can|Could|Did|Do|Does|Each|Every|For|From|Had|Has"
    "|Have|He|Her|Here|His|How|However|I|If|In|Is|It|Its|Let|Many|Most|My|No|Not|Now|On|Once|Or|Our|Perhaps|She|Should"
    "|Since|So|Some|Such|That|The|Their|Then|There|Therefore|These|They|This|Those|Thus|To|Was|We|Were|What|When|Where"
    "|Which|While|Who|Why|With|Would|Yes|Yet|You|Your"
)


def sentence_ends(text: str) -> tuple[int, ...]:
    """Offsets in ``text``, one paragraph of Markdown source, where a sentence after the first starts.

    Each is strictly inside the text, and right after the last newline between the two sentences (quote marks and
    indent go with the second), or else right after the first one's closing marks (a space goes with the second). Any
    text will do, apart from lone surrogates.
    """
    language = "th" if thai.RUN.search(text) else "xx"
    return tuple(sentence.start_char for sentence in _pipeline(language)(text).sents)[1:]


@cache
def _pipeline(language: str) -> Language:
    nlp = spacy.blank(language)
    nlp.tokenizer = _stretches
    nlp.max_length = sys.maxsize
    nlp.add_pipe("sentence_starts")
    return nlp


def _stretches(text: str) -> Doc:
    """The text cut wherever a sentence may end. The vocabulary is the document's own: a shared one would keep every
    stretch for good."""
    words = [text[a:b] for a, b in pairwise((0, *_places(text), len(text))) if a < b]
    return Doc(Vocab(), words=words, spaces=[False] * len(words))


def _places(text: str) -> Iterator[int]:
    spaces = frozenset(thai.sentence_spaces(text)) if thai.RUN.search(text) else frozenset()
    for match in PLACE.finditer(text):
        if match.start("thai") in spaces:
            yield match.start("thai") + match["thai"].rfind("\n") + 1
        mark, gap = match["mark"], match["gap"]
        if not mark or match.end() == len(text):
            continue
        if gap:
            yield match.start("gap") + gap.rfind("\n") + 1
        elif FULL_STOP.search(mark) and not REPORTED.match(text, match.end()):
            yield match.end()


@Language.component("sentence_starts")
def sentence_starts(doc: Doc) -> Doc:
    """Sets which stretches start a sentence, in a new document: in place, spaCy takes quadratic time."""
    text, words = doc.text, [token.text for token in doc]
    begins: list[bool | int | None] = [True] * len(words)
    start, label = 0, True  # of the sentence so far: its first character, and whether it is no more than labels
    for n, (a, b) in enumerate(pairwise(token.idx for token in doc), 1):
        label = label and b - a < BEFORE and LABEL.fullmatch(text, a, b) is not None
        begins[n] = not label and _is_end(text, start, b)
        if begins[n]:
            start, label = b, True
    return Doc(doc.vocab, words=words, spaces=[False] * len(words), sent_starts=begins)


def _is_end(text: str, start: int, at: int) -> bool:
    """Whether the sentence that began at ``start`` ends at the place ``at``."""
    following = NEXT.match(text, at)
    if following is None or (word := following["word"] or "").islower():
        return False
    before = text[max(start, at - BEFORE) : at].rstrip("> \n\t")
    if THAI.search(before):
        return True  # no mark stands there: the model said so
    before = re.sub(NOTES + r"\Z", "", before)
    stem = before.rstrip(MARKS + CLOSING)
    marks = before[len(stem) :]
    begins = STARTER.fullmatch(word) is not None and following["stop"] != "."
    if stem.endswith(("(", "[")) or OMISSION.search(before) or LINE_LABEL.search(stem):
        return False
    if marks.strip(CLOSING) != ".":
        return begins or marks[-1:] not in QUOTES or not SPEAKER.match(text, following.start("word"))
    return _stop_ends(stem, word, begins, following["stop"])


def _stop_ends(stem: str, word: str, begins: bool, stop: str) -> bool:
    """Whether a full stop after ``stem`` ends the sentence, where ``word``, then ``stop``, comes next."""
    if THAI.search(stem):
        return False
    last = LAST_WORD.search(stem)
    if last is None:
        return True
    number = word[:1].isdigit() or (ROMAN.fullmatch(word) is not None and (len(word) > 1 or stop != ""))
    match _sign(last[0]):
        case "":
            return False
        case "9":
            return not number
        case "?":
            return begins
    return not (word[:1].isdigit() and SHORT_NUMBER.fullmatch(last[0]))


def is_abbreviated(text: str, end: int, start: int) -> bool:
    """Whether what ends at ``end`` with a full stop is a known abbreviation, and so hardly a sentence's end, where the
    next word starts at ``start``. Much quicker than ``sentence_ends``, and much less."""
    before = text[max(end - BEFORE, 0) : end].rstrip(CLOSING)
    if not before.endswith("."):
        return False
    last = LAST_WORD.search(before[:-1])
    sign = _sign(last[0]) if last else None
    return sign in ("", "?") or (sign == "9" and text[start : start + 1].isdigit())


def _sign(word: str) -> str | None:
    """Where a sentence may end with the word and a full stop, as ``abbreviations.txt`` has it; None for no
    abbreviation."""
    return _abbreviations().get(word, "?" if DOTTED.fullmatch(word) else None)


@cache
def _abbreviations() -> dict[str, str]:
    """The abbreviations in each case that they are written in, and the sign that tells where they end a sentence."""
    known: dict[str, str] = {}
    for line in files(__package__).joinpath("abbreviations.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, sign = line.partition(" ")
            forms = (name, name.upper(), name.capitalize()) if name.islower() else (name, name.upper())
            known.update((form, sign) for form in forms if form not in known)
    return known
