"""The laws, over the sample corpus at several sizes, and over generated Markdown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookchunk_assets.chunking import sizes
from bookchunk_assets.chunking.tokens import count, counter
from bookchunk_assets.context.extractive import extractive_prefixes
from bookchunk_assets.corpus.settings import Settings
from bookchunk_tests.laws import chunked, hold, hold_structure, squeeze

CORPUS = Path(__file__).parent.parent / "corpus"
CHAPTERS = sorted(CORPUS.glob("*/*/*-ch*.md"))
DOCUMENTS = sorted(p for p in CORPUS.glob("*/the-reading-room/*") if p.suffix in (".md", ".txt"))
SIZES = [(64, 0), (100, 31), (200, 20), (512, 64), (1000, 200)]


def test_there_is_a_sample() -> None:
    assert len(CHAPTERS) >= 4
    assert len(DOCUMENTS) >= 4


@pytest.mark.parametrize(("target", "overlap"), SIZES)
@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_laws_over_the_sample(path: Path, target: int, overlap: int) -> None:
    hold(path.read_bytes(), Settings("b", "B", target_tokens=target, overlap_tokens=overlap), path.name)


@pytest.mark.parametrize(("target", "overlap"), SIZES)
@pytest.mark.parametrize("path", [*DOCUMENTS, *CHAPTERS[:1]], ids=lambda path: path.stem)
def test_laws_over_the_sample_documents(path: Path, target: int, overlap: int) -> None:
    hold(path.read_bytes(), documents(target, overlap), path.name)


def documents(target: int, overlap: int) -> Settings:
    return Settings("b", "B", kind="documents", target_tokens=target, overlap_tokens=overlap, contents_chunk=True)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_quick_parse_of_the_sample_is_the_plain_one(path: Path) -> None:
    hold_structure(path.read_text("utf-8"))


WORDS = st.text("abcdefg éßกขค中文日本🎉👨‍👩‍👧\u0301\u200b`*_[]()!|<>#.?,;:'\"“” ", min_size=1, max_size=60)
# Letters, vowel signs, tone marks, viramas, joiners, flags and marks of sentences, in every order.
SCRIPTS = st.text(
    "กเาำ่ิๆฯ๑ พผู้ป่วยใน 神爱。、オー助が ກເາ្កខ។ မြန်၊။ བོད་།  क्षि।  கு. ሰላም። Ես։ خدا؟۔ 한국 👨👩\u200d\u200c\u200b\ufe0f🏽🇹🇭\u0301\u0327\u20e3\u034f>-\n",
    min_size=1,
    max_size=300,
)
INLINE = st.one_of(
    WORDS,
    SCRIPTS,
    st.sampled_from(
        ["A sentence. Another one! A third?", "word " * 90, "w" * 700, "ก" * 300, "中。" * 200, "🎉" * 90, "`a b`", "[^1]",
         "text[^2] more", "**bold** *em*", "x<!-- page: 3 -->y", "<!-- c -->", "[l](http://x.y/z)", "\u00a0", " " * 500]
    ),
)  # fmt: skip
BLOCK = st.one_of(
    INLINE,
    st.builds(lambda n, t: "#" * n + " " + t, st.integers(1, 6), WORDS),
    st.builds(lambda t, m: f"{t}\n{m * 5}", WORDS, st.sampled_from("=-")),
    st.builds(
        lambda ts, f: f"{f}py\n" + "\n".join(ts) + f"\n{f}",
        st.lists(INLINE, max_size=30),
        st.sampled_from(["```", "~~~~"]),
    ),
    st.builds(lambda ts: "\n".join(f"> {t}" for t in ts), st.lists(INLINE, min_size=1, max_size=12)),
    st.builds(lambda ts: "\n".join(f"- {t}" for t in ts), st.lists(INLINE, min_size=1, max_size=12)),
    st.builds(lambda ts: "\n\n".join(f"1. {t}" for t in ts), st.lists(INLINE, min_size=1, max_size=6)),
    st.builds(
        lambda ts: "| a | b |\n|---|---|\n" + "\n".join(f"| {t} | x |" for t in ts),
        st.lists(st.text("abc dé", max_size=40), max_size=30),
    ),
    st.builds(lambda t: f"<div>\n{t}\n</div>", INLINE),
    st.builds(lambda n, t: f"[^{n}]: {t}", st.integers(1, 3), INLINE),
    st.builds(lambda n: f"<!-- page: {n} -->", st.integers(1, 99)),
    st.sampled_from(
        ["---", "    indented\n    code", "[a]: http://x.y", "Q1: why?", "🎉 Header", "\t", "<!-- open", "-->"]
    ),
)
MARKDOWN = st.builds(lambda parts, gap: gap.join(parts), st.lists(BLOCK, max_size=12), st.sampled_from(["\n\n", "\n"]))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(MARKDOWN, st.sampled_from(SIZES))
def test_hard_laws_over_generated_markdown(text: str, size: tuple[int, int]) -> None:
    made = Settings("b", "B", target_tokens=size[0], overlap_tokens=size[1])
    hold(f"---\ntitle: The Title\nchapter: 1\n---\n{text}".encode(), made)


LINES = st.sampled_from(
    ["Q1: why?", "q2. how", "Q3)", "Q4 2025 was strong.", "ข้อ ๓ ใคร", "คำถามที่ ๗: อะไร", "🔐 Keys", "1️⃣ One", "👨‍👩‍👧 Two", "🇹🇭",
     "```", "    indented", "- item", "> quote", "<div>", "", "", "# One", "===", "---", "[Pike](a)", "[อ่านต่อ](b) [ก](c)", "[![x](y)](z)",
     "<a href='x'>y", "</a>", "| a | b |", "|---|---|", "[r]: x", "[r]", "[^1]", "[^1]: note", "<!-- page: 4 -->", "word " * 40, "คำ" * 90]
)  # fmt: skip
NAMES = st.lists(st.text("abกข中C#+.🎉 ", min_size=1, max_size=90), max_size=40)
LISTING = st.builds(lambda names: "\n".join(f"- [{name}](x)" for name in names), NAMES)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(LINES | LISTING | BLOCK, max_size=40).map("\n".join),
    st.sampled_from(SIZES),
    st.sampled_from(["a.md", "a.txt"]),
)
def test_hard_laws_over_generated_documents(text: str, sizes: tuple[int, int], name: str) -> None:
    hold(text.encode(), documents(*sizes), name)


WORD = st.text("abcdefgกขคงจ中文é", min_size=1, max_size=12)
PHRASE = st.lists(WORD, min_size=1, max_size=5).map(" ".join)
MARKER = st.sampled_from(["Q{}: ", "q{}. ", "Q {}) ", "ข้อ {} ", "คำถามที่ {}: "])
ANSWER = st.lists(
    PHRASE | st.sampled_from(["📧 a bullet", "- an item", "```\nQ9: code\n```", "Q4 2025 was strong."]), max_size=4
)
QUESTION = st.tuples(MARKER, PHRASE, ANSWER.map(lambda parts: "\n\n".join([*parts, "So it is."])))
FAQ = st.lists(st.tuples(st.none() | PHRASE, st.lists(QUESTION, min_size=1, max_size=4)), min_size=1, max_size=5)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(FAQ, st.sampled_from(["documents", "book"]))
def test_a_question_and_its_answer_are_one_chunk(
    faq: list[tuple[str | None, list[tuple[str, str, str]]]], kind: str
) -> None:
    wanted, section, number = list[tuple[str, tuple[str, ...]]](), "", 0
    for name, questions in faq:
        section = name or section
        for n, (marker, question, answer) in enumerate(questions):
            number += 1
            header = f"🔐 {name}\n\n" if name and not n else ""
            text = f"{header}{marker.format(number)}{question}\n{answer}".strip()
            wanted.append((text, tuple(filter(None, (section, question)))))
    source = "\n\n".join(text for text, _ in wanted)
    front = "---\ntitle: T\nchapter: 1\n---\n"
    _, _, chunks = chunked((front + source).encode(), replace(documents(1000, 64), kind=kind))
    above = ("T",) if kind == "book" else ()
    bodies = [(chunk.text, chunk.heading_path) for chunk in chunks if chunk.kind == "body"]
    assert bodies == [(text, (*above, *path)) for text, path in wanted]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(MARKDOWN)
def test_the_quick_parse_of_generated_markdown_is_the_plain_one(text: str) -> None:
    hold_structure(text)


LINE = st.builds(
    "".join,
    st.lists(
        st.sampled_from(
            [" ", "   ", "    ", "\t", "- ", "* ", "1. ", "12) ", "> ", "#", "# ", "=", "---", "***", "```", "~~~", "`", "|", "|-|",
             "a", "B c", "1", "_e_", "**b**", "<!--", "-->", "<div>", "<pre>", "</pre>", "<a>", "[l]: /u", "[^1]: n", "[x]", ":", "\\", "\xa0"]
        ),
        max_size=4,
    ),
)  # fmt: skip


@settings(max_examples=600, deadline=None, derandomize=True)
@given(st.lists(LINE, max_size=14))
def test_the_quick_parse_of_any_lines_is_the_plain_one(lines: list[str]) -> None:
    hold_structure("\n".join(lines))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.builds(lambda text, times: text * times, SCRIPTS, st.integers(1, 40)), st.sampled_from(SIZES))
def test_hard_laws_over_long_paragraphs_of_any_script(text: str, size: tuple[int, int]) -> None:
    made = Settings("b", "B", target_tokens=size[0], overlap_tokens=size[1])
    hold(f"---\ntitle: T\nchapter: 1\n---\nA {text}".encode(), made)


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n" * 10_000, " " * 1_000_000 + "a", "- " * 200, "> " * 300 + "x", "```\n" + "x" * 50_000, "# " + "h " * 3_000,
     "[^1]" * 3_000 + "\n\n[^1]: n", "[" * 5_000, "Q" + "9" * 5_000 + ": x", "Q1: " + "x" * 50_000, "🎉" * 50_000 + "\nQ1: x",
     "[a](b) " * 5_000, "<a href='x'>" * 3_000, "<" + "a" * 50_000, "Q1: x\n" * 1_000, "[" * 2_000 + "a" + "](b)" * 2_000,
     "`" * 5_001, "<!--" * 3_000, "|" * 3_000 + "\n|-|", "\ufeff\u2028\x85\x0b\x0c"],
    ids=lambda text: f"{text[:8]!r} x {len(text)}",
)  # fmt: skip
def test_no_input_breaks_the_hard_max(text: str) -> None:
    made = Settings("b", "B", target_tokens=128, overlap_tokens=20)
    hold(f"---\ntitle: T\nchapter: 1\n---\n{text}".encode(), made)
    hold(text.encode(), documents(128, 20), "a.txt")


# What comes first, what is repeated, how often, what comes last.
MONSTERS = {
    "a word": ("", "w", 100_000, ""),
    "a Thai word": ("", "ก", 100_000, ""),
    "Thai words": ("", "ภาษาไทยง่าย", 9_000, ""),
    "Thai phrases": ("", "ภาษาไทย ง่าย ", 8_000, ""),
    "Chinese without marks": ("", "神爱世人", 25_000, ""),
    "Japanese sentences": ("", "神は愛です。", 16_000, ""),
    "blanks": ("a", " " * 10, 100_000, "b"),
    "a letter under marks": ("a", "\u0301", 100_000, ""),
    "marks out of order": ("a", "\u0301\u0316", 50_000, ""),
    "tone marks": ("ก", "\u0e48", 100_000, ""),
    "families": ("", "👨\u200d👩\u200d👧", 50_000, ""),
    "one family": ("👨", "\u200d👩", 50_000, ""),
    "flags": ("", "🇹🇭", 50_000, ""),
    "zero-width spaces": ("", "\u200b", 100_000, ""),
    "letters by zero-width spaces": ("", "a\u200b", 50_000, ""),
    "Khmer": ("", "ភាសាខ្មែរ", 10_000, ""),
}


@pytest.mark.parametrize("monster", [pytest.param(monster, id=name) for name, monster in MONSTERS.items()])
def test_monsters_are_cut_within_the_hard_max_by_work_that_grows_with_length(
    monster: tuple[str, str, int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A grapheme cluster over the hard max is cut inside. Work is the characters that are counted."""
    work: list[int] = []

    def counted(text: str) -> Callable[[str], int]:
        count = counter(text)

        def of(text: str) -> int:
            work.append(len(text))
            return count(text)

        return of

    monkeypatch.setattr(sizes, "counter", counted)
    made = Settings("b", "B", target_tokens=512, overlap_tokens=64)
    first, repeated, times, last = monster
    spent = []
    for n in (times // 4, times):
        work.clear()
        text = first + repeated * n + last
        parsed, _, chunks = chunked(f"---\ntitle: T\nchapter: 1\n---\n{text}".encode(), made)
        spent.append(sum(work))
        assert max(chunk.token_count for chunk in chunks) <= made.hard_max
        spans = [(chunk.char_start, chunk.char_end) for chunk in chunks]
        start = parsed.breaks[0].source - parsed.breaks[0].clean
        assert squeeze("".join(parsed.text[a - start : b - start] for a, b in spans)) == squeeze(parsed.text)
        assert all(50 <= count(prefix.text) <= 150 for prefix in extractive_prefixes(chunks[:3], made))
    assert spent[1] < 5 * spent[0] + 100_000
