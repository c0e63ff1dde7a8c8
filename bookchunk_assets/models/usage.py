"""What was paid for, from the answers' own figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

BATCH = "/batch"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens by kind, as their provider counted them. ``input`` leaves out what was written to or read from a cache."""

    input: int = 0
    output: int = 0
    cache_write: int = 0
    cache_read: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(a + b for a, b in zip(asdict(self).values(), asdict(other).values(), strict=True)))


# By tariff: a model's name, with ``/batch`` after it for what came by batches.
Spend = Mapping[str, Usage]


def added(spends: Iterable[Spend]) -> dict[str, Usage]:
    """All that was spent."""
    total: dict[str, Usage] = {}
    for spend in spends:
        for tariff, usage in spend.items():
            total[tariff] = total.get(tariff, Usage()) + usage
    return total


def plain(spend: Spend) -> dict[str, dict[str, int]]:
    """As JSON holds it."""
    return {tariff: asdict(usage) for tariff, usage in spend.items()}


def from_plain(value: Mapping[str, Mapping[str, int]]) -> dict[str, Usage]:
    """What ``plain`` was given."""
    return {tariff: Usage(**usage) for tariff, usage in value.items()}
