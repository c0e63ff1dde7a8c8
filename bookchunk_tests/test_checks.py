from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bookchunk_assets.chunking.chunker import chunk_groups
from bookchunk_assets.chunking.groups import Group, section_groups
from bookchunk_assets.chunking.tokens import count
from bookchunk_assets.context.extractive import extractive_prefixes
from bookchunk_assets.context.prefix import PrefixedChunk
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.markdown.chapter import ParsedChapter
from bookchunk_assets.markdown.parse import parse_chapter
from bookchunk_assets.outputs.checks import NAMES, CheckResult, run_checks
from bookchunk_assets.outputs.records import record, to_lines

SETTINGS = Settings(
    book_slug="on-rivers", title="On Rivers", authors=("A. Heron",), target_tokens=64, overlap_tokens=16
)

SPRINGS = """---
title: Springs
chapter: 1
---
<!-- page: 3 -->
A river begins where water leaves the rock.[^rock] Nobody who has stood there in a dry August forgets how cold it is.

## Of warm springs

### Of the warm spring at Bath

The water at Bath is as warm as blood, and the Romans built over it.[^1] Steam stands above the pool all winter, and in
the morning the whole valley smells of iron.

<!-- page: 4 -->

Later ages drank it. They came in carriages, for a month at a time, and they left their crutches on the wall, to witness
that the water had kept its promise to them.

The doctors of the town wrote pamphlets in praise of it, each against the others, and sold them at the door.

## Of springs that have no name

## Of springs that fail

Some springs run for seven years and then stop.[^long]

[^1]: Under Vespasian, it seems.

[^rock]: Limestone, as a rule.

[^long]: The longest record is that of the abbey, whose cellarer wrote down each spring morning whether the basin was
    full, half full or empty, and went on doing so through two plagues and a siege, until the pages of his book were as
    brown as the leaves that he fished out of the water on the feast of Saint Martin, when the account for the year was
    closed.
"""

MOUTHS = """---
title: Mouths
chapter: 2
---
## How to tell a delta

```python
def delta(rivers):
    total = 0
    for river in rivers:
        total += river.silt * river.flow
        if river.flow < 0:
            raise ValueError("no river flows uphill")

    for year in range(1, 100):
        total = total * 1.0001 + year
        if total > 1_000_000:
            break

    return round(total / len(rivers), 2)
```

Every delta is an argument between a river and the sea.
"""

Records = list[dict[str, Any]]


@pytest.fixture(scope="module")
def chapters() -> list[tuple[ParsedChapter, tuple[Group, ...]]]:
    parsed = [
        parse_chapter(text.encode(), "book", f"on-rivers-ch{n:02d}.md") for n, text in enumerate((SPRINGS, MOUTHS), 1)
    ]
    return [(chapter, section_groups(chapter)) for chapter in parsed]


@pytest.fixture(scope="module")
def written(chapters: list[tuple[ParsedChapter, tuple[Group, ...]]]) -> Records:
    """The records as they are read back from the file."""
    made = []
    for _, groups in chapters:
        chunks = chunk_groups(groups, SETTINGS)
        prefixes = extractive_prefixes(chunks, SETTINGS)
        made += [PrefixedChunk(chunk, prefix) for chunk, prefix in zip(chunks, prefixes, strict=True)]
    lines = to_lines(record(SETTINGS.book_slug, SETTINGS.language, each) for each in made)
    return [json.loads(line) for line in lines]


def with_text(records: Records, fragment: str) -> dict[str, Any]:
    return next(each for each in records if fragment in each["text"])


def sealed(records: Records) -> None:
    """Make sizes and digests right again, so that only the damage itself can be noticed."""
    for each in records:
        each["token_count"] = count(each["text"])
        each["sha256"] = hashlib.sha256(f"{each['context_prefix']}\n\n{each['text']}".encode()).hexdigest()


def numbered(records: Records) -> None:
    """Number the chunks of each chapter in the order in which they stand."""
    ordinals = dict.fromkeys((each["chapter"] for each in records), 0)
    for each in records:
        ordinals[each["chapter"]] += 1
        each["id"] = f"on-rivers-ch{each['chapter']:02d}-{ordinals[each['chapter']]:04d}"


def test_the_book_has_what_the_checks_are_about(written: Records) -> None:
    assert {each["metadata"]["kind"] for each in written} == {"body", "footnote"}
    assert any(each["metadata"]["footnotes"] for each in written)
    assert any(each["metadata"]["overlap_tokens"] for each in written)
    assert any(each["metadata"]["split"] == "code" for each in written)
    assert not any("no name" in each["text"] for each in written)


