"""What Dagster's records say of many partitions at once: the one place that reads its storage below the public API.

``test_provenance`` fails when an upgrade of Dagster moves one of these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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

from bookchunk_assets.orchestration.tags import CODE_VERSION, DATA_VERSION, INPUT_POINTER, INPUT_VERSION, USER_PROVIDED

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
    """A partition's newest event: the version of what was made or seen, what made it, and from which versions."""

    event: int
    version: str
    code_version: str | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)


def observed(instance: dg.DagsterInstance, asset: str, partitions: Collection[str]) -> dict[str, Made]:
    """The newest observations, by partition."""
    found = _newest(instance, asset, DagsterEventType.ASSET_OBSERVATION, partitions, [DATA_VERSION])
    return {key: Made(event, tags[DATA_VERSION]) for key, (event, tags) in found.items() if DATA_VERSION in tags}


def materialized(
    instance: dg.DagsterInstance, asset: str, partitions: Collection[str], inputs: Collection[str] = ()
) -> dict[str, Made]:
    """The newest materialisations that a stage reported itself, by partition, with the versions of these ``inputs``.
    One without a version of ours was reported by hand: nothing was made."""
    wanted = [DATA_VERSION, CODE_VERSION, USER_PROVIDED, *(INPUT_VERSION + name for name in inputs)]
    indexed = instance.event_log_storage.get_asset_tags_to_index(set(wanted))
    kind = DagsterEventType.ASSET_MATERIALIZATION
    told = _newest(instance, asset, kind, partitions, [tag for tag in wanted if tag in indexed])
    # Where the storage keeps no index of all these tags, or did not when it was written, the event itself has them.
    unread = {event for event, tags in told.values() if USER_PROVIDED not in tags}
    whole = {record.storage_id: _tags(record) for record in _fetched(instance, asset, unread)}
    found: dict[str, Made] = {}
    for partition, (event, index) in told.items():
        tags = whole.get(event, index)
        if tags.get(USER_PROVIDED) == "true":
            used = {name: tags[INPUT_VERSION + name] for name in inputs if INPUT_VERSION + name in tags}
            found[partition] = Made(event, tags[DATA_VERSION], tags.get(CODE_VERSION), used)
    return found


def made_by(instance: dg.DagsterInstance, asset: str, partitions: Collection[str]) -> dict[str, str]:
    """The run of each partition's newest materialisation."""
    events = _newest(instance, asset, DagsterEventType.ASSET_MATERIALIZATION, partitions, [])
    records = _fetched(instance, asset, {event for event, _ in events.values()})
    return {record.partition_key: record.run_id for record in records if record.partition_key}


def _newest(
    instance: dg.DagsterInstance, asset: str, kind: DagsterEventType, partitions: Collection[str], tags: Sequence[str]
) -> dict[str, tuple[int, Mapping[str, str]]]:
    """Each partition's newest event of a kind, with those of the tags that the storage has an index of."""
    if not partitions:
        return {}
    key, storage = dg.AssetKey(asset), instance.event_log_storage
    events = storage.get_latest_storage_id_by_partition(key, kind, set(partitions))
    told = storage.get_latest_tags_by_partition(key, kind, tags, list(partitions)) if tags and events else {}
    return {partition: (event, told.get(partition, {})) for partition, event in events.items()}


def _fetched(instance: dg.DagsterInstance, asset: str, events: Collection[int]) -> Iterator[dg.EventLogRecord]:
    ids = sorted(events)
    for at in range(0, len(ids), BATCH):
        some = dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), storage_ids=ids[at : at + BATCH])
        yield from instance.fetch_materializations(some, limit=BATCH).records


def _tags(record: dg.EventLogRecord) -> Mapping[str, str]:
    return (record.asset_materialization and record.asset_materialization.tags) or {}


def last_metadata(instance: dg.DagsterInstance, asset: str, partition: str) -> dict[str, Any]:
    """The metadata that the newest materialisation of a partition carries, as plain values."""
    return metadata_of(instance, asset, materialized(instance, asset, [partition])).get(partition, {})


def metadata_of(instance: dg.DagsterInstance, asset: str, made: Mapping[str, Made]) -> dict[str, dict[str, Any]]:
    """The metadata of what was made, by partition."""
    return {
        record.partition_key: {name: value.value for name, value in record.asset_materialization.metadata.items()}
        for record in _fetched(instance, asset, {each.event for each in made.values()})
        if record.partition_key and record.asset_materialization
    }


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


def remembered_all(instance: dg.DagsterInstance, keys: Collection[str]) -> Mapping[str, str]:
    """Values that were remembered in the instance under names of ours."""
    return instance.daemon_cursor_storage.get_cursor_values(set(keys)) if keys else {}


def remembered(instance: dg.DagsterInstance, key: str) -> str | None:
    """A value that was remembered in the instance under a name of ours."""
    return remembered_all(instance, [key]).get(key)


def remember(instance: dg.DagsterInstance, key: str, value: str) -> None:
    """Keep a value in the instance."""
    instance.daemon_cursor_storage.set_cursor_values({key: value})


def made_since(
    instance: dg.DagsterInstance, asset: str, partitions: Sequence[str], event: int
) -> list[tuple[str, dict[str, Any]]]:
    """Those of the partitions that were made after an event, each time with the metadata of its materialisation."""
    found: list[tuple[str, dict[str, Any]]] = []
    key = dg.AssetKey(asset)
    for at in range(0, len(partitions), BATCH):
        cursor, more = None, True
        some = dg.AssetRecordsFilter(
            asset_key=key, asset_partitions=partitions[at : at + BATCH], after_storage_id=event
        )
        while more:
            page = instance.fetch_materializations(some, limit=BATCH, cursor=cursor)
            for record in page.records:
                made = record.asset_materialization
                if made and record.partition_key and _tags(record).get(USER_PROVIDED) == "true":
                    found.append((record.partition_key, {name: value.value for name, value in made.metadata.items()}))
            cursor, more = page.cursor, page.has_more
    return found


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
