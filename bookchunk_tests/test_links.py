"""The quick search for links, held to markdown-it-py's inline parse."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from bookchunk_assets.corpus.frontmatter import split_front_matter
from bookchunk_assets.markdown.links import LINE_START, _shown, link_texts
from bookchunk_assets.markdown.structure import parse_structure

FULL = MarkdownIt("commonmark")
LINK = re.compile(r'<a href="[^"]*"[^>]*>(.*?)</a>', re.DOTALL)
FILES = sorted(p for p in (Path(__file__).parent.parent / "corpus").glob("*/*/*") if p.suffix in (".md", ".txt"))
HARD = [
    "[a](b) [c] (d) [e]( f ) [g](h 'i') [j](<k l>) [m](n(o)p) [q](r \"s\") [t](u v)",
    "[[a](b)](c) [d [e] f](g) ![h [i]](k) [![l](m)](n) [![](o) p](q)",
    "`[a](b)` ``[c` ](d)`` [e`](f)`](g) \\[h](i) [j\\](k)](l) [m](n\\)o) \\\\[p](q)",
    "[a][b] [b][] [b] [c][d] [e][f] [`b`][b] [B\nb][ B ] [x](y)[b] [b](z)",
    '<a href="x">no *z*</a> <b title="[a](b)"> [c](d)</b> <a name="e">f</a> [g](h)',
    "[a](b\n\"c\") [d](\ne\n) [f](g\n\nh)",
    "[a]() [b](<>) [](c) [ ](d) [&amp; &#65;](e) [**f** _g_ ~h~](i) [j]: k",
    "[" * 40 + "a" + "](b)" * 40,
]  # fmt: skip


def by_full_parse(text: str, start: int = 0) -> list[str]:
    structure = parse_structure(text, start, (), plain_text=False)
    sources = [text[b.start : b.end] for b in structure.blocks if b.kind in ("paragraph", "heading")]
    rendered = [FULL.renderInline(LINE_START.sub("\n", source), structure.env) for source in sources]
    return [shown for html in rendered for link in LINK.finditer(html) if (shown := _shown(link[1]))]


def quickly(text: str, start: int = 0) -> list[str]:
    structure = parse_structure(text, start, (), plain_text=False)
    blocks = [block for block in structure.blocks if block.kind in ("paragraph", "heading")]
    return list(link_texts(text, blocks, structure.env))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_links_of_the_sample(path: Path) -> None:
    text = path.read_text("utf-8")
    start = split_front_matter(text).body_start
    assert quickly(text, start) == by_full_parse(text, start)


def test_the_sample_has_links() -> None:
    assert sum(len(quickly(path.read_text("utf-8"))) for path in FILES) > 30


@pytest.mark.parametrize("text", HARD)
def test_hard_links(text: str) -> None:
    source = f"{text}\n\n[b]: x\n[c d]: y\n"
    assert quickly(source) == by_full_parse(source)
