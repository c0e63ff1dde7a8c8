"""``make bench``: the core beside floors and peers, and what Dagster's bookkeeping costs. CPU time, one run, so ratios.

python -m benchmarks.bench [--corpus DIR] [--chapters 500]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import asking, texts
from benchmarks.chunkers import SIZE, Chunker, chunks_of, floors, peers, records_of
from bookchunk_assets.chunking.tokens import count
from bookchunk_assets.markdown.parse import parse_chapter

REFERENCE = "langchain MarkdownTextSplitter"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--chapters", type=int, default=500)
    asked = parser.parse_args()
    if asked.corpus:
        speed(str(asked.corpus), texts.chapters(asked.corpus))
        return
    speed("the sample book", texts.chapters(texts.SAMPLE))
    speed("generated text of its block mix", texts.generated(2_000_000))
    thai()
    memory()
    bookkeeping(asked.chapters)
    asking.asking()


def speed(name: str, chapters: Sequence[bytes]) -> None:
    """MB/s of each chunker, and what it cuts."""
    size = sum(map(len, chapters)) / 1e6
    print(f"\n{name}: {len(chapters)} chapters, {size:.2f} MB\n")
    print(f"{'':36} {'MB/s':>6} {'ratio':>6} {'cut blocks':>14} {'pairs without overlap':>22}")
    rows = {"bookchunk, to finished lines": records_of, "bookchunk, to chunks": chunks_of, **peers(), **floors()}
    taken = {label: timed(chunker, chapters) for label, chunker in rows.items()}
    whole = [blocks_that_fit(data) for data in chapters]
    for label, chunker in rows.items():
        told = f"{label:36} {size / taken[label]:6.2f} {taken[REFERENCE] / taken[label]:6.2f}"
        if not label.startswith("floor"):
            made = [chunker(data) for data in chapters]
            cut = sum(
                not any(block in chunk for chunk in own)
                for own, blocks in zip(made, whole, strict=True)
                for block in blocks
            )
            told += f" {cut:7} of {sum(map(len, whole)):3} {lost_overlap(made):21.0%}"
        print(told)


def thai() -> None:
    """Thai text beside the English one that it was made from, by CPU time and byte."""
    print("\ngenerated text, Thai beside English\n")
    for name, chunker in (("to chunks", chunks_of), ("to finished lines", records_of)):
        rates = []
        for chapters in (texts.thai(500_000), texts.generated(1_000_000)):
            chunker(chapters[0])  # dictionary and models are loaded once
            rates.append(sum(map(len, chapters)) / 1e6 / timed(chunker, chapters))
        print(
            f"{f'bookchunk, {name}':36} {rates[0]:6.2f} and {rates[1]:.2f} MB/s: {rates[0] / rates[1]:.2f} of the speed"
        )


def timed(chunker: Chunker, chapters: Sequence[bytes]) -> float:
    """CPU seconds of the better of two rounds."""
    rounds = []
    for _ in range(2):
        started = time.process_time()
        for data in chapters:
            chunker(data)
        rounds.append(time.process_time() - started)
    return min(rounds)


def blocks_that_fit(data: bytes) -> list[str]:
    """A chapter's code, quotes and tables that no chunk need cut, as they stand in the file without comments."""
    parsed = parse_chapter(data, "book", "a.md")
    blocks = (
        parsed.text[b.start : b.end].strip("\n")
        for b in parsed.blocks
        if b.kind in ("code", "blockquote", "table") and b.depth == 0
    )
    return [block for block in blocks if count(block) <= SIZE and block in texts.body(data)]


def lost_overlap(chapters: Sequence[Sequence[str]]) -> float:
    """Neighbours of which the second starts with nothing of the first's end."""
    pairs = [(a, b) for chunks in chapters for a, b in zip(chunks, chunks[1:], strict=False)]
    return sum(not any(a.rstrip().endswith(b[:n].strip()) for n in range(8, 400)) for a, b in pairs) / max(
        len(pairs), 1
    )


def memory() -> None:
    """Peak memory of a process that chunks a book of N equal chapters."""
    code = (
        "import sys, resource; from benchmarks import texts; from benchmarks.chunkers import records_of\n"
        "data = texts.generated(25_000)[0]\n"
        "for _ in range(int(sys.argv[1])): records_of(data)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = [int(subprocess.check_output([sys.executable, "-c", code, str(n)])) / 1024 for n in (10, 400)]
    print(f"\npeak memory: {peaks[0]:.0f} MB for 10 chapters, {peaks[1]:.0f} MB for 400 of the same size")


def bookkeeping(chapters: int) -> None:
    """What a chapter costs beyond its chunking: a first run, and a run with nothing to do."""
    with tempfile.TemporaryDirectory() as scratch:
        book = Path(scratch) / "corpus" / "a" / "many"
        book.mkdir(parents=True)
        rag = {"context": "extractive", "embedding": "none"}
        manifest = {"title": "Many", "slug": "many", "author": "A", "rag": rag}
        (book / "many-book.json").write_text(json.dumps(manifest), "utf-8")
        made = []
        for number in range(1, chapters + 1):
            text = (
                f"---\ntitle: Chapter {number}\nchapter: {number}\n---\n## One\n\nText {number}.\n\n## Two\n\nMore.\n"
            )
            (book / f"many-ch{number:02d}.md").write_text(text, "utf-8")
            made.append(text.encode())
        started = time.perf_counter()
        for data in made:
            records_of(data)
        core = time.perf_counter() - started
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            "from bookchunk_assets.cli import main; main()",
            "chunk",
            str(book),
            "--quiet",
        ]
        environment = os.environ | {"DAGSTER_HOME": str(Path(scratch) / "home")}
        print(f"\nbookkeeping, {chapters} chapters (the core alone: {core:.1f} s)")
        for name in ("first run", "nothing to do"):
            before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
            wall = time.perf_counter() - started
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(
                f"  {name}: {wall:.1f} s wall, {cpu:.1f} s CPU, {(wall - core) / chapters * 1000:.0f} ms a chapter beyond it"
            )


if __name__ == "__main__":
    main()
