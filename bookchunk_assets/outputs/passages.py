"""Chunks laid back on the chapter that they were cut from, to see what each one's text is made of.

Texts are compared *squeezed*: less their white space, which may change beside a comment or a lifted footnote.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bookchunk_assets.chunking.groups import Group
from bookchunk_assets.markdown.chapter import Note, ParsedChapter, source_offset
from bookchunk_assets.markdown.spans import clean_offset
from bookchunk_assets.outputs.records import Record


def squeezed(text: str) -> str:
    """The text less its white space."""
    return "".join(text.split())


@dataclass(frozen=True, slots=True)
class Passage:
    """A body chunk. Its own text is ``[start, end)`` of the chapter's clean text and starts in ``group``. Its record's
    text should be ``lead``, its own text, ``tail`` and the definitions of its footnotes, all squeezed: ``faithful``
    tells whether its own text is there, ``defined`` whether the definitions are."""

    record: Record
    group: Group | None
    start: int
    end: int
    lead: str
    tail: str
    faithful: bool
    defined: bool


def passages(parsed: ParsedChapter, groups: Sequence[Group], records: Iterable[Record]) -> Iterator[Passage]:
    """The body chunks among a chapter's records, in order; ``groups`` are its body groups."""
    notes = {note.label: note for note in parsed.notes}
    return (_passage(parsed, groups, notes, record) for record in records if record["metadata"]["kind"] == "body")


def _passage(parsed: ParsedChapter, groups: Sequence[Group], notes: Mapping[str, Note], record: Record) -> Passage:
    told, breaks = record["metadata"], parsed.breaks
    start, end = clean_offset(breaks, told["char_start"]), clean_offset(breaks, told["char_end"] - 1) + 1
    exact = (
        source_offset(breaks, start) == told["char_start"] and source_offset(breaks, end - 1) + 1 == told["char_end"]
    )
    definitions = squeezed("".join(notes[label].text for label in told["footnotes"] if label in notes))
    text, own = squeezed(record["text"]), squeezed(parsed.text[start:end])
    lead, found, tail = text.removesuffix(definitions).rpartition(own) if own else ("", "", "")
    return Passage(
        record,
        group=_group_at(groups, start),
        start=start,
        end=end,
        lead=lead,
        tail=tail,
        faithful=exact and bool(found),
        defined=text.endswith(definitions) and notes.keys() >= set(told["footnotes"]),
    )


def _group_at(groups: Sequence[Group], clean: int) -> Group | None:
    """The group that holds the character at a clean offset."""
    n = bisect_right(groups, clean, key=lambda g: g.start) - 1
    return groups[n] if n >= 0 and clean < groups[n].start + len(groups[n].text) else None


def labels(parsed: ParsedChapter, passage: Passage) -> Iterator[str]:
    """The footnotes that a body chunk refers to in its own text and its overlap."""
    found = parsed.references
    first = bisect_left(found, passage.start, key=lambda r: r.clean)
    after = bisect_left(found, passage.end, key=lambda r: r.clean)
    overlap = len(passage.lead) if passage.record["metadata"]["overlap_tokens"] else 0
    while first and len(squeezed(parsed.text[found[first - 1].clean : passage.start])) <= overlap:
        first -= 1
    return (reference.label for reference in found[first:after])
