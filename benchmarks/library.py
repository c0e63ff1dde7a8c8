"""A library of short generated chapters, twenty a book: seconds and memory of its first run, of one with nothing to do,
of one edited chapter and of a tick, in two sizes, and how they grow."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chunkers import records_of

CHAPTERS = 20  # a book
COMMAND = "from bookchunk_assets.cli import main; main()"
TICK = (
    "from bookchunk_assets.cli.instance import open_instance; from bookchunk_assets.orchestration.sensors import look\n"
    "looked = look(open_instance()); assert looked.seen == looked.books and not looked.told, str(looked)"
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process took."""

    seconds: float
    cpu: float
    megabytes: float


def main() -> None:
    """Two libraries, the second ten times the first."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--books", type=int, default=100, help="of the smaller library")
    parser.add_argument("--times", type=int, default=10, help="how much larger the other is")
    asked = parser.parse_args()
    sizes = [asked.books, asked.books * asked.times] if asked.times > 1 else [asked.books]
    measured = [library(books) for books in sizes]
    print(f"\n{'':16}" + "".join(f"{books * CHAPTERS:>12} chapters: s, CPU s, MB" for books in sizes))
    for name in measured[0]:
        costs = [each[name] for each in measured]
        told = "".join(f"{c.seconds:18.1f} {c.cpu:8.1f} {c.megabytes:7.0f}" for c in costs)
        growth = f"   x {costs[-1].cpu / costs[0].cpu:.1f} CPU" if len(costs) > 1 else ""
        print(f"{name:16}{told}{growth}")


def library(books: int) -> dict[str, Cost]:
    """Each kind of run on a new library."""
    with tempfile.TemporaryDirectory() as scratch:
        corpus = Path(scratch) / "corpus"
        texts = [book(corpus, number) for number in range(books)]
        core = core_seconds(texts)
        environment = os.environ | {
            "DAGSTER_HOME": str(Path(scratch) / "home"),
            "BOOKCHUNK_CORPUS": str(corpus),
            "ANTHROPIC_API_KEY": "",
        }
        chunk = [COMMAND, "chunk", str(corpus), "--quiet"]
        costs = {"first run": run(chunk, environment)}
        beyond = (costs["first run"].cpu - core) / books / CHAPTERS * 1000
        print(
            f"{books * CHAPTERS} chapters: {beyond:.0f} ms of CPU a chapter beyond the chunking's {core:.1f} s",
            flush=True,
        )
        costs["nothing to do"] = run(chunk, environment)
        costs["nothing again"] = run(chunk, environment)
        edited = sorted(corpus.rglob("*-ch07.md"))[books // 2]
        edited.write_text(edited.read_text("utf-8") + "\nAn added line.\n", "utf-8")
        costs["one edited"] = run(chunk, environment)
        costs["a tick"] = run([TICK], environment)
        return costs


def book(corpus: Path, number: int) -> list[bytes]:
    """A book of short chapters on disk; its chapters' bytes."""
    slug = f"book-{number:04d}"
    folder = corpus / f"author-{number % 50:02d}" / slug
    folder.mkdir(parents=True)
    rag = {"context": "extractive", "embedding": "none"}
    manifest = {"title": f"Book {number}", "slug": slug, "author": "A", "rag": rag}
    (folder / f"{slug}-book.json").write_text(json.dumps(manifest), "utf-8")
    made = []
    for chapter in range(1, CHAPTERS + 1):
        front = f"---\ntitle: Chapter {chapter}\nchapter: {chapter}\n---\n"
        data = f"{front}## One\n\nText {chapter} of book {number}.\n\n## Two\n\nMore of it.\n".encode()
        (folder / f"{slug}-ch{chapter:02d}.md").write_bytes(data)
        made.append(data)
    return made


def core_seconds(books: Sequence[Sequence[bytes]]) -> float:
    """CPU seconds of the core alone: from each file to its finished lines."""
    started = time.process_time()
    for each in books:
        for data in each:
            records_of(data)
    return time.process_time() - started


def run(words: Sequence[str], environment: dict[str, str]) -> Cost:
    """A process of its own."""
    started = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-W", "ignore", "-c", *words], env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, child.args)
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return Cost(time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / unit)


if __name__ == "__main__":
    main()
