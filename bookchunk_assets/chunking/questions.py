"""The structure fallback: question markers, and the section lines above them, where a file has no headings."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

from bookchunk_assets.corpus.slug import slugify
from bookchunk_assets.markdown.chapter import Block
from bookchunk_assets.markdown.spans import inside, merge
from bookchunk_assets.markdown.titles import plain_title

QUESTION = regex.compile(
    r"(?:Q ?(?P<number>\d+) *(?:[:.)]|[–—-](?! *Q?\d))"  # `Q1–Q3` and `Q4-2025` are quarters
    r"|ข้อ(?:ที่)? *(?P<number>[0-9๐-๙]+) *[:.)–—-]?"
    r"|คำถาม(?:ที่)? *(?P<number>[0-9๐-๙]+) *[:.)–—-]?)",
    regex.IGNORECASE,
)
EMOJI = regex.compile(
    r"(?:(?:\p{Extended_Pictographic}|\p{Regional_Indicator}|[0-9#*]\ufe0f?\u20e3)"
    r"[\ufe0f\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\s]*)+"
)
HEADER_LENGTH = 60
NAME_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Question:
    """A question from ``start`` (its section line's, if it is the first under one) on; ``section`` is empty where none
    is in force, and ``anchor`` not unique."""

    start: int
    section: str
    name: str
    anchor: str

    @property
    def path(self) -> tuple[str, ...]:
        """The section, if there is one, and the question."""
        return (self.section, self.name) if self.section else (self.name,)


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str


def questions(text: str, blocks: Sequence[Block]) -> Iterator[Question]:
    """The questions of a clean text without headings, in order; none where no line outside code starts one."""
    lines = list(_visible_lines(text, merge((b.start, b.end) for b in blocks if b.kind == "code")))
    section, opened = "", -1
    for line, following in zip(lines, [*lines[1:], None], strict=False):
        if match := QUESTION.match(line.text):
            number = f"Q{_ascii_number(match['number'])}"
            name = plain_title(line.text[match.end() :], {}) or plain_title(line.text, {}) or number
            if len(name) > NAME_LENGTH:
                name = name[:NAME_LENGTH].rstrip() + "…"
            anchor = slugify(f"{section}-{number}")
            yield Question(line.start if opened < 0 else opened, section, name, anchor)
            opened = -1
        elif _is_header(line.text.strip()) and following and QUESTION.match(following.text):
            section = plain_title(EMOJI.sub("", line.text.strip(), count=1), {}) or line.text.strip()
            opened = line.start


def _visible_lines(text: str, code: Sequence[tuple[int, int]]) -> Iterator[_Line]:
    start = 0
    for line in text.split("\n"):
        if line.strip() and not inside(code, start):
            yield _Line(start, line)
        start += len(line) + 1


def _is_header(line: str) -> bool:
    return len(line) <= HEADER_LENGTH and EMOJI.match(line) is not None


def _ascii_number(digits: str) -> str:
    """Digits of any script, however many, as an ASCII number."""
    return "".join(str(unicodedata.digit(digit)) for digit in digits).lstrip("0") or "0"
