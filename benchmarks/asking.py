"""How near prefixes by a model come to what its answers' latency allows: a local server that answers in 50 ms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bookchunk_tests.claude_server import KEY, serving

CHAPTERS, CHUNKS, AT_ONCE, LATENCY = 20, 50, 8, 0.05


def asking() -> None:
    """Seconds from the first call to the last answer in a run of the command, and of its whole stage, the SDK's import
    included, against the ideal of all calls evenly side by side."""
    answered: list[float] = []
    with tempfile.TemporaryDirectory() as scratch, serving(LATENCY) as server:
        server.fault = lambda *_: answered.append(time.monotonic())
        book = Path(scratch) / "corpus" / "a" / "many"
        book.mkdir(parents=True)
        manifest = {
            "title": "Many",
            "slug": "many",
            "author": "A",
            "rag": {"context": "anthropic", "embedding": "none"},
        }
        (book / "many-book.json").write_text(json.dumps(manifest), "utf-8")
        for number in range(1, CHAPTERS + 1):
            sections = "\n".join(f"## Part {n}\n\nWhat part {n} of chapter {number} says.\n" for n in range(CHUNKS))
            text = f"---\ntitle: Chapter {number}\nchapter: {number}\n---\n{sections}"
            (book / f"many-ch{number:02d}.md").write_text(text, "utf-8")
        environment = os.environ | {
            "DAGSTER_HOME": str(Path(scratch) / "home"),
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": KEY,
            "BOOKCHUNK_MODEL_CALLS": str(AT_ONCE),
        }
        code = "from bookchunk_assets.cli import main; main()"
        command = [sys.executable, "-W", "ignore", "-c", code, "chunk", str(book), "--quiet"]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        report = json.loads((book / ".ingest" / "report.json").read_bytes())
    calls = CHAPTERS * (CHUNKS + 1)
    assert report["context"]["generated"] == CHAPTERS * CHUNKS
    assert len(answered) == calls
    ideal, asked = calls * LATENCY / AT_ONCE, answered[-1] - answered[0] + LATENCY
    print(
        f"\n{calls} calls of {LATENCY * 1000:.0f} ms, {AT_ONCE} at once: {asked:.1f} s, "
        f"{asked / ideal:.2f} of the ideal {ideal:.1f} s; the stage takes {report['seconds']['context_prefixes']:.1f} s"
    )


if __name__ == "__main__":
    asking()
