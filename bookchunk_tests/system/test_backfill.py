"""After a changed prompt or rule and a reload: a backfill of the stages that it touches, for chosen books."""

from __future__ import annotations

import sys
from collections.abc import Callable

from bookchunk_assets.context import extractive
from bookchunk_tests.conftest import Shelf
from bookchunk_tests.system.served import Served

MODULE = """\
from pathlib import Path
from bookchunk_assets.context import extractive
extractive.RULES = Path({rules!r}).read_text()
from bookchunk_assets.definitions import defs
"""


def test_only_the_chosen_stages_of_the_chosen_books_run(shelf: Shelf, serve: Callable[..., Served]) -> None:
    rules, module = shelf.root / "rules.txt", shelf.root / "code.py"
    rules.write_text(extractive.RULES)
    module.write_text(MODULE.format(rules=str(rules)))
    shelf.another("saga", chapters=2)
    shelf.another("yarn")
    assert shelf.run("chunk", "tale", "saga", "yarn", "--quiet").exit_code == 0
    shelf.ran()
    served = serve(sensors=False, command=[sys.executable, "-m", "dagster", "dev", "-f", str(module)])

    def stale() -> set[str]:
        query = '{ assetNodes { assetKey { path } staleStatus(partition: "tale/ch01") } }'
        nodes = served.ask(query)["assetNodes"]
        return {node["assetKey"]["path"][0] for node in nodes if node["staleStatus"] == "STALE"}

    assert stale() == set()
    rules.write_text("newer")
    served.reload(served.location())
    assert "context_prefixes" in served.until("what the reload made stale", stale)
    chosen = ["tale/ch01", "tale/ch02", "tale/ch03", "saga/ch01", "saga/ch02"]
    backfill = served.backfill(["context_prefixes", "chunk_embeddings"], chosen)
    served.until("the backfill", lambda: served.backfilled(backfill))
    query = '{ assetNodes(assetKeys: [{path: ["context_prefixes"]}]) { assetMaterializations(limit: 50) { partition tags { key value } } } }'
    made = served.ask(query)["assetNodes"][0]["assetMaterializations"]
    newer = {
        each["partition"]
        for each in made
        for tag in each["tags"]
        if tag["key"] == "dagster/code_version" and tag["value"].startswith("newer")
    }
    assert newer == set(chosen)
    ran = shelf.ran()
    assert set(ran) == {"context_prefixes", "chunk_embeddings"}, "no other stage, and the same text writes no file"
    assert "context_prefixes" not in stale()