def test_what_the_chunker_made_passes(
    written: Records, chapters: list[tuple[ParsedChapter, tuple[Group, ...]]]
) -> None:
    results = run_checks(SETTINGS, chapters, written, vectors=False)
    assert [result.name for result in results] == list(NAMES)
    assert [(result.name, result.faults) for result in results if not result.passed] == []


def add_key(records: Records) -> None:
    records[0]["colour"] = "blue"


def drop_key(records: Records) -> None:
    del records[0]["page_end"]


def reorder_keys(records: Records) -> None:
    records[0]["id"] = records[0].pop("id")


def reorder_metadata(records: Records) -> None:
    records[0]["metadata"]["language"] = records[0]["metadata"].pop("language")


def number_as_text(records: Records) -> None:
    records[0]["token_count"] = str(records[0]["token_count"])


def other_digest(records: Records) -> None:
    records[0]["sha256"] = "0" * 64


def unknown_kind(records: Records) -> None:
    records[0]["metadata"]["kind"] = "preface"


def same_id_twice(records: Records) -> None:
    records[1]["id"] = records[0]["id"]


def gap_in_ids(records: Records) -> None:
    records[-1]["id"] = "on-rivers-ch02-0099"


def chapters_swapped(records: Records) -> None:
    records.sort(key=lambda each: -each["chapter"])


def chapter_of_another_book(records: Records) -> None:
    stray = copy.deepcopy(records[-1])
    stray |= {"id": "on-rivers-ch07-0001", "chapter": 7}
    records.append(stray)


def miscounted(records: Records) -> None:
    records[0]["token_count"] += 1


def grown(records: Records) -> None:
    """One chunk that holds the whole section: nothing lost, but over the hard max."""
    parts = [each for each in records if each["section_anchor"] == "#of-the-warm-spring-at-bath"]
    first, last = parts[0], parts[-1]
    first["metadata"]["char_end"] = last["metadata"]["char_end"]
    span = SPRINGS[first["metadata"]["char_start"] : last["metadata"]["char_end"]]
    first["text"] = span.replace("<!-- page: 4 -->\n", "") + "\n\n[^1]: Under Vespasian, it seems."
    for part in parts[1:]:
        records.remove(part)
    numbered(records)
    sealed(records)


def short_prefix(records: Records) -> None:
    records[0]["context_prefix"] = "On springs."
    sealed(records)


def long_prefix(records: Records) -> None:
    records[0]["context_prefix"] *= 4
    sealed(records)


def prefix_of_two_lines(records: Records) -> None:
    records[0]["context_prefix"] = records[0]["context_prefix"].replace(" ", "\n", 1)
    sealed(records)


def other_path(records: Records) -> None:
    with_text(records, "Later ages")["heading_path"] = ["Springs"]


def other_anchor(records: Records) -> None:
    with_text(records, "Later ages")["section_anchor"] = "#springs"


def over_the_border(records: Records) -> None:
    """The chapter's first chunk takes the start of the next section along."""
    first, second = records[0], records[1]
    heading = "## Of warm springs"
    first["text"] = first["text"].replace("\n\n[^rock]", f"\n\n{heading}\n\n[^rock]")
    first["metadata"]["char_end"] = SPRINGS.index(heading) + len(heading)
    second["text"] = second["text"].removeprefix(heading).lstrip()
    second["metadata"]["char_start"] = SPRINGS.index("### Of the warm")
    sealed(records)


def definition_gone(records: Records) -> None:
    chunk = with_text(records, "[^1]: Under")
    chunk["text"] = chunk["text"].replace("[^1]: Under Vespasian, it seems.", "").rstrip()
    sealed(records)


def definition_disowned(records: Records) -> None:
    definition_gone(records)
    with_text(records, "blood")["metadata"]["footnotes"] = []


def footnote_chunk_gone(records: Records) -> None:
    records.remove(with_text(records, "cellarer"))
    numbered(records)


def footnote_chunk_cut_short(records: Records) -> None:
    last = [each for each in records if each["metadata"]["kind"] == "footnote"][-1]
    last["text"] = last["text"].rsplit(" ", 3)[0]
    sealed(records)


def chunk_gone(records: Records) -> None:
    records.remove(with_text(records, "argument between"))
    numbered(records)


