"""What a person sees and clicks in the UI."""

from __future__ import annotations

from collections.abc import Callable

from bookchunk_tests.conftest import Shelf
from bookchunk_tests.system.browser import browse
from bookchunk_tests.system.served import Served


def test_the_graph_a_chapter_the_checks_and_a_backfill(shelf: Shelf, serve: Callable[..., Served]) -> None:
    shelf.write(
        1, "A Long Way", *(f"Paragraph {n} of a longer chapter, with words in it to fill it." for n in range(90))
    )
    assert shelf.run("chunk", "tale", "--quiet").exit_code == 0
    shelf.ran()
    served = serve(sensors=False)
    with browse(served.address, shelf.root / "profile") as browser:
        browser.open("/asset-groups")
        browser.until_shown("corpus", "chapter", "book", "Materialize all (7)")
        browser.picture("groups")
        browser.open("/assets/chunks_jsonl?view=lineage&lineageScope=upstream&lineageDepth=9")
        browser.until_shown("chapter_file", "recursive_chunks", "context_prefixes", "book_chapters")
        browser.picture("graph")

        browser.open("/assets/recursive_chunks?view=partitions&partition=tale%2Fch01")
        browser.until_shown("tale/ch01", "tokens", "A Long Way")
        browser.picture("chapter")

        browser.open("/assets/chunks_jsonl?view=checks")
        browser.until_shown("schema_valid", "source_covered")
        browser.picture("checks")

        browser.open("/assets/chunks_jsonl?view=partitions&partition=tale")
        browser.until_shown("verdict", "PASS")
        browser.picture("book")

        browser.open("/automation")
        browser.until_shown("corpus_sensor", "corpus_schedule", "automation")
        browser.picture("automation")

        browser.open("/assets/context_prefixes?view=partitions")
        browser.click("Materialize", "Materialize…", "Materialize selected…")
        browser.until_shown("Partition selection")
        browser.click("All")
        browser.until_shown("3 partitions")
        browser.picture("backfill-dialog")
        browser.click("Launch backfill", "Launch 1 run")
        browser.picture("backfill-launched")
    served.until("the run that was clicked", lambda: set(shelf.ran()) == {"context_prefixes"})
