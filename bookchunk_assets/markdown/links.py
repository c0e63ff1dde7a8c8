"""The texts of a file's links, as a reader sees them: Markdown's by markdown-it-py, then HTML's own."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import Any

from markdown_it import MarkdownIt

from bookchunk_assets.markdown.chapter import Block
from bookchunk_assets.markdown.titles import FOOTNOTE_MARK

INLINE = MarkdownIt("commonmark")  # knows no footnotes, whose marks would be links
LINE_START = re.compile(r"\n[ \t>]*")
MAY_LINK = re.compile(r"\](?:\(|\[)|<(?:a\s|https?:)", re.IGNORECASE)
TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*+)([^<>]*+)>")
HREF = re.compile(r"(?:^|\s)href\s*=", re.IGNORECASE)
ALT = re.compile(r"\salt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
PARTS = frozenset({"br", "div", "li", "p", "td", "h1", "h2", "h3", "h4", "h5", "h6"})  # tags between words


def link_texts(text: str, blocks: Sequence[Block], env: dict[str, Any]) -> Iterator[str]:
    """The text of each link in ``blocks``, in order; an image's description where it has no other. ``env`` knows the
    links that are defined."""
    defined = bool(env.get("references"))
    for block in blocks:
        source = text[block.start : block.end]
        if block.kind not in ("paragraph", "heading", "table", "html"):
            continue
        if not MAY_LINK.search(source) and not (defined and "]" in source):
            continue
        if block.kind == "html":
            yield from _anchors(source)
        elif block.kind == "table":
            for line in source.split("\n"):
                yield from _anchors(INLINE.renderInline(line, env))
        else:
            yield from _anchors(INLINE.renderInline(LINE_START.sub("\n", source), env))


def _anchors(markup: str) -> Iterator[str]:
    """The text of each ``<a href=…>`` that is closed."""
    words: list[str] | None = None
    pictures: list[str] = []
    at = 0
    for tag in TAG.finditer(markup):
        if words is not None:
            words.append(markup[at : tag.start()])
        at = tag.end()
        name = tag[2].lower()
        if name == "a":
            if words is not None and (shown := _shown("".join(words)) or _shown(" ".join(pictures))):
                yield shown
            words, pictures = ([] if not tag[1] and HREF.search(tag[3]) else None), []
        elif words is not None and name == "img" and (alt := ALT.search(tag[3])):
            pictures.append(alt[1] or alt[2] or "")
        elif words is not None and name in PARTS:
            words.append(" ")


def _shown(text: str) -> str:
    return " ".join(FOOTNOTE_MARK.sub("", html.unescape(text)).split())
