"""Which partitions of a stage are stale, by Dagster's records alone, and why.

A partition is stale where nothing was made, its output is gone, or the code or an input's data is not what it was made
from. Staleness is not transitive: asked stage by stage, each after the one before has run, a stage whose output comes
out the same stops the wave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import dagster as dg

from bookchunk_assets.orchestration.provenance import Made, materialized, observed
from bookchunk_assets.orchestration.store import StageStore


@dataclass(frozen=True, slots=True)
class Recipe:
    """What makes an asset: its code, and its inputs by name."""

    name: str
    code_version: str
    inputs: tuple[str, ...]


SEEN = frozenset({"chapter_file", "chapter_settings", "book_chapters"})  # observed, not made


def recipe_of(asset: dg.AssetsDefinition) -> Recipe:
    """The recipe that an asset's definition states."""
    inputs = sorted(key.to_user_string() for key in asset.asset_deps[asset.key])
    return Recipe(asset.key.to_user_string(), str(asset.code_versions_by_key[asset.key]), tuple(inputs))


def versions(
    instance: dg.DagsterInstance, assets: Sequence[str], partitions: Sequence[str]
) -> dict[str, dict[str, Made]]:
    """The newest version of each asset's partitions."""
    return {name: (observed if name in SEEN else materialized)(instance, name, partitions) for name in assets}


def known_of(
    instance: dg.DagsterInstance, recipes: Sequence[Recipe], partitions: Sequence[str]
) -> dict[str, dict[str, Made]]:
    """What recipes made of these partitions, and from what, read once for all of them."""
    seen = {name for recipe in recipes for name in recipe.inputs} & SEEN
    made = {recipe.name: materialized(instance, recipe.name, partitions, recipe.inputs) for recipe in recipes}
    return {**versions(instance, sorted(seen), partitions), **made}


def stale(
    instance: dg.DagsterInstance,
    store: StageStore | None,
    recipe: Recipe,
    partitions: Sequence[str],
    known: Mapping[str, Mapping[str, Made]] = MappingProxyType({}),
) -> dict[str, str]:
    """The stale ones of ``partitions``, in order, each with its cause; ``store`` is where outputs must be, and
    ``known`` what was read already of the recipe's asset and its inputs."""
    inputs = {name: known[name] for name in recipe.inputs if name in known}
    inputs |= versions(instance, [name for name in recipe.inputs if name not in known], partitions)
    made = known.get(recipe.name)
    made = materialized(instance, recipe.name, partitions, recipe.inputs) if made is None else made
    there = None if store is None else store.kept(recipe.name, partitions)
    causes = {}
    for partition in partitions:
        cause = _cause(recipe, made.get(partition), {name: inputs[name].get(partition) for name in recipe.inputs})
        if cause is None and there is not None and partition not in there:
            cause = "its output is gone"
        if cause is not None:
            causes[partition] = cause
    return causes


def _cause(recipe: Recipe, made: Made | None, inputs: Mapping[str, Made | None]) -> str | None:
    if made is None:
        return "never made"
    if made.code_version != recipe.code_version:
        return f"its code changed, {made.code_version} to {recipe.code_version}"
    for name, now in inputs.items():
        if now is not None and made.inputs.get(name) != now.version:
            return f"{name} changed"
    return None
