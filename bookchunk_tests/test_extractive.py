from __future__ import annotations

import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as within
from hypothesis import strategies as st

from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.chunking.tokens import count
from bookchunk_assets.context.extractive import extractive_prefixes
from bookchunk_assets.context.plain import read_text
from bookchunk_assets.context.terms import terms
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.markdown.chapter import ChapterFacts

CASES = yaml.safe_load((Path(__file__).parent / "fixtures" / "prefixes.yaml").read_text("utf-8"))

BOOK = Settings(book_slug="the-pursuit-of-god", title="The Pursuit of God", authors=("A. W. Tozer",))
CHAPTER = ChapterFacts(number=1, slug="ch", title="One")


def chunk(text: str, chapter: ChapterFacts = CHAPTER, path: tuple[str, ...] = (), **more: Any) -> Chunk:
    return Chunk(
        **{
            "chapter": chapter,
            "ordinal": 1,
            "kind": "body",
            "section_anchor": "#one",
            "heading_path": (chapter.title, *path),
            "page_start": None,
            "page_end": None,
            "text": text,
            "token_count": count(text),
            "char_start": 0,
            "char_end": len(text),
            "overlap_tokens": 0,
            "footnotes": (),
            "split": None,
            **more,
        }
    )


def of_case(case: dict[str, Any]) -> tuple[Chunk, Settings]:
    """The case's chunk, and the book."""
    book: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in case.get("book", {}).items()}
    facts: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in case["chapter"].items()}
    chapter = replace(CHAPTER, **facts)
    start, end = case.get("pages", (None, None))
    told = chunk(
        case["text"],
        chapter,
        tuple(case.get("path", ())),
        kind=case.get("kind", "body"),
        page_start=start,
        page_end=end,
        key_concepts=tuple(case.get("concepts", ())),
        mentions_scriptures=tuple(case.get("scriptures", ())),
        overlap_tokens=case.get("overlap_tokens", 0),
    )
    return told, replace(BOOK, **book)


def prefix(one: Chunk, settings: Settings = BOOK) -> str:
    return extractive_prefixes([one], settings)[0].text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_prefix_is(case: dict[str, Any]) -> None:
    told, settings = of_case(case)
    (made,) = extractive_prefixes([told], settings)
    assert made.text == case["prefix"]
    assert made.source == "extractive"
    assert 50 <= count(made.text) <= 150


ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
BLOCKS = ["# ", "\n", "\n\n", "| a ", "|\n", "|---|---|\n", "```", "[^1]:", ">", "- "]
INLINE = ["[^1]", "](", "[", "**", "_", "<b", "&amp;", "{#x}", "{", "}", "{0}", "Mr. ", "A. ", "word ", "คำ", "。"]
MONSTERS = ["x" * 400, "กขค" * 60, "🎉" * 90, "\u0300" * 60, "\x00", "\u2028"]
MARKUP = st.lists(st.sampled_from([*BLOCKS, *INLINE, *MONSTERS]), max_size=40).map("".join)
TEXT = ANY | MARKUP | st.builds("".join, st.lists(ANY | MARKUP, max_size=4))


@within(deadline=None)  # the first call loads stop words
@given(
    texts=st.lists(TEXT, min_size=1, max_size=4),
    title=TEXT,
    authors=st.lists(TEXT, max_size=4),
    chapter=TEXT,
    path=st.lists(TEXT, max_size=6),
    pages=st.tuples(st.none() | st.integers(1, 10**6), st.none() | st.integers(1, 10**6)),
    kind=st.sampled_from(["body", "contents", "footnote"]),
    language=st.sampled_from(["en", "th", "de-CH", "zh-Hant", "x", "../en", ""]),
    overlap=st.integers(0, 64),
    concepts=st.lists(TEXT, max_size=8),
)
def test_any_text_gets_one_plain_line_of_50_to_150_tokens(
    texts: list[str],
    title: str,
    authors: list[str],
    chapter: str,
    path: list[str],
    pages: tuple[int | None, int | None],
    kind: str,
    language: str,
    overlap: int,
    concepts: list[str],
) -> None:
    settings = replace(BOOK, book_slug="b", title=title, authors=tuple(authors), language=language)
    facts = replace(CHAPTER, number=None, slug="c", title=chapter, key_concepts=tuple(concepts))
    start, end = pages
    more = {
        "kind": kind,
        "page_start": start,
        "page_end": end,
        "overlap_tokens": overlap,
        "key_concepts": tuple(concepts),
    }
    chunks = [chunk(text, facts, tuple(path), **more) for text in texts]
    prefixes = extractive_prefixes(chunks, settings)
    assert prefixes == [extractive_prefixes([one], settings)[0] for one in chunks], "neighbours change a prefix"
    for made in prefixes:
        assert 50 <= count(made.text) <= 150, made.text
        assert made.text == " ".join(made.text.split())
        assert not [c for c in made.text if unicodedata.category(c) in ("Cc", "Zl", "Zp")]
    assert extractive_prefixes(chunks, settings) == prefixes


PROSE = (
    "Christian theology teaches the doctrine of prevenient grace, which means that God must first have sought the man. "
    "Before a sinful man can think a right thought of God, a work of enlightenment must have been done within him."
)

SHORT = "All of this had been said long before by others who knew it. Doctrine. Doctrine. Theology. Theology."


def test_an_edit_elsewhere_in_the_chapter_leaves_a_prefix_as_it_is() -> None:
    here = chunk(PROSE, path=("Grace",))
    others = [chunk(f"{word} and grace, the doctrine and theology.", path=("Elsewhere",)) for word in ("Faith", "Hope")]
    alone, among = extractive_prefixes([here], BOOK)[0], extractive_prefixes([others[0], here, others[1]], BOOK)[1]
    assert alone == among


def test_a_term_is_told_once_as_the_passage_writes_it() -> None:
    source = "Doctrine, doctrines and the doctrine's theology: it didn't stand in [Rome](https://www.example.org/x)."
    assert list(terms(read_text(source), "en")) == ["doctrine", "theology", "Rome", "stand"]


def test_a_stop_word_in_capitals_is_none_either() -> None:
    assert [*terms("THIS and OTHERWISE this; the LORD spoke.", "en")] == ["LORD", "spoke"]


def test_what_the_place_says_is_no_term() -> None:
    assert "speaks of Doctrine." in prefix(chunk(SHORT, path=("Theology",)))
    assert "speaks of Theology." in prefix(chunk(SHORT, path=("Doctrine",)))


def test_no_markup_is_left() -> None:
    source = (
        "> 1. **Bold** and _thin_ words of `code` stand with [a link](https://x.org/y) and ![a picture](p.png), "
        "<b>tags</b> and<!-- remarks --> a note[^4] &amp; \\*stars\\*."
    )
    made = prefix(chunk(source))
    assert ": Bold and thin words of code stand with a link and a picture, tags and a note & *stars*." in made


def test_abbreviations_end_no_sentence() -> None:
    made = prefix(chunk("Mr. Worldly Wiseman met Dr. Grey and J. R. Green there. It was late."))
    assert ": Mr. Worldly Wiseman met Dr. Grey and J. R. Green there. " in made


@pytest.mark.parametrize("start", [None, 5])
def test_a_single_page_is_told_as_one(start: int | None) -> None:
    assert "page 5:" in prefix(chunk(PROSE, page_start=start, page_end=5))
