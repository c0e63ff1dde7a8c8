from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import regex
import yaml
from hypothesis import given
from hypothesis import settings as within
from hypothesis import strategies as st

from bookchunk_assets.chunking import sentences, thai
from bookchunk_assets.chunking.words import GRAPHEME, word_starts

FIXTURES = Path(__file__).parent / "fixtures"
CASES = yaml.safe_load((FIXTURES / "words.yaml").read_text("utf-8"))
MARKS = yaml.safe_load(Path(sentences.__file__).with_name("sentence_marks.yaml").read_text("utf-8"))
# Scripts, signs, marks, joiners and flags in every order, beside any text at all.
MIXED = st.text(st.sampled_from("aé กขเแาำ่้ิๆ๑神的の学ーກເາຳកា្ရမ်ྀབ་क्षि\u0301\u200b\u200d👨👩🏽🇹🇭\n。")) | st.text()
PARAGRAPHS = [
    " ".join(case["sentences"]) for case in yaml.safe_load((FIXTURES / "sentences.yaml").read_text("utf-8"))["scripts"]
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_words_start(case: dict[str, Any]) -> None:
    text = case["words"].replace("|", "")
    starts = word_starts(text, 0, len(text))
    assert "|".join(text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)) == case["words"]


@within(deadline=None)  # the first Thai text loads pythainlp
@given(MIXED)
def test_words_of_any_text_start_at_grapheme_clusters(text: str) -> None:
    clusters = {cluster.start() for cluster in regex.finditer(r"\X", text)}
    starts = word_starts(text, 0, len(text))
    assert starts == sorted(set(starts))
    assert all(not text[at].isspace() for at in starts)
    assert all(at in clusters for at in starts if at and not text[at - 1].isspace())


@within(deadline=None)
@given(MIXED, st.data())
def test_a_window_has_the_words_that_the_text_has(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    assert word_starts(text, start, len(text)) == [at for at in word_starts(text, 0, len(text)) if at >= start]


@given(MIXED | st.text("🇹🇭👍🏽\u0301\u200da"))
def test_clusters_are_those_of_unicode(text: str) -> None:
    assert GRAPHEME.findall(text) == regex.findall(r"\X", text)


@within(deadline=None)
@given(st.text("กขคเแาำ่้ิ็ๆฯ๑", max_size=60), st.integers(1, 40))
def test_thai_words_are_their_run(run: str, times: int) -> None:
    assert "".join(thai.words(run * times)) == run * times


def test_heaps_of_tone_marks_lose_nothing() -> None:
    run = "ก" + "\u0e48" * 3000
    assert "".join(thai.words(run)) == run


@pytest.mark.parametrize("text", [text for text in PARAGRAPHS if thai.RUN.search(text)])
def test_thai_sentences_are_those_of_crfcut(text: str) -> None:
    """Asked about one space alone, its model answers as about the whole paragraph."""
    from pythainlp.tokenize import crfcut

    theirs, at = set(), 0
    for sentence in crfcut.segment(text):
        at += len(sentence)
        end = len(text[:at].rstrip())
        if thai.RUN.match(text[end - 1]) and thai.RUN.match(text[at : at + 1]):
            theirs.add(end)
    assert set(thai.sentence_spaces(text)) == theirs


def test_features_are_those_of_crfcut() -> None:
    from pythainlp.tokenize import crfcut

    tokens = ["ผม", "ไป", "แล้ว", " ", "ครับ", "และ", "x"]
    padded = ["xxpad", "xxpad", *tokens, "xxpad", "xxpad"]
    theirs = [sorted(each) for each in crfcut._extract_features(tokens)]
    assert [sorted(thai.features(padded[n : n + 5])) for n in range(len(tokens))] == theirs


def test_sentence_marks_are_those_of_unicode() -> None:
    told = [mark for kind in MARKS.values() for marks in kind.values() for mark in marks]
    assert len(told) == len(set(told))
    assert not [mark for mark in told if not regex.match(r"[\p{Sentence_Terminal}…\u0f0d-\u0f14]", mark)]
    everyday = regex.compile(
        r"[\p{Arabic}\p{Armenian}\p{Devanagari}\p{Ethiopic}\p{Khmer}\p{Myanmar}\p{Mongolian}\p{Common}]"
    )
    missing = [
        c
        for c in map(chr, range(0x10000))
        if regex.match(r"\p{Sentence_Terminal}", c) and everyday.match(c) and c not in told
    ]
    assert {unicodedata.name(c) for c in missing if unicodedata.name(c, None)} == {
        "MYANMAR SIGN LITTLE SECTION", "PHILIPPINE SINGLE PUNCTUATION", "ONE DOT LEADER", "STENOGRAPHIC FULL STOP",
        "MEDIEVAL EXCLAMATION MARK", "MEDIEVAL QUESTION MARK",
    }  # fmt: skip


def test_pythainlp_comes_with_the_first_thai_text_and_writes_nothing(tmp_path: Path) -> None:
    code = (
        "import sys, socket\n"
        "def no(*args, **more): raise AssertionError('network')\n"
        "socket.socket.connect = socket.getaddrinfo = no\n"
        "import bookchunk_assets.definitions\n"
        "from bookchunk_assets.chunking.sentences import sentence_ends\n"
        "from bookchunk_assets.context.terms import terms\n"
        "sentence_ends('One. Two.'), list(terms('Some words', 'en'))\n"
        "assert 'pythainlp' not in sys.modules\n"
        "print(len(sentence_ends('ฉันไปโรงเรียนทุกวัน วันนี้ฝนตกหนักมาก')), *terms('ผู้ป่วยใน', 'th'))\n"
    )
    named = ("HOME", "USERPROFILE", "TMPDIR", "DAGSTER_HOME")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHAINLP")} | dict.fromkeys(
        named, str(tmp_path)
    )
    told = subprocess.run(
        [sys.executable, "-B", "-W", "ignore", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["1", "ผู้ป่วยใน"]
    assert list(tmp_path.iterdir()) == []
