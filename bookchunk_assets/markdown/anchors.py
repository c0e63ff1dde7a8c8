"""Anchors that are unique within a file, counted as on GitHub."""

from __future__ import annotations

from collections.abc import Iterable


class Anchors:
    """The anchors of one file: the second of a name gets ``-1``, the third ``-2``."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._used = dict.fromkeys(taken, 0)

    def take(self, name: str) -> str:
        """``name`` (``section`` where it is empty), told from all that were taken before."""
        base = anchor = name or "section"
        while anchor in self._used:
            self._used[base] += 1
            anchor = f"{base}-{self._used[base]}"
        self._used[anchor] = 0
        return anchor
