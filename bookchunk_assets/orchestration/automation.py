"""When Dagster's automation asks for a partition."""

from __future__ import annotations

from typing import Any

import dagster as dg

Condition = dg.AutomationCondition[Any]
AGAIN = "0 * * * *"  # when what failed is asked for once more: a provider may be back

_MISSING = dg.AutomationCondition.missing()
_REQUESTED = dg.AutomationCondition.newly_requested()
_MADE = dg.AutomationCondition.newly_updated()

# Each is true at one tick: what fails is not asked for at every one.
_BY_ITSELF: Condition = (
    _MISSING.newly_true()
    | (_MISSING & dg.AutomationCondition.initial_evaluation())
    | dg.AutomationCondition.code_version_changed()
    | (dg.AutomationCondition.execution_failed() & dg.AutomationCondition.cron_tick_passed(AGAIN))
)
_DATA_CHANGED = dg.AutomationCondition.any_deps_match(dg.AutomationCondition.data_version_changed())
_DATA_COMES = dg.AutomationCondition.any_deps_match(dg.AutomationCondition.will_be_requested())


def _asked(by_inputs: Condition) -> Condition:
    """Once for each change, and when nothing before it is missing or on its way. An input that changes within the tick
    after both were asked for came after that request: it stands until this is made too, or asked for again."""
    overtaken = (by_inputs & _REQUESTED).since(_MADE | (_REQUESTED & ~by_inputs))
    return (
        ((_BY_ITSELF | by_inputs).since(_REQUESTED | _MADE) | overtaken)
        & ~dg.AutomationCondition.in_progress()
        & ~dg.AutomationCondition.any_deps_in_progress()
        & ~dg.AutomationCondition.any_deps_missing()
    )


ON_CHANGE: Condition = _asked(_DATA_CHANGED)

# With what it is made from, in the same run: a change is one run and not one a stage. There each stage makes only what
# is stale when its turn comes (``due``), so what comes out the same stops the wave all the same.
WITH_INPUTS: Condition = _asked(_DATA_CHANGED | _DATA_COMES)
