"""The checks that give the verdict: each holds the written records against the chapters as they stand on disk."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

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

    stem: str
    parsed: ParsedChapter
    groups: tuple[Group, ...]
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class BookUnderCheck:
    """All that the checks look at. ``records`` are in file order; ``vectors`` is whether a file of embeddings stands
    beside them."""

    settings: Settings
    records: tuple[Record, ...]
    chapters: tuple[ChapterUnderCheck, ...]
    vectors: bool = False


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


def run_checks(book: BookUnderCheck) -> list[CheckResult]:
    """Every check, in the contract's order. Where a record is no record, the others have nothing to look at."""
    results = [_result("schema_valid", "records have the keys and types of the contract", schema_valid(book))]
    if not results[0].passed:
        skipped = "not looked at: the file's records are broken"
        return results + [CheckResult(name, False, skipped) for name, *_ in CHECKS] + [token_sum(book, broken=True)]
    results += [_result(name, what, check(book)) for name, what, check in CHECKS[:-1]]
    name, what, check = CHECKS[-1]
    return [*results, token_sum(book), _result(name, what, check(book))]


def _result(name: str, what: str, faults: Faults) -> CheckResult:
    found = list(faults)
    told = f"{what}: {len(found)} faults" if found else what
    return CheckResult(name, not found, told, tuple(found[:WORST]), figures={"faults": len(found)})


def under_check(
    settings: Settings, chapters: Sequence[tuple[ParsedChapter, tuple[Group, ...]]], records: Sequence[Record], *, vectors: bool
) -> BookUnderCheck:
    """Give each chapter, in order, the records whose ids are its own."""
    stems = [chapter_stem(settings.book_slug, parsed.facts) for parsed, _ in chapters]
    by_stem: dict[str, list[Record]] = {stem: [] for stem in stems}
    for record in records:
        stem = str(record.get("id")).rpartition("-")[0]
        if stem in by_stem:
            by_stem[stem].append(record)
    return BookUnderCheck(
        settings,
        tuple(records),
        tuple(
            ChapterUnderCheck(stem, parsed, groups, tuple(by_stem[stem]))
            for stem, (parsed, groups) in zip(stems, chapters, strict=True)
        ),
        vectors,
    )


def schema_valid(book: BookUnderCheck) -> Faults:
    """Keys, their order, their types, and the digest."""
    for number, record in enumerate(book.records, 1):
        where = str(record.get("id", f"line {number}"))
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


def ids_unique(book: BookUnderCheck) -> Faults:
    """Each id once, counted from 0001 in each chapter, chapters in their order."""
    for id_, times in Counter(record["id"] for record in book.records).items():
        if times > 1:
            yield f"{id_}: {times} times"
    wanted = []
    for chapter in book.chapters:
        first = 0 if chapter.records and chapter.records[0]["metadata"]["kind"] == "contents" else 1
        wanted += [f"{chapter.stem}-{n:04d}" for n in range(first, first + len(chapter.records))]
    for record, want in zip(book.records, wanted, strict=False):
        if record["id"] != want:
            yield f"{record['id']}: stands where {want} belongs"
            return
    if len(book.records) != len(wanted):
        yield f"{len(book.records) - len(wanted)} records of no chapter on disk"


def text_size(book: BookUnderCheck) -> Faults:
    """Exact counts, none over the hard max, none empty."""
    for record in book.records:
        tokens = count(record["text"])
        if tokens != record["token_count"]:
            yield f"{record['id']}: token_count {record['token_count']}, is {tokens}"
        if tokens > book.settings.hard_max:
            yield f"{record['id']}: {tokens} tokens, over {book.settings.hard_max}"
        if not record["text"].strip():
            yield f"{record['id']}: empty"


def prefix_size(book: BookUnderCheck) -> Faults:
    """50 to 150 tokens on one line."""
    for record in book.records:
        tokens = count(record["context_prefix"])
        if tokens not in PREFIX_TOKENS or len(record["context_prefix"].splitlines()) != 1:
            yield f"{record['id']}: {tokens} tokens, or several lines"


def no_section_crossed(book: BookUnderCheck) -> Faults:
    """A body chunk's own span lies in one group, whose path and anchor it has."""
    for chapter in book.chapters:
        for record in _of_kind(chapter, "body"):
            start, end = _clean_span(chapter, record)
            group = next((g for g in reversed(chapter.groups) if g.start <= start), None)
            if group is None or end > group.start + len(group.text):
                yield f"{record['id']}: leaves its section"
            elif (record["heading_path"], record["section_anchor"]) != (list(group.heading_path), f"#{group.anchor}"):
                yield f"{record['id']}: stands under {' › '.join(group.heading_path)}"


def footnotes_whole(book: BookUnderCheck) -> Faults:
    """Every reference in a chunk's own text has its definition at the chunk's end, or in a footnote chunk."""
    for chapter in book.chapters:
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


def source_covered(book: BookUnderCheck) -> Faults:
    """Every visible character of a group lies in exactly one chunk's own span, and the chunk's text has it."""
    for chapter in book.chapters:
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


def embeddings_whole(book: BookUnderCheck) -> Faults:
    """No vectors stand beside chunks that ask for none."""
    if book.vectors and book.settings.embedding == "none":
        yield "embeddings.parquet stands there, though no embedding is asked for"


CHECKS: tuple[tuple[str, str, Callable[[BookUnderCheck], Faults]], ...] = (
    ("ids_unique", "ids are unique, in order and without gaps", ids_unique),
    ("text_size", "token counts are exact and none passes the hard max", text_size),
    ("prefix_size", "prefixes have 50 to 150 tokens on one line", prefix_size),
    ("no_section_crossed", "no chunk leaves its section", no_section_crossed),
    ("footnotes_whole", "every footnote stands with its reference", footnotes_whole),
    ("source_covered", "every character of the chapters is in exactly one chunk", source_covered),
    ("embeddings_whole", "embeddings are as asked for", embeddings_whole),
)


def token_sum(book: BookUnderCheck, *, broken: bool = False) -> CheckResult:
    """The design's floor of tokens for the words there are: a warning only."""
    tokens = 0 if broken else sum(record["token_count"] for record in book.records)
    words = sum(len(chapter.parsed.text.split()) for chapter in book.chapters)
    floor = TOKENS_A_WORD * words
    what = f"{tokens} tokens for {words} words, expected at least {floor:.0f}"
    return CheckResult("token_sum", tokens >= floor, what, warns=True, figures={"tokens": tokens, "words": words})


def _of_kind(chapter: ChapterUnderCheck, kind: str) -> list[Record]:
    return [record for record in chapter.records if record["metadata"]["kind"] == kind]


def _clean_span(chapter: ChapterUnderCheck, record: Record) -> tuple[int, int]:
    metadata, breaks = record["metadata"], chapter.parsed.breaks
    return clean_offset(breaks, metadata["char_start"]), clean_offset(breaks, metadata["char_end"] - 1) + 1
