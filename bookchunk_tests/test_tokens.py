from __future__ import annotations

import pytest

from bookchunk_assets.chunking import tokens

TEMPLATES = ["{0}'S{0}'t", "a{0}b{0}", " {0}\n\n{0}", "12{0}34", "{0}  {0}x"]


@pytest.mark.parametrize("template", TEMPLATES)
def test_fast_counts_are_tiktoken_s_on_every_code_point(template: str) -> None:
    pytest.importorskip("toktok")
    texts = [template.format(chr(code)) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    batch = tokens.encoding().encode_ordinary_batch(texts, num_threads=2)
    assert tokens.counts(texts) == [len(ids) for ids in batch]


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("hello world", 2), ("<|endoftext|>", 7), (" " * 1_000_000 + "a", 7814), ("\u088f" + " " * 200_000 + "a", 1568)],
    ids=["empty", "words", "a special token's name", "blanks", "blanks for tiktoken"],
)  # fmt: skip
def test_counts(text: str, count: int) -> None:
    assert tokens.count(text) == count
