"""What Dagster's records say of many partitions at once: the one place that reads its storage below the public API.

``test_provenance`` fails when an upgrade of Dagster moves one of these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import dagster as dg
from dagster._core.definitions.source_asset import SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION
from dagster._core.events import DagsterEventType
from dagster._core.storage.tags import (
    ASSET_PARTITION_RANGE_END_TAG,
    ASSET_PARTITION_RANGE_START_TAG,
    AUTOMATION_CONDITION_TAG,
    RESUME_RETRY_TAG,
)

DATA_VERSION = "dagster/data_version"
CODE_VERSION = "dagster/code_version"
USER_PROVIDED = "dagster/data_version_is_user_provided"
INPUT_VERSION = "dagster/input_data_version/"
INPUT_POINTER = "dagster/input_event_pointer/"
RANGE_START, RANGE_END = ASSET_PARTITION_RANGE_START_TAG, ASSET_PARTITION_RANGE_END_TAG
FROM_AUTOMATION, FROM_FAILURE = AUTOMATION_CONDITION_TAG, RESUME_RETRY_TAG
FAILED = "failed"  # a failed run's metadata: what each chapter of its that failed had to say
BATCH = 1000

# The output that a step owes, without Dagster's event for it, which has one version for all partitions: the assets
# report each partition themselves.
_UNSAID = {SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION: True}
UNSAID = dg.MaterializeResult[Any](metadata=_UNSAID)
UNSAID_SEEN = dg.ObserveResult(metadata=_UNSAID)


@dataclass(frozen=True, slots=True)
class Made:
    """A partition's newest event: the version of what was made or seen, what made it, from which versions, in which
    run."""

    event: int
    version: str
    code_version: str | None
    inputs: Mapping[str, str]
    run: str | None = None


def observed(instance: dg.DagsterInstance, asset: str, partitions: Collection[str]) -> dict[str, Made]:
    """The newest observations, by partition."""
    key = dg.AssetKey(asset)
    storage = instance.event_log_storage
    kind = DagsterEventType.ASSET_OBSERVATION
    events = storage.get_latest_storage_id_by_partition(key, kind, set(partitions))
    versions = storage.get_latest_tags_by_partition(key, kind, [DATA_VERSION], list(partitions))
    return {
        partition: Made(event, versions[partition][DATA_VERSION], None, {})
        for partition, event in events.items()
        if partition in versions
    }


def materialized(instance: dg.DagsterInstance, asset: str, partitions: Collection[str]) -> dict[str, Made]:
    """The newest materialisations that a stage reported itself, by partition. One without a version of ours was
    reported by hand: nothing was made."""
    key = dg.AssetKey(asset)
    events = instance.event_log_storage.get_latest_storage_id_by_partition(
        key, DagsterEventType.ASSET_MATERIALIZATION, set(partitions)
    )
    ids = sorted(events.values())
    found: dict[str, Made] = {}
    for at in range(0, len(ids), BATCH):
        some = dg.AssetRecordsFilter(asset_key=key, storage_ids=ids[at : at + BATCH])
        for record in instance.fetch_materializations(some, limit=BATCH).records:
            tags = record.asset_materialization.tags if record.asset_materialization else None
            if record.partition_key and tags and tags.get(USER_PROVIDED) == "true":
                found[record.partition_key] = Made(
                    record.storage_id,
                    tags[DATA_VERSION],
                    tags.get(CODE_VERSION),
                    {k.removeprefix(INPUT_VERSION): v for k, v in tags.items() if k.startswith(INPUT_VERSION)},
                    record.run_id,
                )
    return found


def last_metadata(instance: dg.DagsterInstance, asset: str, partition: str) -> dict[str, Any]:
    """The metadata that the newest materialisation of a partition carries, as plain values."""
    made = materialized(instance, asset, [partition]).get(partition)
    if made is None:
        return {}
    some = dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), storage_ids=[made.event])
    for record in instance.fetch_materializations(some, limit=1).records:
        if record.asset_materialization:
            return {name: value.value for name, value in record.asset_materialization.metadata.items()}
    return {}


def observation(
    asset: str, partition: str, version: str, metadata: Mapping[str, Any] | None = None
) -> dg.AssetObservation:
    """The event that says what was seen of one partition."""
    tags = {DATA_VERSION: version, USER_PROVIDED: "true"}
    return dg.AssetObservation(asset, partition=partition, tags=tags, metadata=metadata)


def observe(
    instance: dg.DagsterInstance, asset: str, partition: str, version: str, metadata: Mapping[str, Any] | None = None
) -> None:
    """Report what was seen, without a run."""
    instance.report_runless_asset_event(observation(asset, partition, version, metadata))


def materialization(
    asset: str,
    partition: str,
    version: str,
    code_version: str,
    inputs: Mapping[str, Made],
    metadata: Mapping[str, Any],
) -> dg.AssetMaterialization:
    """The event that says what one partition of a run is: a range run's own event has one version for all."""
    tags = {DATA_VERSION: version, CODE_VERSION: code_version, USER_PROVIDED: "true"}
    for name, made in inputs.items():
        tags[INPUT_VERSION + name] = made.version
        tags[INPUT_POINTER + name] = str(made.event)
    return dg.AssetMaterialization(asset, partition=partition, tags=tags, metadata=dict(metadata))


def remembered(instance: dg.DagsterInstance, key: str) -> str | None:
    """A value that was remembered in the instance under a name of ours."""
    return instance.daemon_cursor_storage.get_cursor_values({key}).get(key)


def remember(instance: dg.DagsterInstance, key: str, value: str) -> None:
    """Keep a value in the instance."""
    instance.daemon_cursor_storage.set_cursor_values({key: value})


def made_since(instance: dg.DagsterInstance, asset: str, event: int) -> list[tuple[str, dict[str, Any]]]:
    """The partitions that were made after an event, each with the metadata of its materialisation."""
    found: list[tuple[str, dict[str, Any]]] = []
    cursor = None
    while True:
        some = dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), after_storage_id=event)
        page = instance.fetch_materializations(some, limit=BATCH, cursor=cursor)
        for record in page.records:
            made = record.asset_materialization
            if made and record.partition_key and made.tags and made.tags.get(USER_PROVIDED) == "true":
                found.append((record.partition_key, {name: value.value for name, value in made.metadata.items()}))
        if not page.has_more:
            return found
        cursor = page.cursor


def newest_event(instance: dg.DagsterInstance, asset: str) -> int:
    """The newest materialisation's event of any partition; 0 where there is none."""
    records = instance.fetch_materializations(dg.AssetKey(asset), limit=1).records
    return records[0].storage_id if records else 0


def failure_of(instance: dg.DagsterInstance, run_id: str) -> tuple[str, Any]:
    """Why a run failed: the first step's own words, and what each failed chapter had to say."""
    for entry in instance.all_logs(run_id, of_type=DagsterEventType.STEP_FAILURE):
        data = entry.dagster_event.step_failure_data if entry.dagster_event else None
        if data is not None and data.user_failure_data is not None and data.user_failure_data.description:
            told = data.user_failure_data.metadata.get(FAILED)
            return data.user_failure_data.description, told.value if isinstance(told, dg.JsonMetadataValue) else {}
        if data is not None and data.error is not None:
            cause = data.error.cause or data.error
            return cause.message.strip(), {}
    return f"run {run_id} failed", {}
