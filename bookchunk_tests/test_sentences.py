from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as within
from hypothesis import strategies as st

from bookchunk_assets.chunking.sentences import sentence_ends

CASES = yaml.safe_load((Path(__file__).parent / "fixtures" / "sentences.yaml").read_text("utf-8"))
# What readers of the chunks take for the end of a sentence, and the Urdu full stop.
END = re.compile(r"""[.!?…:;。！？；।؟۔]["'”’»)\]*_`>」』）】]*(?:\[\^[^\]\s]+\])*$""")
# Marks, quotes and Markdown in every order, beside any text at all.
MARKED = st.text(st.sampled_from(".!?…。”\"'()[]^*_`<>|\\ \n\tAaéIx19ก中ب")) | st.text()


def pieces(text: str) -> list[str]:
    return [text[a:b] for a, b in pairwise((0, *sentence_ends(text), len(text)))]


def known(case: dict[str, Any]) -> Any:
    marks = [pytest.mark.xfail(strict=True, reason=case["reason"])] if "reason" in case else []
    return pytest.param(case, id=case["name"], marks=marks)


@pytest.mark.parametrize("case", [known(case) for group in CASES.values() for case in group])
def test_sentences(case: dict[str, Any]) -> None:
    text = case.get("text") or case.get("join", " ").join(case["sentences"])
    assert [re.sub(r"\A[\s>]+", "", piece).rstrip("> \n") for piece in pieces(text)] == case["sentences"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two.", ["One.", " Two."]),
        ("One.  \n  Two.", ["One.  \n", "  Two."]),
        ("> One.\n> Two.", ["> One.\n", "> Two."]),
        ("> One.\n>\n>> Two.", ["> One.\n>\n", ">> Two."]),
        ("一。 二。三。\n四。", ["一。", " 二。", "三。\n", "四。"]),
        ("One. Two. \n", ["One.", " Two. \n"]),
        ("", [""]),
    ],
)
def test_where_the_space_between_goes(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


@within(deadline=None)  # the first Thai text loads pythainlp
@given(MARKED)
def test_any_text_is_cut_between_its_ends(text: str) -> None:
    ends = sentence_ends(text)
    assert list(ends) == sorted(set(ends))
    assert all(0 < end < len(text) for end in ends)
    assert "".join(pieces(text)) == text
    assert all(END.search(text[:end].rstrip().rstrip("> \n\t")) or END.search(text[:end].rstrip()) for end in ends)


@pytest.mark.parametrize(
    "part", ["word", "Hi. ", "A. ", "! ", "... ", ".* ", "`a `` ", "[a](x", "<a ", ".[^", "。」", ". >", ".\n> ", ". “"]
)
def test_time_grows_with_length_alone(part: str) -> None:
    began = process_time()
    sentence_ends(part * (300_000 // len(part)))
    assert process_time() - began < 5  # 0.4 s where this was written; minutes if any rule read a text twice
