"""A file's text: UTF-8, no byte-order mark, LF, NFC. All offsets count code points of it."""

from __future__ import annotations

import unicodedata
from itertools import groupby

import regex

# Python puts a row of combining marks in order in quadratic time; one in order already takes linear time.
MARKS = regex.compile(r"\p{M}{100,}")


class NoText(ValueError):  # noqa: N818 - says what the bytes are
    """The bytes are no text; ``line`` tells where, ``what`` why."""

    def __init__(self, line: int, what: str) -> None:
        self.line, self.what = line, what
        super().__init__(f"line {line}: {what}")


def decode(data: bytes) -> str:
    """The text of a file's bytes. Raises ``NoText`` on bytes that are no UTF-8 and on NUL."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = _lf(data[: error.start].decode("utf-8")).count("\n") + 1
        raise NoText(line, f"byte 0x{data[error.start]:02x} is no UTF-8; save the file as UTF-8") from None
    text = _lf(text.removeprefix("\ufeff"))
    if (at := text.find("\0")) >= 0:
        raise NoText(text.count("\n", 0, at) + 1, "a NUL character; remove it")
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", MARKS.sub(lambda marks: _ordered(marks[0]), text))


def _ordered(marks: str) -> str:
    """Marks in canonical order: sorted by their class between those of class 0, which stay where they are."""
    runs = groupby(marks, key=lambda mark: unicodedata.combining(mark) > 0)
    return "".join(mark for moves, run in runs for mark in (sorted(run, key=unicodedata.combining) if moves else run))


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
