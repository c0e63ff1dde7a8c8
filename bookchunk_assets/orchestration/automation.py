"""When Dagster's automation asks for a partition."""

from __future__ import annotations

import dagster as dg

# One graph level a tick: what was never made, whose code or inputs changed, once nothing before it is under way.
_CHANGED: dg.AutomationCondition[dg.AssetKey] = (
    dg.AutomationCondition.missing()
    | dg.AutomationCondition.code_version_changed()
    | dg.AutomationCondition.any_deps_match(dg.AutomationCondition.data_version_changed())
)
ON_CHANGE = (
    _CHANGED.since_last_handled()  # type: ignore[misc]
    & ~dg.AutomationCondition.in_progress()
    & ~dg.AutomationCondition.any_deps_in_progress()
    & ~dg.AutomationCondition.any_deps_missing()
)
