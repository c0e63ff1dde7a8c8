"""When Dagster's automation asks for a partition."""

from __future__ import annotations

from typing import Any

import dagster as dg

Condition = dg.AutomationCondition[Any]
DEPTH = 3  # the most stages between two inputs of one stage, the nearer one counted

# What was never made, or whose code or inputs changed, since it was last asked for or made.
_CHANGED: Condition = (
    dg.AutomationCondition.missing()
    | dg.AutomationCondition.code_version_changed()
    | dg.AutomationCondition.any_deps_match(dg.AutomationCondition.data_version_changed())
)
_STALE: Condition = _CHANGED.since_last_handled()
_UNDER_WAY: Condition = _STALE | dg.AutomationCondition.in_progress()

ON_CHANGE: Condition = (
    _STALE
    & ~dg.AutomationCondition.in_progress()
    & ~dg.AutomationCondition.any_deps_in_progress()
    & ~dg.AutomationCondition.any_deps_missing()
)


def _upstream(depth: int) -> Condition:
    """Whether anything before a partition, up to ``depth`` stages back, is stale or being made."""
    return dg.AutomationCondition.any_deps_match(_UNDER_WAY if depth == 1 else _UNDER_WAY | _upstream(depth - 1))


# A stage with several inputs waits for the longest way to it, lest it be made of chunks that are about to change.
ONCE_SETTLED: Condition = ON_CHANGE & ~_upstream(DEPTH)
