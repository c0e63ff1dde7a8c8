"""Intervals by bootstrap over questions, and of the difference between two ways over the same questions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SAMPLES, SEED = 2000, 20241
Values = npt.NDArray[np.float64]  # a value a question


def interval(values: Values) -> tuple[float, float]:
    """The middle 95 % of the mean over resampled questions; of a difference by question, it is the paired interval."""
    picks = np.random.default_rng(SEED).integers(0, len(values), (SAMPLES, len(values)))
    low, high = np.percentile(values[picks].mean(axis=1), (2.5, 97.5))
    return float(low), float(high)
