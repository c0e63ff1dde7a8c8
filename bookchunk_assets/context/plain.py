"""Markdown to plain text, roughly and quickly: enough to quote from, for text that is nowhere parsed again."""

from __future__ import annotations

import html
import re

# What is not read: comments and tags, footnote marks, the targets of links, and bare addresses.
UNREAD = re.compile(
    r"<!--.*?-->|</?[a-z][^<>]*>|\[\^[^\]\s]+\]:?|(?<=\])(?:\([^()\s]*(?:\s[^()]*)?\)|\[[^\[\]]*\])|\{#[^{}\s]*\}|https?://[^\s)>\]]+",
    re.IGNORECASE | re.DOTALL,
)
MARKERS = re.compile(r"^(?:[ \t]*(?:>|#{1,6}(?=\s)|[-*+•](?=\s)|\d{1,9}[.)](?=\s)|\[[ xX]\](?=\s)))+[ \t]*", re.MULTILINE)
RULES = re.compile(r"^[ \t]*(?:([-*_=])[ \t]*(?:\1[ \t]*){2,}|`{3,}.*|~{3,}.*)$", re.MULTILINE)
MARKS = re.compile(r"!?\[(?=[^\[\]]*\])|(?<!\\)\]|[*`]+|~~|(?<!\w)_+|_+(?!\w)|\\(?=[!-/:-@\[-`{-~])")
CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")


def one_line(text: str) -> str:
    """``text`` with runs of white space as one space, and no control characters."""
    return " ".join(CONTROLS.sub("", text).split())


def read_text(source: str) -> str:
    """Markdown source less what nobody reads aloud: tags, addresses, footnote marks; lines stay as they are."""
    return UNREAD.sub(" ", source)


def plain_text(source: str) -> str:
    """Markdown source as text: links by their words, images by their description, no marks; lines stay apart."""
    text = MARKS.sub("", MARKERS.sub("", RULES.sub("", read_text(source))))
    return html.unescape(text) if "&" in text else text
