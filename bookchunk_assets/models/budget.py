"""A sum that is not to be exceeded, whatever is under way at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from bookchunk_assets.models.failure import ModelFailed

MARGIN = 1.1


class Budget:
    """Lets a call start only where it cannot pass the sum: its bound is set aside until its cost is known. Until the
    first has told, one goes at a time; where one turned out to cost more than its bound, bounds are not believed any
    more, and as much is set aside as the worst so far would take. All sums are dollars."""

    def __init__(self, most: float | None) -> None:
        self._most = most
        self._spent = self._aside = 0.0
        self._scale, self._largest = 1.0, 0.0
        self._known, self._under_way = False, 0
        self._changed = threading.Condition()

    def fits(self, bound: float) -> bool:
        """Whether a call of that bound could start now, were it alone."""
        return self._most is None or self._spent + self._needed(bound) <= self._most

    @contextmanager
    def call(self, bound: float) -> Iterator[list[float]]:
        """Set aside ``bound`` for a call, waiting where others hold too much; put what it cost into the list. Raises a
        final ``ModelFailed`` where the sum would be exceeded."""
        cost: list[float] = []
        if self._most is None:
            yield cost
            return
        with self._changed:
            while not self._free(bound):
                if not self._under_way:
                    told = f"the next call could exceed --max-cost ${self._most:g}; ${self._spent:.4f} spent"
                    raise ModelFailed(f"{told}, run again with a higher one", final=True)
                self._changed.wait()
            aside = self._needed(bound)
            self._aside += aside
            self._under_way += 1
        try:
            yield cost
        finally:
            with self._changed:
                self._under_way -= 1
                self._aside = self._aside - aside if self._under_way else 0.0
                if cost:
                    self._known = True
                    self._spent += sum(cost)
                    self._largest = max(self._largest, sum(cost))
                    if bound:
                        self._scale = max(self._scale, MARGIN * sum(cost) / bound)
                self._changed.notify_all()

    def _needed(self, bound: float) -> float:
        return bound if self._scale == 1.0 else max(bound * self._scale, MARGIN * self._largest)

    def _free(self, bound: float) -> bool:
        assert self._most is not None
        alone = self._known or not self._under_way
        return alone and self._spent + self._aside + self._needed(bound) <= self._most
