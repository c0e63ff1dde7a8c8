"""What models cost: the table in ``prices.yaml``, and sums by it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from bookchunk_assets.models.usage import BATCH, Spend, Usage

TABLE = Path(__file__).with_name("prices.yaml")
DATED = re.compile(r"-\d{8}$")  # claude-haiku-4-5-20251001
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens of each kind, and what else of a model bears on its price."""

    input: float
    output: float = 0.0
    cache_write: float = 0.0
    cache_read: float = 0.0
    cached_from: int | None = None
    thinks: bool = False

    def of(self, usage: Usage) -> float:
        """Dollars for what was used."""
        return (
            usage.input * self.input
            + usage.output * self.output
            + usage.cache_write * self.cache_write
            + usage.cache_read * self.cache_read
        ) / MILLION


@cache
def _table() -> tuple[float, Mapping[str, Price]]:
    data = yaml.safe_load(TABLE.read_text("utf-8"))
    return float(data["batch"]), {name: Price(**price) for name, price in data["models"].items()}


def price_of(model: str) -> Price | None:
    """A model's price, by its name with or without a date; None where the table has none."""
    prices = _table()[1]
    return prices.get(model) or prices.get(DATED.sub("", model))


def dollars(spend: Spend) -> float | None:
    """What a spend comes to; None where a model in it has no known price: that is not free."""
    batch, _ = _table()
    total = 0.0
    for tariff, usage in spend.items():
        price = price_of(tariff.removesuffix(BATCH))
        if price is None:
            return None
        total += price.of(usage) * (batch if tariff.endswith(BATCH) else 1)
    return total
