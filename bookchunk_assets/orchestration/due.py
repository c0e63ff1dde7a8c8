"""Which of a run's partitions it has to make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import dagster as dg

from bookchunk_assets.orchestration.home import store_of
from bookchunk_assets.orchestration.provenance import FROM_AUTOMATION, FROM_FAILURE, Made, made_by
from bookchunk_assets.orchestration.staleness import Recipe, stale

ONLY_STALE = "bookchunk/only_stale"  # a run's tag


def due(
    instance: dg.DagsterInstance,
    run: dg.DagsterRun,
    recipe: Recipe,
    partitions: Sequence[str],
    inputs: Mapping[str, Mapping[str, Made]],
    anew: bool,
) -> list[str]:
    """The partitions that a run makes, in order. Who asks by hand, or for all ``anew``, gets all of them; automation
    and the command, what is stale; and a run that takes over from one that failed leaves what that one made."""
    if not anew and "true" in (run.tags.get(FROM_AUTOMATION), run.tags.get(ONLY_STALE)):
        return list(stale(instance, store_of(instance), recipe, partitions, inputs))
    if not (before := _failed_before(instance, run)):
        return list(partitions)
    made = made_by(instance, recipe.name, partitions)
    return [partition for partition in partitions if made.get(partition) not in before]


def _failed_before(instance: dg.DagsterInstance, run: dg.DagsterRun) -> set[str]:
    """The runs that a run goes on from."""
    found: set[str] = set()
    after: dg.DagsterRun | None = run
    while after and after.tags.get(FROM_FAILURE) == "true" and after.parent_run_id:
        found.add(after.parent_run_id)
        after = instance.get_run_by_id(after.parent_run_id)
    return found