def chapter_gone(records: Records) -> None:
    records[:] = [each for each in records if each["chapter"] == 1]


def word_changed(records: Records) -> None:
    chunk = with_text(records, "warm as blood")
    chunk["text"] = chunk["text"].replace("warm as blood", "cold as blood")
    sealed(records)


def word_lost(records: Records) -> None:
    chunk = with_text(records, "dry August")
    chunk["text"] = chunk["text"].replace("dry August", "August")
    sealed(records)


def told_twice(records: Records) -> None:
    before, chunk = with_text(records, "Steam"), with_text(records, "Later ages")
    chunk["metadata"]["char_start"] = SPRINGS.index("the whole valley")
    chunk["text"] = SPRINGS[chunk["metadata"]["char_start"] : chunk["metadata"]["char_end"]].replace(
        "<!-- page: 4 -->\n", ""
    )
    assert before is not chunk
    sealed(records)


def invented_text(records: Records) -> None:
    chunk = with_text(records, "argument between")
    chunk["text"] = f"As the poet says:\n\n{chunk['text']}"
    sealed(records)


def overlap_from_another_section(records: Records) -> None:
    chunk = with_text(records, "Some springs")
    chunk["text"] = f"each against the others, and sold them at the door.\n\n{chunk['text']}"
    chunk["metadata"]["overlap_tokens"] = 12
    sealed(records)


def definition_before_the_text(records: Records) -> None:
    definition_gone(records)
    chunk = with_text(records, "blood")
    chunk["text"] = f"[^1]: Under Vespasian, it seems.\n\n{chunk['text']}"
    sealed(records)


def definition_without_reference(records: Records) -> None:
    chunk = with_text(records, "Some springs")
    chunk["text"] += "\n\n[^1]: Under Vespasian, it seems."
    chunk["metadata"]["footnotes"].append("1")
    sealed(records)


def label_that_nobody_defines(records: Records) -> None:
    with_text(records, "argument between")["metadata"]["footnotes"].append("9")


def footnote_chunk_before_its_reference(records: Records) -> None:
    chunk = with_text(records, "cellarer")
    records.remove(chunk)
    records.insert(0, chunk)
    numbered(records)


def footnote_chunk_in_another_section(records: Records) -> None:
    with_text(records, "cellarer")["section_anchor"] = "#springs"


def chapter_slug_of_another(records: Records) -> None:
    records[-1]["chapter_slug"] = "springs"


def number_of_another(records: Records) -> None:
    records[-1]["chapter"] = 1


def another_book(records: Records) -> None:
    records[0]["book_slug"] = "on-lakes"


def span_from_the_front_matter(records: Records) -> None:
    records[0]["metadata"]["char_start"] = 0


