"""The checks that give the verdict: each holds the written records against the chapters as they stand on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from pydantic import ValidationError

from bookchunk_assets.chunking.groups import Group
from bookchunk_assets.chunking.tokens import count
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.markdown.chapter import ParsedChapter
from bookchunk_assets.markdown.notes import reach
from bookchunk_assets.markdown.spans import clean_offset
from bookchunk_assets.outputs.records import Record, chapter_stem
from bookchunk_assets.outputs.schema import KEYS, METADATA_KEYS, RecordModel

WORST = 10  # faults that a result lists
PREFIX_TOKENS = range(50, 151)
TOKENS_A_WORD = 0.95 * 1.3  # the design's floor, which older prose and scripts without spaces miss with complete text


@dataclass(frozen=True, slots=True)
class ChapterUnderCheck:
    """A chapter as it stands on disk, and its records as they stand in the file."""

    settings: Settings
    stem: str
    parsed: ParsedChapter
    groups: tuple[Group, ...]
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check's outcome; ``faults`` lists the worst, by id. One that only ``warns`` leaves the verdict alone."""

    name: str
    passed: bool
    what: str
    faults: tuple[str, ...] = ()
    warns: bool = False
    figures: Mapping[str, float] = field(default_factory=dict)


Faults = Iterator[str]


def run_checks(
    settings: Settings,
    chapters: Iterable[tuple[ParsedChapter, tuple[Group, ...]]],
    records: Iterable[Record],
    *,
    vectors: bool,
) -> list[CheckResult]:
    """Every check, chapter by chapter, so that no more than one is held. ``chapters`` come in the book's order,
    ``records`` in the file's; ``vectors`` is whether a file of embeddings stands beside it."""
    faults: dict[str, list[str]] = {name: [] for name in CHECKS}
    tokens = words = 0
    coming = groupby(records, lambda record: str(record.get("id")).rpartition("-")[0])
    stem, mine = next(coming, ("", iter(())))
    for parsed, groups in chapters:
        words += len(parsed.text.split())
        own = chapter_stem(settings.book_slug, parsed.facts)
        there: list[Record] = []
        if stem == own:
            there = list(mine)
            stem, mine = next(coming, ("", iter(())))
        faults["schema_valid"] += schema_faults(there)
        sound = tuple(record for record in there if not any(schema_faults([record])))
        tokens += sum(record["token_count"] for record in sound)
        chapter = ChapterUnderCheck(settings, own, parsed, groups, sound)
        for name, check in BY_CHAPTER.items():
            faults[name] += check(chapter)
    while stem:
        faults["ids_unique"].append(f"{stem}: stands where no chapter of that number belongs")
        stem, mine = next(coming, ("", iter(())))
    if vectors and settings.embedding == "none":
        faults["embeddings_whole"].append("embeddings.parquet stands there, though no embedding is asked for")
    results = [_result(name, what, faults[name]) for name, what in CHECKS.items()]
    results.insert(-1, token_sum(tokens, words))
    return results


def _result(name: str, what: str, found: Sequence[str]) -> CheckResult:
    told = f"not so that {what}: {len(found)} faults" if found else what
    return CheckResult(name, not found, told, tuple(found[:WORST]), figures={"faults": len(found)})


def token_sum(tokens: int, words: int) -> CheckResult:
    """The design's floor of tokens for the words there are: a warning only."""
    floor = TOKENS_A_WORD * words
    what = f"{tokens} tokens for {words} words, expected at least {floor:.0f}"
    return CheckResult("token_sum", tokens >= floor, what, warns=True, figures={"tokens": tokens, "words": words})


def schema_faults(records: Iterable[Record]) -> Faults:
    """Keys, their order, their types, and the digest."""
    for record in records:
        where = str(record.get("id"))
        try:
            RecordModel.model_validate(record)
        except ValidationError as error:
            yield f"{where}: {error.errors()[0]['msg']} at {'.'.join(map(str, error.errors()[0]['loc']))}"
            continue
        if tuple(record) != KEYS or tuple(record["metadata"]) != METADATA_KEYS:
            yield f"{where}: keys in another order"
        text = f"{record['context_prefix']}\n\n{record['text']}"
        if hashlib.sha256(text.encode()).hexdigest() != record["sha256"]:
            yield f"{where}: sha256 is not that of prefix and text"


def ids_unique(chapter: ChapterUnderCheck) -> Faults:
    """Each id once, counted from 0001, or from 0000 where there is a contents chunk."""
    first = 0 if chapter.records and chapter.records[0]["metadata"]["kind"] == "contents" else 1
    for n, record in enumerate(chapter.records, first):
        if record["id"] != (wanted := f"{chapter.stem}-{n:04d}"):
            yield f"{record['id']}: stands where {wanted} belongs"


