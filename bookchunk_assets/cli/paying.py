"""What a command may pay for, and what it has paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dagster as dg

from bookchunk_assets.orchestration.claude import context_config
from bookchunk_assets.orchestration.provenance import newest_event
from bookchunk_assets.orchestration.runs import StageFailed
from bookchunk_assets.orchestration.spending import Spent, spent_by, spent_since

STAGE = "context_prefixes"


@dataclass(slots=True)
class Purse:
    """How a command asks models: by batches or at once, anew or not, up to a sum of dollars over all its books; and
    what it has spent on those that are done."""

    batch: bool = False
    refresh: bool = False
    most: float | None = None
    spent: Spent = field(default_factory=Spent)


class BookPurse:
    """The purse while one book is worked on."""

    def __init__(self, instance: dg.DagsterInstance, chapters: Sequence[str], purse: Purse) -> None:
        self._instance, self._chapters, self._purse = instance, chapters, purse
        self._start = newest_event(instance, STAGE)

    def spent(self, failed: Sequence[StageFailed]) -> Spent:
        """What the book has cost so far: its chapters that were made, and those that ``failed``."""
        lost = spent_by(told for failure in failed for told in failure.told.values())
        return spent_since(self._instance, STAGE, self._chapters, self._start) + lost

    def config(self, failed: Sequence[StageFailed]) -> Mapping[str, Any]:
        """The configuration of the next run, which may spend what is left."""
        most = self._purse.most
        if most is not None:
            most = max(most - ((self._purse.spent + self.spent(failed)).dollars or 0.0), 0.0)
        return context_config({"batch": self._purse.batch, "refresh": self._purse.refresh, "max_cost": most})

    def close(self, failed: Sequence[StageFailed]) -> Spent:
        """Take what the book has cost from the purse."""
        spent = self.spent(failed)
        self._purse.spent += spent
        return spent
