"""The checks that give the verdict: each holds the written records against the chapters as they stand on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from pydantic import ValidationError

from bookchunk_assets.chunking.contents import contents_text, listed_names
from bookchunk_assets.chunking.groups import Group
from bookchunk_assets.chunking.tokens import count
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.markdown.chapter import ParsedChapter
from bookchunk_assets.markdown.notes import reach
from bookchunk_assets.markdown.spans import inside, merge, without
from bookchunk_assets.outputs.passages import Passage, labels, passages, squeezed
from bookchunk_assets.outputs.records import Record, chapter_stem
from bookchunk_assets.outputs.schema import KEYS, METADATA_KEYS, RecordModel

WORST = 10  # faults that a result lists
PREFIX_TOKENS = range(50, 151)
TOKENS_A_WORD = 0.95 * 1.3  # the design's floor, which older prose and scripts without spaces miss with complete text


@dataclass(frozen=True, slots=True)
class ChapterUnderCheck:
    """A chapter as it stands on disk, with its body groups and, where one is asked for, that of its contents; and its
    records as they stand in the file."""

    settings: Settings
    stem: str
    parsed: ParsedChapter
    groups: tuple[Group, ...]
    listed: Group | None
    records: tuple[Record, ...]
    passages: tuple[Passage, ...]


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
        tokens += sum(record["token_count"] for record in sound if record["metadata"]["kind"] != "contents")
        bodies = tuple(group for group in groups if group.kind == "body")
        listed = next((group for group in groups if group.kind == "contents" and settings.contents_chunk), None)
        chapter = ChapterUnderCheck(
            settings, own, parsed, bodies, listed, sound, tuple(passages(parsed, bodies, sound))
        )
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
    """Each id once, counted from 0001, or from 0000 where there is a contents chunk; book and chapter as they are."""
    first = 0 if chapter.records and chapter.records[0]["metadata"]["kind"] == "contents" else 1
    place = (chapter.settings.book_slug, chapter.parsed.facts.number, chapter.parsed.facts.slug)
    for n, record in enumerate(chapter.records, first):
        if record["id"] != (wanted := f"{chapter.stem}-{n:04d}"):
            yield f"{record['id']}: stands where {wanted} belongs"
        if (record["book_slug"], record["chapter"], record["chapter_slug"]) != place:
            yield f"{record['id']}: book_slug, chapter or chapter_slug of another"


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
    """A body chunk's own span, and all else that its text holds, lies in one group, whose path and anchor it has."""
    texts = {group.start: squeezed(group.text) for group in chapter.groups}
    for passage in chapter.passages:
        record, group = passage.record, passage.group
        if group is None or passage.end > group.start + len(group.text):
            yield f"{record['id']}: leaves its section"
        elif (record["heading_path"], record["section_anchor"]) != (list(group.heading_path), f"#{group.anchor}"):
            yield f"{record['id']}: stands under {' › '.join(group.heading_path)}"
        elif passage.faithful and not (passage.lead in texts[group.start] and passage.tail in texts[group.start]):
            yield f"{record['id']}: holds text that its section has not"
    for record in chapter.records:
        if record["metadata"]["kind"] == "contents":
            yield from contents_faults(record, chapter.listed)


def contents_faults(record: Record, listed: Group | None) -> Faults:
    """A contents chunk names what its file lists, once, under the file's title."""
    names = listed_names(record["text"])
    if listed is None:
        yield f"{record['id']}: a contents chunk, though none is asked for or the file lists too little"
    elif not names or len(set(names)) != len(names) or not set(names) <= set(listed.names):
        yield f"{record['id']}: lists what the file does not, or a name twice"
    elif (record["heading_path"], record["section_anchor"]) != (list(listed.heading_path), "#toc"):
        yield f"{record['id']}: a contents chunk that does not stand under the title"


def footnotes_whole(chapter: ChapterUnderCheck) -> Faults:
    """Every reference has its definition at its chunk's end or in footnote chunks right after it, and no definition
    stands elsewhere."""
    notes = {note.label: note for note in chapter.parsed.notes}
    refs = {label: note.refs for label, note in notes.items()}
    bodies = iter(chapter.passages)
    before: Record | None = None
    waiting: dict[str, str] = {}  # what the body chunk before refers to and does not carry, and how much has followed
    missing: dict[str, str] = {}  # labels not told so far, by the chunk that refers to them
    told = set[str]()
    for record in chapter.records:
        if record["metadata"]["kind"] == "body":
            passage, before = next(bodies), record
            needed = set(reach(labels(chapter.parsed, passage), refs))
            carried = set(record["metadata"]["footnotes"])
            waiting = dict.fromkeys(needed - carried - told, "")
            missing.update((label, record["id"]) for label in waiting)
            if not passage.defined:
                yield f"{record['id']}: does not end with its definitions"
            for label in sorted(carried - needed):
                yield f"{record['id']}: carries [^{label}] without a reference"
        elif record["metadata"]["kind"] == "footnote":
            at = record["metadata"]["char_start"]
            label = next((note.label for note in notes.values() if note.start <= at < note.end), "")
            if before is None or label not in waiting:
                yield f"{record['id']}: does not follow the chunk that refers to it"
                continue
            if any(record[key] != before[key] for key in ("heading_path", "section_anchor")):
                yield f"{record['id']}: stands in another section than its reference"
            waiting[label] += squeezed(record["text"])
            if waiting[label] == squeezed(notes[label].text):
                told.add(label)
                del waiting[label], missing[label]
    for label, where in missing.items():
        yield f"{where}: [^{label}] without its definition"


def source_covered(chapter: ChapterUnderCheck) -> Faults:
    """Every visible character lies in exactly one chunk's own span, headings with nothing under them aside, and the
    chunk's text has it."""
    text = chapter.parsed.text
    grouped = [(group.start, group.start + len(group.text)) for group in chapter.groups]
    bare = merge((h.start, h.end) for h in chapter.parsed.headings if not inside(grouped, h.start))
    at = 0
    for passage in chapter.passages:
        where = passage.record["id"]
        if lost := without(text, at, passage.start, bare)[0].strip():
            yield f"{where}: {len(lost)} characters before it in no chunk, from {lost[:40]!r}"
        if again := text[passage.start : min(at, passage.end)].strip():
            yield f"{where}: {len(again)} characters in two chunks, from {again[:40]!r}"
        if not passage.faithful:
            yield f"{where}: its text is not what the file has there"
        at = max(at, passage.end)
    if lost := without(text, at, len(text), bare)[0].strip():
        yield f"{chapter.stem}: {len(lost)} characters at its end in no chunk, from {lost[:40]!r}"
    told = any(record["metadata"]["kind"] == "contents" for record in chapter.records)
    if chapter.listed and not told and contents_text("", chapter.listed.names, "en", chapter.settings.target_tokens):
        yield f"{chapter.stem}: lists {len(chapter.listed.names)} names, and has no contents chunk"


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