def text_size(chapter: ChapterUnderCheck) -> Faults:
    """Exact counts, none over the hard max, none empty."""
    for record in chapter.records:
        tokens = count(record["text"])
        if tokens != record["token_count"]:
            yield f"{record['id']}: token_count {record['token_count']}, is {tokens}"
        if tokens > chapter.settings.hard_max:
            yield f"{record['id']}: {tokens} tokens, over {chapter.settings.hard_max}"
        if not record["text"].strip():
            yield f"{record['id']}: empty"


def prefix_size(chapter: ChapterUnderCheck) -> Faults:
    """50 to 150 tokens on one line."""
    for record in chapter.records:
        tokens = count(record["context_prefix"])
        if tokens not in PREFIX_TOKENS or len(record["context_prefix"].splitlines()) != 1:
            yield f"{record['id']}: {tokens} tokens, or several lines"


def no_section_crossed(chapter: ChapterUnderCheck) -> Faults:
    """A body chunk's own span lies in one group, whose path and anchor it has."""
    for record in _of_kind(chapter, "body"):
        start, end = _clean_span(chapter, record)
        group = next((g for g in reversed(chapter.groups) if g.start <= start), None)
        if group is None or end > group.start + len(group.text):
            yield f"{record['id']}: leaves its section"
        elif (record["heading_path"], record["section_anchor"]) != (list(group.heading_path), f"#{group.anchor}"):
            yield f"{record['id']}: stands under {' › '.join(group.heading_path)}"


def footnotes_whole(chapter: ChapterUnderCheck) -> Faults:
    """Every reference in a chunk's own text has its definition at the chunk's end, or in a footnote chunk."""
    notes = {note.label: note for note in chapter.parsed.notes}
    refs = {label: note.refs for label, note in notes.items()}
    told = "\n".join(r["text"] for r in _of_kind(chapter, "footnote"))
    for record in _of_kind(chapter, "body"):
        start, end = _clean_span(chapter, record)
        labels = [r.label for r in chapter.parsed.references if start <= r.clean < end]
        for label in reach(labels, refs):
            if label in record["metadata"]["footnotes"]:
                whole = notes[label].text in record["text"]
            else:
                whole = "".join(notes[label].text.split()) in "".join(told.split())
            if not whole:
                yield f"{record['id']}: [^{label}] without its definition"


def source_covered(chapter: ChapterUnderCheck) -> Faults:
    """Every visible character of a group lies in exactly one chunk's own span, and the chunk's text has it."""
    spans = [(_clean_span(chapter, record), record) for record in _of_kind(chapter, "body")]
    for ((_, end), _), ((start, _), record) in pairwise(spans):
        if start < end:
            yield f"{record['id']}: starts at {start}, before {end} where the one before it ends"
    for (start, end), record in spans:
        if "".join(chapter.parsed.text[start:end].split()) not in "".join(record["text"].split()):
            yield f"{record['id']}: its text is not what the file has there"
    for group in chapter.groups:
        at = group.start
        inside = [span for span, _ in spans if group.start <= span[0] < group.start + len(group.text)]
        for start, end in [*inside, (group.start + len(group.text),) * 2]:
            if lost := chapter.parsed.text[at:start].strip():
                yield f"{chapter.stem}: {len(lost)} characters in no chunk, from {lost[:40]!r}"
            at = max(at, end)


CHECKS = {
    "schema_valid": "records have the keys and types of the contract",
    "ids_unique": "ids are unique, in order and without gaps",
    "text_size": "token counts are exact and none passes the hard max",
    "prefix_size": "prefixes have 50 to 150 tokens on one line",
    "no_section_crossed": "no chunk leaves its section",
    "footnotes_whole": "every footnote stands with its reference",
    "source_covered": "every character of the chapters is in exactly one chunk",
    "embeddings_whole": "embeddings are as asked for",
}
NAMES = (*list(CHECKS)[:-1], "token_sum", "embeddings_whole")
BY_CHAPTER: dict[str, Callable[[ChapterUnderCheck], Faults]] = {
    check.__name__: check
    for check in (ids_unique, text_size, prefix_size, no_section_crossed, footnotes_whole, source_covered)
}


def _of_kind(chapter: ChapterUnderCheck, kind: str) -> list[Record]:
    return [record for record in chapter.records if record["metadata"]["kind"] == kind]


def _clean_span(chapter: ChapterUnderCheck, record: Record) -> tuple[int, int]:
    metadata, breaks = record["metadata"], chapter.parsed.breaks
    return clean_offset(breaks, metadata["char_start"]), clean_offset(breaks, metadata["char_end"] - 1) + 1
