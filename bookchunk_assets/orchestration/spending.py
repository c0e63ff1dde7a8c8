"""What runs have paid, by what their stages said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dagster as dg

from bookchunk_assets.models.prices import dollars
from bookchunk_assets.models.usage import Usage, added, from_plain
from bookchunk_assets.orchestration.provenance import made_since


@dataclass(frozen=True, slots=True)
class Spent:
    """What was asked for of a model: answers that were used, tokens by tariff, and a line for each that was no use."""

    generated: int = 0
    spend: Mapping[str, Usage] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def dollars(self) -> float | None:
        """What it came to; None where a price is not known."""
        return dollars(self.spend)

    def __add__(self, other: Spent) -> Spent:
        spend = added([self.spend, other.spend])
        return Spent(self.generated + other.generated, spend, (*self.warnings, *other.warnings))


def spent_by(told: Iterable[Mapping[str, Any]]) -> Spent:
    """What chapters' metadata add up to."""
    total = Spent()
    for each in told:
        spend = from_plain(each.get("spend") or {})
        total += Spent(each.get("generated") or 0, spend, tuple(each.get("warnings") or ()))
    return total


def spent_since(instance: dg.DagsterInstance, stage: str, partitions: Sequence[str], event: int) -> Spent:
    """What the chapters that were made since an event had cost."""
    return spent_by(told for _, told in made_since(instance, stage, partitions, event))
