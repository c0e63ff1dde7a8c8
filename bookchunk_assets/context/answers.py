"""A model's answers: what is wrong with one, and how one that is merely too long, too short or marked up is mended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import regex

from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.chunking.tokens import count
from bookchunk_assets.context.clip import clipped
from bookchunk_assets.context.extractive import LEAST, MOST, SENTENCE_END, located
from bookchunk_assets.context.plain import one_line, plain_text
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.models.port import Reply

RULES = "1"
COPIED = 12  # words in a row
SUMMARY_TOKENS = 400

WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
PREAMBLE = re.compile(
    r"\W*(?:(?:sure|certainly|of course|okay|ok|absolutely|understood|got it|great|happy to)\b[^.:!\n]{0,60}[,.:!\n]"
    r"|(?:here(?:['’]s| is| are)|below is|(?:this|the following) is the|i(?:['’]ve| have) written)\b[^.\n]{0,100}[:\n]"
    r"|(?:the )?(?:context|summary|output|answer|prefix)\b(?: \([^)\n]*\))?\W{0,3}:)",
    re.IGNORECASE,
)
REFUSAL = re.compile(
    r"\W*(?:(?:i['’]m|i am|we['’]re) (?:sorry|unable|not able|afraid)|i apologi[sz]e|sorry,|as an ai\b"
    r"|unfortunately, i\b|i (?:can(?:['’]t|not|not)|won['’]t|will not)\b"
    r"|i do(?:n['’]t| not) (?:feel comfortable|have (?:access|enough|the)|see)\b)",
    re.IGNORECASE,
)
QUOTES = (('"', '"'), ("“", "”"), ("'", "'"), ("‘", "’"), ("«", "»"), ("„", "“"), ("「", "」"), ("```", "```"))


def problem(reply: Reply, passage: str, known: Sequence[str]) -> str | None:
    """What is wrong with an answer that no mending rights, in words; None where nothing is. ``known`` are titles, which
    may be repeated however long they are; an empty ``passage`` is not looked at for copies."""
    text = reply.text.strip()
    if reply.ending == "refusal":
        return "a refusal"
    if reply.ending != "end":
        return f"an unfinished answer ({reply.ending})"
    if not plain(text):
        return "an empty answer"
    if any(_wrapped(text, *pair) for pair in QUOTES):
        return "an answer in quotes"
    if REFUSAL.match(text):
        return "a refusal in words"
    if PREAMBLE.match(text):
        return "a preamble"
    if copied(text, passage, known):
        return f"{COPIED} words or more in a row copied from the passage"
    return None


def plain(text: str) -> str:
    """One line without markup."""
    return one_line(plain_text(text))


def _wrapped(text: str, opening: str, closing: str) -> bool:
    """Whether the quotes are around all of the text, not at the start and end of two quotations in it."""
    inner = text[len(opening) : -len(closing)]
    return (
        len(text) > len(opening) + len(closing)
        and text.startswith(opening)
        and text.rstrip(".").endswith(closing)
        and (opening == "'" or (opening not in inner.rstrip(".")[: -len(closing)] and closing not in inner))
    )


def copied(text: str, passage: str, known: Sequence[str]) -> bool:
    """Whether ``COPIED`` words in a row of the text stand so in the passage, and in no title."""
    theirs = set(_runs(passage)).difference(*map(_runs, known))
    return any(run in theirs for run in _runs(text))


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = [word.lower() for word in WORD.findall(text)]
    return (tuple(words[n : n + COPIED]) for n in range(len(words) - COPIED + 1))


def mended(text: str, chunk: Chunk, settings: Settings) -> str:
    """An accepted answer as a prefix: one line of plain text, 50 to 150 tokens. One that is too long ends at a
    sentence's end; one that is too short is told where it stands."""
    text = plain(text)
    if count(text) > MOST:
        text = _shortened(text)
    if count(text) < LEAST:
        text = located(text, chunk, settings)
    return clipped(text, MOST)


def _shortened(text: str) -> str:
    """The sentences that fit, where they are enough; else the words that do."""
    ends = [match.start() for match in SENTENCE_END.finditer(text)]
    fitting = next((text[:end] for end in reversed(ends) if count(text[:end]) <= MOST), "")
    return fitting if count(fitting) >= LEAST else clipped(text, MOST)


def summary_of(text: str) -> str:
    """An accepted answer as a chapter's summary."""
    return clipped(plain(text), SUMMARY_TOKENS)
