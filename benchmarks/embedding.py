"""Chunks a second of ``local`` beside a loop over sentences and beside full windows only, and its memory by chapter."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from benchmarks import texts
from benchmarks.chunkers import chunks_of
from bookchunk_assets.chunking.sentences import sentence_ends
from bookchunk_assets.embedding.local import LOADED, reader
from bookchunk_assets.embedding.reader import Reader


def main() -> None:
    """A table a model. Memory comes first: a process counts what the one that started it held at that moment."""
    peaks = {name: (peak(name, 20), peak(name, 100)) for name in LOADED}
    chunks = [chunk for data in texts.chapters(texts.SAMPLE)[:2] for chunk in chunks_of(data)]
    for name, (small, large) in peaks.items():
        table(name, reader(name), chunks)
        print(f"\npeak memory: {small:.0f} MB for a chapter of 20 kB, {large:.0f} MB for one of 100 kB")


def table(name: str, model: Reader, chunks: list[str]) -> None:
    """By pieces a second, told as chunks of this book's mean size."""
    pieces = [len(model.tokenizer.pieces(chunk).ids) for chunk in chunks]
    mean = sum(pieces) / len(pieces)
    sentences = [text for chunk in chunks[:8] for text in parts(chunk)]
    full = [np.full(model.size, 5, dtype=np.int64) for _ in range(8)]
    rows: dict[str, tuple[int, Callable[[], object]]] = {
        "chunk by chunk": (sum(pieces), lambda: model.alone(model.passage, chunks)),
        "late, the whole text": (sum(pieces), lambda: model.within("\n\n".join(chunks), [(0, 100)])),
        "sentence by sentence": (sum(pieces[:8]), lambda: [model.alone(model.passage, [text]) for text in sentences]),
        "ideal: full windows": (model.size * len(full), lambda: list(model.encoder.states(full))),
    }
    print(f"\n{name}, {len(chunks)} chunks of {mean:.0f} pieces\n")
    for way, (many, work) in rows.items():
        started = time.perf_counter()
        work()
        print(f"{way:24} {many / mean / (time.perf_counter() - started):6.2f} chunks/s")


def parts(text: str) -> list[str]:
    """A text's sentences."""
    ends = [0, *sentence_ends(text), len(text)]
    return [part for a, b in zip(ends, ends[1:], strict=False) if (part := text[a:b].strip())]


def peak(name: str, kilobytes: int) -> float:
    """The most memory that a process takes for late vectors of a chapter of that size, in MB."""
    code = (
        "import sys, resource; from bookchunk_assets.embedding.local import reader\n"
        "text = 'A reader marked the margin of the page. ' * (int(sys.argv[2]) * 25)\n"
        "reader(sys.argv[1]).within(text, [(n, n + 2000) for n in range(0, len(text), 2000)])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    return int(subprocess.check_output([sys.executable, "-c", code, name, str(kilobytes)])) / 1024


if __name__ == "__main__":
    main()
