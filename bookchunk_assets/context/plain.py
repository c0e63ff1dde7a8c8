"""Markdown to plain text, roughly and quickly: enough to quote from, for text that is nowhere parsed again."""

from __future__ import annotations

import html
import re

# Comments and tags, footnote marks, the targets of links, attributes, bare addresses. Here and in ``MARKS`` each branch
# starts with a literal: ``re`` then skips to the next of these, some ten times as fast.
UNREAD = re.compile(
    r"<(?:!--.*?-->|/?[A-Za-z][^<>]*>)|\[\^[^\]\s]+\]:?|\](?:\([^()]*\)|\[[^\[\]]*\])|\{[#:.%][^{}\n]*\}|https?://[^\s)>\]]*[^\s)>\].,;:!?]",
    re.DOTALL,
)
QUOTES = re.compile(r"^[ \t]*>[> \t]*|^[ \t]*(?:([-*_=])[ \t]*(?:\1[ \t]*){2,}|[`~]{3,}.*)$", re.MULTILINE)
ITEMS = re.compile(r"^[ \t]*(?:(?:#{1,6}|[-*+•]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[[ xX]\][ \t])?)+", re.MULTILINE)
MARKS = re.compile(r"\\([!-/:-@\[-`{-~])|[\[\]*`]|!\[|~~|_+(?!\w)|_(?<!\w_)_*")
CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")


def one_line(text: str) -> str:
    """``text`` with runs of white space as one space, and no control characters."""
    return " ".join((text if text.isprintable() else CONTROLS.sub("", text)).split())


def read_text(source: str) -> str:
    """Markdown source less what nobody reads aloud: tags, addresses, footnote marks; entities as their characters."""
    text = UNREAD.sub(lambda match: " " if match[0][0] == "<" else "", source)
    return html.unescape(text) if "&" in text else text


def plain_text(source: str) -> str:
    """Markdown source as text: links by their words, images by their description, no marks; lines stay lines, and a
    list's item or a heading is a paragraph of its own."""
    return unmarked(read_text(source))


def unmarked(text: str) -> str:
    """The marks of lists, quotes, headings and emphasis taken out of what ``read_text`` leaves."""
    return MARKS.sub(r"\1", ITEMS.sub("\n", QUOTES.sub("", text)))
