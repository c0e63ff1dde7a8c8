"""A book for tests of prefixes by Claude: 5 chapters of 12 sections, a chunk each, and a server that counts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bookchunk_tests.claude_server import KEY
from bookchunk_tests.conftest import Shelf

ROOT = Path(__file__).parent.parent
CHAPTERS, SECTIONS = 5, 12
PLANTED = "The xylophone of Quernmore was tuned to the tide by a left-handed beekeeper."


def section(chapter: int, number: int, text: str = "") -> str:
    said = (
        text
        or f"Section {number} of chapter {chapter} tells how the matter stood in year {1000 + 40 * chapter + number}."
    )
    return f"## Section {number}\n\n{said}\n"


def write_chapter(shelf: Shelf, chapter: int, title: str = "", **texts: str) -> None:
    """Write a chapter; ``texts`` are paragraphs by section, ``s3="..."``."""
    sections = "\n".join(section(chapter, n, texts.get(f"s{n}", "")) for n in range(1, SECTIONS + 1))
    head = f"---\ntitle: {title or f'Chapter {chapter}'}\nchapter: {chapter}\n---\n<!-- page: {chapter} -->\n\n"
    shelf.chapter(chapter).write_text(head + sections, "utf-8")


def write_book(shelf: Shelf, chapters: int = CHAPTERS) -> None:
    for path in shelf.book.glob("*.md"):
        path.unlink()
    for chapter in range(1, chapters + 1):
        write_chapter(shelf, chapter)


def command(shelf: Shelf, *words: str, before: str = "") -> subprocess.Popen[str]:
    """The command as a process of its own; ``before`` is code that it runs first."""
    code = f"{before}\nfrom bookchunk_assets.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, "chunk", str(shelf.book), "--quiet", *words],
        env=os.environ | {"PYTHONPATH": str(ROOT), "ANTHROPIC_API_KEY": KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