DAMAGES: dict[Callable[[Records], None], str] = {
    add_key: "schema_valid",
    drop_key: "schema_valid",
    reorder_keys: "schema_valid",
    reorder_metadata: "schema_valid",
    number_as_text: "schema_valid",
    other_digest: "schema_valid",
    unknown_kind: "schema_valid",
    same_id_twice: "ids_unique",
    gap_in_ids: "ids_unique",
    chapters_swapped: "ids_unique",
    chapter_of_another_book: "ids_unique",
    miscounted: "text_size",
    grown: "text_size",
    short_prefix: "prefix_size",
    long_prefix: "prefix_size",
    prefix_of_two_lines: "prefix_size",
    other_path: "no_section_crossed",
    other_anchor: "no_section_crossed",
    over_the_border: "no_section_crossed",
    definition_gone: "footnotes_whole",
    definition_disowned: "footnotes_whole",
    footnote_chunk_gone: "footnotes_whole",
    footnote_chunk_cut_short: "footnotes_whole",
    chunk_gone: "source_covered",
    chapter_gone: "source_covered",
    word_changed: "source_covered",
    word_lost: "source_covered",
    told_twice: "source_covered",
    invented_text: "no_section_crossed",
    overlap_from_another_section: "no_section_crossed",
    definition_before_the_text: "footnotes_whole",
    definition_without_reference: "footnotes_whole",
    label_that_nobody_defines: "footnotes_whole",
    footnote_chunk_before_its_reference: "footnotes_whole",
    footnote_chunk_in_another_section: "footnotes_whole",
    chapter_slug_of_another: "ids_unique",
    number_of_another: "ids_unique",
    another_book: "ids_unique",
    span_from_the_front_matter: "source_covered",
}
# A record that is not valid, or that stands in the wrong place, is missing to other checks.
FOLLOWING = {
    "schema_valid": {"source_covered", "ids_unique", "footnotes_whole"},
    "ids_unique": {"source_covered"},
    "no_section_crossed": {"source_covered"},
    "footnotes_whole": {"no_section_crossed"},
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damage_fails_its_check(
    damage: Callable[[Records], None],
    written: Records,
    chapters: list[tuple[ParsedChapter, tuple[Group, ...]]],
) -> None:
    records = copy.deepcopy(written)
    damage(records)
    results = run_checks(SETTINGS, chapters, records, vectors=False)
    failed = {result.name for result in results if not result.passed and not result.warns}
    check = DAMAGES[damage]
    assert {check} <= failed <= {check, *FOLLOWING.get(check, ())}
    assert all(result.faults for result in results if result.name in failed)


def result_of(name: str, results: list[CheckResult]) -> CheckResult:
    return next(result for result in results if result.name == name)


def test_a_file_of_vectors_where_none_are_asked_for(
    written: Records, chapters: list[tuple[ParsedChapter, tuple[Group, ...]]]
) -> None:
    assert not result_of("embeddings_whole", run_checks(SETTINGS, chapters, written, vectors=True)).passed


def test_too_few_tokens_for_the_words_only_warn(chapters: list[tuple[ParsedChapter, tuple[Group, ...]]]) -> None:
    told = result_of("token_sum", run_checks(SETTINGS, chapters, [], vectors=False))
    assert (told.passed, told.warns) == (False, True)
    assert told.figures["words"] > 200


def test_an_empty_file_is_not_a_covered_book(chapters: list[tuple[ParsedChapter, tuple[Group, ...]]]) -> None:
    assert not result_of("source_covered", run_checks(SETTINGS, chapters, [], vectors=False)).passed


LISTING = "# Rivers\n\n" + "\n".join(
    f"- [{name}]({name})" for name in "Aare Birs Cher Drau Elbe Fils Gail Havel".split()
)
LISTS = replace(SETTINGS, kind="documents", contents_chunk=True)


@pytest.fixture
def listing() -> tuple[list[tuple[ParsedChapter, tuple[Group, ...]]], Records]:
    parsed = parse_chapter(LISTING.encode(), "documents", "rivers.md")
    groups = section_groups(parsed)
    chunks = chunk_groups(groups, LISTS)
    prefixes = extractive_prefixes(chunks, LISTS)
    made = [PrefixedChunk(chunk, prefix) for chunk, prefix in zip(chunks, prefixes, strict=True)]
    return [(parsed, groups)], [record(LISTS.book_slug, "en", each) for each in made]


def failed(
    listing: tuple[list[tuple[ParsedChapter, tuple[Group, ...]]], Records], settings: Settings = LISTS
) -> set[str]:
    chapters, records = listing
    sealed(records)
    return {each.name for each in run_checks(settings, chapters, records, vectors=False) if not each.passed}


def test_a_contents_chunk_passes_and_counts_for_no_words(
    listing: tuple[list[tuple[ParsedChapter, tuple[Group, ...]]], Records],
) -> None:
    assert [each["metadata"]["kind"] for each in listing[1]] == ["contents", "body", "body"]
    assert failed(listing) == set()
    chapters, records = listing
    told = result_of("token_sum", run_checks(LISTS, chapters, records, vectors=False))
    assert told.figures["tokens"] == sum(each["token_count"] for each in records[1:])


@pytest.mark.parametrize(
    "damage",
    [
        {"text": "Rivers\n\n- Aare\n- Rhine"},
        {"text": "Rivers\n\n- Aare\n- Aare"},
        {"text": "Rivers"},
        {"section_anchor": "#rivers"},
        {"heading_path": ["Lakes"]},
    ],
    ids=str,
)
def test_a_contents_chunk_lists_what_the_file_does(
    listing: tuple[list[tuple[ParsedChapter, tuple[Group, ...]]], Records], damage: dict[str, Any]
) -> None:
    listing[1][0] |= damage
    assert failed(listing) == {"no_section_crossed"}


def test_a_contents_chunk_that_is_gone_or_not_asked_for(
    listing: tuple[list[tuple[ParsedChapter, tuple[Group, ...]]], Records],
) -> None:
    assert failed(listing, replace(LISTS, contents_chunk=False)) == {"no_section_crossed"}
    del listing[1][0]
    assert failed(listing) == {"source_covered"}
