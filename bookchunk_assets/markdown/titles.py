"""A heading's plain title: no markup, no footnote marks, no ``{#id}``, white space collapsed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

INLINE = MarkdownIt("commonmark").use(footnote_plugin, move_to_end=False)
EXPLICIT_ID = re.compile(r"\s*\{#([^}\s]+)\}\s*$")
FOOTNOTE_MARK = re.compile(r"\[\^[^\]\s]+\]")
MARKUP = re.compile(r"[\\`*_\[\]<&!^]")


def explicit_id(content: str) -> str | None:
    """The id that ``{#id}`` at a heading's end gives it."""
    match = EXPLICIT_ID.search(content)
    return match[1] if match else None


def plain_title(content: str, env: dict[str, Any]) -> str:
    """The heading's text as a reader sees it; ``env`` knows the links that are defined."""
    if MARKUP.search(content):
        content = "".join(_text(INLINE.parseInline(content, env)))
    return FOOTNOTE_MARK.sub("", EXPLICIT_ID.sub("", " ".join(content.split()))).strip()


def _text(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            yield token.content
        elif token.type in ("softbreak", "hardbreak"):
            yield " "
        elif token.type in ("image", "inline"):
            yield from _text(token.children or ())
