"""How near prefixes by a model come to what its answers' latency allows: a local server that answers in 50 ms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bookchunk_tests.claude_server import KEY

CHAPTERS, CHUNKS, AT_ONCE, LATENCY = 20, 50, 8, 0.05


def asking() -> None:
    """Seconds of the stage in a run of the command, against the ideal of all calls evenly side by side."""
    with tempfile.TemporaryDirectory() as scratch:
        book = Path(scratch) / "corpus" / "a" / "many"
        book.mkdir(parents=True)
        (book / "many-book.json").write_text(json.dumps({"title": "Many", "slug": "many", "author": "A"}), "utf-8")
        for number in range(1, CHAPTERS + 1):
            sections = "\n".join(f"## Part {n}\n\nWhat part {n} of chapter {number} says.\n" for n in range(CHUNKS))
            text = f"---\ntitle: Chapter {number}\nchapter: {number}\n---\n{sections}"
            (book / f"many-ch{number:02d}.md").write_text(text, "utf-8")
        server = subprocess.Popen(
            [sys.executable, "-m", "bookchunk_tests.claude_server", "--latency", str(LATENCY)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdout is not None
        environment = os.environ | {
            "DAGSTER_HOME": str(Path(scratch) / "home"),
            "ANTHROPIC_BASE_URL": server.stdout.readline().strip(),
            "ANTHROPIC_API_KEY": KEY,
            "BOOKCHUNK_MODEL_CALLS": str(AT_ONCE),
        }
        code = "from bookchunk_assets.cli import main; main()"
        command = [sys.executable, "-W", "ignore", "-c", code, "chunk", str(book), "--quiet"]
        try:
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        finally:
            server.kill()
            server.wait()
        report = json.loads((book / ".ingest" / "report.json").read_bytes())
    calls = CHAPTERS * (CHUNKS + 1)
    ideal, taken = calls * LATENCY / AT_ONCE, report["seconds"]["context_prefixes"]
    assert report["context"]["generated"] == CHAPTERS * CHUNKS
    print(
        f"\n{calls} calls of {LATENCY * 1000:.0f} ms, {AT_ONCE} at once: {taken:.1f} s, {taken / ideal:.2f} of the ideal {ideal:.1f} s"
    )


if __name__ == "__main__":
    asking()
