from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bookchunk_assets.chunking.mentions import Mentions, mentions
from bookchunk_assets.markdown.chapter import ChapterFacts

CASES = yaml.safe_load((Path(__file__).parent / "fixtures" / "mentions.yaml").read_text("utf-8"))
BOOKS = """
    Genesis, Exodus, Leviticus, Numbers, Deuteronomy, Joshua, Judges, Ruth, 1 Samuel, 2 Samuel, 1 Kings, 2 Kings, 1
    Chronicles, 2 Chronicles, Ezra, Nehemiah, Esther, Job, Psalm, Proverbs, Ecclesiastes, Song of Solomon, Isaiah,
    Jeremiah, Lamentations, Ezekiel, Daniel, Hosea, Joel, Amos, Obadiah, Jonah, Micah, Nahum, Habakkuk, Zephaniah,
    Haggai, Zechariah, Malachi, Matthew, Mark, Luke, John, Acts, Romans, 1 Corinthians, 2 Corinthians, Galatians,
    Ephesians, Philippians, Colossians, 1 Thessalonians, 2 Thessalonians, 1 Timothy, 2 Timothy, Titus, Philemon,
    Hebrews, James, 1 Peter, 2 Peter, 1 John, 2 John, 3 John, Jude, Revelation, Tobit, Judith, Wisdom, Sirach,
    Baruch, Letter of Jeremiah, Prayer of Azariah, Susanna, Bel and the Dragon, Prayer of Manasseh, 1 Maccabees, 2
    Maccabees, 3 Maccabees, 4 Maccabees, 1 Esdras, 2 Esdras
"""


def facts(concepts: list[str], people: list[str]) -> ChapterFacts:
    return ChapterFacts(number=1, slug="one", title="One", key_concepts=tuple(concepts), mentions_figures=tuple(people))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict[str, Any]) -> None:
    found = mentions(case["text"], facts(case.get("concepts", []), case.get("people", [])))
    assert found == Mentions(*(tuple(case.get(kind, ())) for kind in ("key_concepts", "figures", "scriptures")))


@pytest.mark.parametrize("book", [" ".join(book.split()) for book in BOOKS.split(",")])
def test_a_normalised_reference_is_read_as_itself(book: str) -> None:
    for reference in (f"{book} 1:1", f"{book} 1:1-3"):
        assert mentions(f"as in {reference}.", facts([], [])).scriptures == (reference,)


def test_scripture_of_the_front_matter_is_no_evidence() -> None:
    chapter = ChapterFacts(number=1, slug="one", title="One", mentions_scriptures=("Romans 8:28",))
    assert mentions("No reference here.", chapter) == Mentions()


PIECES = st.sampled_from(
    [*"1 23:.,;-–()[]\n>*_&İßก", "Cor.", "Rom", "Song of ", "I ", " and ", "Fig. ", "figures ", "grace"]
)


@given(st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join), st.lists(st.text(max_size=8), max_size=3))
def test_any_text_and_any_front_matter_can_be_read(text: str, names: list[str]) -> None:
    found = mentions(text, facts(names, names))
    assert set(found.key_concepts) <= set(names)
    for told in (found.key_concepts, found.figures, found.scriptures):
        assert len(told) == len(set(told))
    assert mentions(". ".join(found.scriptures), facts([], [])).scriptures == found.scriptures
