"""A sum that is not to be exceeded, whatever is under way at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from bookchunk_assets.models.failure import ModelFailed

MARGIN = 1.1


class Budget:
    """Lets a call start only where it cannot pass the sum: its bound is set aside until its cost is known. Where a
    call turned out to cost more than its bound, the bounds of later ones grow with it; until the first has told, one
    goes at a time. All sums are dollars."""

    def __init__(self, most: float | None) -> None:
        self._most = most
        self._spent = self._aside = 0.0
        self._scale = 1.0
        self._known = False
        self._changed = threading.Condition()

    def fits(self, bound: float) -> bool:
        """Whether a call of that bound could start now, were it alone."""
        return self._most is None or self._spent + bound * self._scale <= self._most

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
                if not self._aside:
                    told = f"the next call could exceed --max-cost ${self._most:g}; ${self._spent:.4f} spent"
                    raise ModelFailed(f"{told}, run again with a higher one", final=True)
                self._changed.wait()
            aside = bound * self._scale
            self._aside += aside
        try:
            yield cost
        finally:
            with self._changed:
                self._aside = max(self._aside - aside, 0.0) if self._aside - aside > 1e-12 else 0.0
                if cost:
                    self._known = True
                    self._spent += sum(cost)
                    if bound:
                        self._scale = max(self._scale, MARGIN * sum(cost) / bound)
                self._changed.notify_all()

    def _free(self, bound: float) -> bool:
        assert self._most is not None
        alone = self._known or not self._aside
        return alone and self._spent + self._aside + bound * self._scale <= self._most
