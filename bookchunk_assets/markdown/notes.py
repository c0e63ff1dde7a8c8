"""Footnotes by their own syntax: where each is defined, who refers to it, and which are lifted.

A definition that somebody refers to is lifted out of the clean text, to travel with its references; one that nobody
refers to stays where it stands. Where a label is defined twice, the first counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bookchunk_assets.markdown.chapter import Block
from bookchunk_assets.markdown.spans import Span, inside

REFERENCE = re.compile(r"\[\^([^\]\s]+)\]")
DEFINITION = re.compile(r"^ {0,3}\[\^([^\]\s]+)\]:", re.MULTILINE)
# What a line without indentation starts that ends a definition's paragraph.
OTHER_BLOCK = re.compile(
    r" {0,3}(\[\^[^\]\s]+\]:|#{1,6}(\s|$)|```|~~~|>|[-*+]\s|1[.)]\s|</?[a-zA-Z!]|([-*_][ \t]*){3,}$|\|)"
)
INDENT = re.compile(r" {4}|\t")
FENCE = re.compile(r"\s+(```|~~~)")


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition's span in the source, trailing blank lines left out."""

    label: str
    start: int
    end: int


def definitions(text: str, start: int, blocks: Sequence[Block], hidden: Sequence[Span]) -> Iterator[Definition]:
    """Every definition outside ``hidden`` (code and comments) and outside quotes and HTML, repeated labels too."""
    closed = [(b.start, b.end) for b in blocks if b.depth == 0 and b.kind in ("html", "blockquote")]
    for match in DEFINITION.finditer(text, start):
        a = match.start()
        if not inside(hidden, a) and not (inside(closed, a) and inside(closed, a - 1)):
            yield Definition(match[1], a, _end(text, a))


def _end(text: str, start: int) -> int:
    """A definition runs on through its paragraph, and through indented lines that follow blank ones."""
    end = at = text.find("\n", start) + 1 or len(text)
    blank = fenced = False
    while at < len(text):
        after = text.find("\n", at) + 1 or len(text)
        line = text[at:after]
        at = after
        if not line.strip():
            blank = True
            continue
        deep = INDENT.match(line)
        if not deep and (blank or fenced or OTHER_BLOCK.match(line.rstrip("\n"))):
            break
        blank, end = False, after
        if deep and FENCE.match(line):
            fenced = not fenced
    return end


def references(
    text: str, start: int, end: int, labels: Iterable[str], hidden: Sequence[Span]
) -> Iterator[re.Match[str]]:
    """References in ``text[start:end]`` to one of ``labels``, outside ``hidden``; a definition's own label is none."""
    known = frozenset(labels)
    for match in REFERENCE.finditer(text, start, end):
        if match[1] in known and not inside(hidden, match.start()):
            line = text.rfind("\n", 0, match.start()) + 1
            if not text.startswith(":", match.end()) or text[line : match.start()].strip():
                yield match


def reach(labels: Iterable[str], refs: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """``labels`` and all that their definitions refer to, themselves or through others, each once, nearest first."""
    seen: dict[str, None] = {}
    queue = list(labels)
    for label in queue:
        if label not in seen and label in refs:
            seen[label] = None
            queue.extend(refs[label])
    return tuple(seen)


def lifted(outside: Iterable[str], refs: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The labels whose definitions are lifted: what the text outside all definitions reaches, and what a definition
    that stays refers to."""
    found = set(reach(outside, refs))
    for label in refs:
        if label not in found:
            found.update(set(reach(refs[label], refs)) - {label})
    return frozenset(found)
