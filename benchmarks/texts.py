"""What is measured: the sample book, generated text of its block mix, or a folder of books of yours."""

from __future__ import annotations

import random
from pathlib import Path

from bookchunk_assets.corpus.frontmatter import split_front_matter
from bookchunk_assets.corpus.text import decode
from bookchunk_assets.markdown.parse import parse_chapter

SAMPLE = Path(__file__).parent.parent / "corpus"


def chapters(folder: Path) -> list[bytes]:
    """The chapter files of the books under a folder."""
    manifests = sorted(folder.rglob("*-book.json"))
    return [path.read_bytes() for m in manifests for path in sorted(m.parent.glob(f"{m.parent.name}-ch*.md"))]


def generated(characters: int, seed: int = 1) -> list[bytes]:
    """Chapters made of the sample's blocks in another order, some 25,000 characters each."""
    draw = random.Random(seed)
    blocks = []
    for data in chapters(SAMPLE):
        parsed = parse_chapter(data, "book", "a.md")
        blocks += [parsed.text[b.start : b.end].strip("\n") for b in parsed.blocks if b.depth == 0]
    out, made = [], 0
    while made < characters:
        number, body = len(out) + 1, ""
        while len(body) < 25_000:
            body += draw.choice(blocks) + "\n\n"
        out.append(f"---\ntitle: Chapter {number}\nchapter: {number}\n---\n{body}".encode())
        made += len(body)
    return out


def body(data: bytes) -> str:
    """A chapter as a peer gets it: without front matter."""
    text = decode(data)
    return text[split_front_matter(text).body_start :]
