from __future__ import annotations

import pytest

from bookchunk_assets.chunking import tokens


def test_fast_counts_are_tiktoken_s_on_every_code_point() -> None:
    """Each code point in the one place that tells whether it is read as a letter, digit or neither."""
    pytest.importorskip("toktok")
    texts = [f"{chr(code)}'S 12{chr(code)}34" for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    lines = ["\n".join(texts[at : at + 64]) for at in range(0, len(texts), 64)]
    wrong = [line for line in lines if tokens.count(line) != len(tokens.encoding().encode_ordinary(line))]
    assert not wrong


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("hello world", 2), ("<|endoftext|>", 7), (" " * 1_000_000 + "a", 7814), ("\u088f" + " " * 90_000 + "a", 708)],
    ids=["empty", "words", "a special token's name", "blanks", "blanks for tiktoken"],
)  # fmt: skip
def test_counts(text: str, count: int) -> None:
    assert tokens.count(text) == count
