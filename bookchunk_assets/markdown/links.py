"""The texts of a file's links, as a reader sees them.

To find links by an inline parse costs as much as all the rest of the parse. So brackets and tags are matched here, by
CommonMark's rules (code spans, escapes and the innermost link first), and only a link's text goes to markdown-it-py.
A test holds this to the full parse.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference

from bookchunk_assets.markdown.chapter import Block
from bookchunk_assets.markdown.titles import FOOTNOTE_MARK, MARKUP

INLINE = MarkdownIt("commonmark")
LINE_START = re.compile(r"\n[ \t>]*")
MAY_LINK = re.compile(r"\](?:\(|\[)|<a\s", re.IGNORECASE)
TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*+)([^<>]*+)>")
TOKEN = re.compile(rf"\\.|(?<!`)(?P<code>`+)(?!`)[\s\S]+?(?<!`)(?P=code)(?!`)|{TAG.pattern}|!?\[|\]")
TARGET = re.compile(
    r"\(\s*(?:<[^<>\n]*+>|(?:[^\s()\\]++|\\.|\([^\s()]*+\))*+)"
    r"(?:\s+(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)))?\s*\)"
)
LABEL = re.compile(r"\[([^\[\]]*+)\]")
HREF = re.compile(r"\shref\s*=", re.IGNORECASE)
ALT = re.compile(r"\salt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
PARTS = frozenset({"br", "div", "li", "p", "td", "h1", "h2", "h3", "h4", "h5", "h6"})  # tags that stand between words


def link_texts(text: str, blocks: Sequence[Block], env: Mapping[str, Any]) -> Iterator[str]:
    """The text of each link in ``blocks``, in order; an image's description where it has no other. ``env`` knows the
    links that are defined."""
    defined: Mapping[str, Any] = env.get("references", {})
    for block in blocks:
        source = text[block.start : block.end]
        if block.kind not in ("paragraph", "heading", "table", "html"):
            continue
        if not MAY_LINK.search(source) and not (defined and "]" in source):
            continue
        if block.kind == "html":
            found = [_shown(label) for label in _labels(TAG, source, {})]
        else:
            parts = source.split("\n") if block.kind == "table" else [LINE_START.sub("\n", source)]
            found = [_read(label) for part in parts for label in _labels(TOKEN, part, defined)]
        yield from filter(None, found)


def _labels(tokens: re.Pattern[str], text: str, defined: Mapping[str, Any]) -> Iterator[str]:
    """What stands between a link's brackets or tags, as written."""
    brackets: list[tuple[int, str]] = []
    anchor, after = -1, 0
    for token in tokens.finditer(text):
        if token.start() < after:
            continue  # in a link's target
        if token[0] in ("[", "!["):
            brackets.append((token.end(), token[0]))
        elif token[0] == "]":
            start, opening = brackets.pop() if brackets else (0, "")
            after = _link_end(text, start, token.start(), defined) if opening else 0
            if after and opening == "[":
                yield text[start : token.start()]
                brackets = [bracket for bracket in brackets if bracket[1] == "!["]  # no link holds another
        elif (tag := TAG.fullmatch(token[0])) and tag[2].lower() == "a":
            if anchor >= 0:
                yield text[anchor : token.start()]
            anchor = token.end() if not tag[1] and HREF.search(tag[3]) else -1


def _link_end(text: str, start: int, end: int, defined: Mapping[str, Any]) -> int:
    """Where the link ends whose brackets are around ``[start, end)``: after its target, or it is defined; else 0."""
    if target := TARGET.match(text, end + 1):
        return target.end()
    label = LABEL.match(text, end + 1) if defined else None
    if label and normalizeReference(label[1] or text[start:end]) in defined:
        return label.end()
    return end + 1 if defined and not label and normalizeReference(text[start:end]) in defined else 0


def _read(label: str) -> str:
    """A label of Markdown as text."""
    return _shown(INLINE.renderInline(label)) if MARKUP.search(label) else " ".join(label.split())


def _shown(markup: str) -> str:
    """HTML as text."""
    text = TAG.sub(lambda tag: " " if tag[2].lower() in PARTS else "", markup)
    if not text.strip():
        text = " ".join(alt[1] or alt[2] or "" for alt in ALT.finditer(markup))
    return " ".join(FOOTNOTE_MARK.sub("", html.unescape(text)).split())
