"""Dagster as it is served, for the tests of the whole system."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bookchunk_tests.conftest import Shelf
from bookchunk_tests.system.served import Served


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.system)


@pytest.fixture
def serve(shelf: Shelf) -> Iterator[Callable[..., Served]]:
    """Start Dagster on the shelf's home and corpus; it ends with the test."""
    started: list[Served] = []

    def start(**given: Any) -> Served:
        served = Served(shelf.root / "corpus", shelf.root / "dagster.log", **given)
        started.append(served)
        served.start()
        return served

    yield start
    for served in started:
        served.stop()
    print((shelf.root / "dagster.log").read_text("utf-8", "replace")[-6000:])  # shown where a test fails
