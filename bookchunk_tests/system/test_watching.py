"""The corpus is watched: an edit on disk, and nothing else, ends in the book's files."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bookchunk_tests.conftest import Shelf, chapter_text
from bookchunk_tests.system.served import Served

SOON = 120.0  # seconds from an edit to its chunks on an idle machine; tests allow for a busy one


def read(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


def test_edits_reach_the_files_with_nothing_clicked(shelf: Shelf, serve: Callable[..., Served]) -> None:
    saga = shelf.another("saga", chapters=2) / ".ingest" / "chunks.jsonl"
    served = serve()

    def within(what: str, look: Callable[[], Any]) -> None:
        started = time.monotonic()
        served.until(what, look)
        print(f"{what}: {time.monotonic() - started:.0f} s (goal: well under {SOON:.0f})")

    within("both books from nothing", lambda: read(shelf.out) and read(saga))
    assert len(shelf.records()) == 6
    served.until("a quiet instance", served.quiet)
    shelf.ran()

    shelf.write(2, None, "Edited, and nothing else done.")
    within("an edited chapter", lambda: "Edited, and nothing else done." in read(shelf.out))
    diff = json.loads(shelf.out.with_name("chunks.diff.json").read_bytes())
    assert (diff["summary"]["modified"], diff["summary"]["unchanged"]) == (1, 5)
    assert diff["chunks"]["tale-ch02-0002"] == {"__diff": "modified"}
    served.until("a quiet instance", served.quiet)  # the file is there before Dagster's event
    ran = shelf.ran()
    assert ran.pop("chunks_jsonl") == {"tale"}
    assert {chapters for keys in ran.values() for chapters in keys} == {"ch02"}, "its chapter alone"
    assert len(ran) == 5

    yarn = shelf.another("yarn") / ".ingest" / "chunks.jsonl"
    shelf.chapter(3).unlink()
    within("a new book", lambda: read(yarn))
    within("a removed chapter", lambda: "tale-ch03" not in read(shelf.out))
    assert len(shelf.records()) == 4

    before = saga.read_bytes()
    (saga.parent.parent / "saga-ch01.md").write_bytes(b"\xff broken")
    (saga.parent.parent / "saga-ch02.md").write_text(chapter_text(2, "Chapter 2", "Sound, beside a broken one."))
    shelf.write(1, None, "Another book goes on.")
    within("another book", lambda: "Another book goes on." in read(shelf.out))
    fault = "saga-ch01.md:1: byte 0xff is no UTF-8"
    tick = served.until(
        "the fault in a tick",
        lambda: next((t for t in served.ticks("corpus_sensor") if fault in str(t["skipReason"])), None),
    )
    assert any(fault in event["message"] for event in tick["logEvents"]["events"]), "in the tick's log too"
    served.until(
        "the sound chapter's stages",
        lambda: "ch02" in {key for keys in shelf.ran().values() for key in keys if key.startswith("ch02")},
    )
    assert saga.read_bytes() == before, "the broken chapter holds back its book"
