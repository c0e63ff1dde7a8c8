"""The tags by which Dagster's events say what was made of what."""

from __future__ import annotations

DATA_VERSION = "dagster/data_version"
CODE_VERSION = "dagster/code_version"
USER_PROVIDED = "dagster/data_version_is_user_provided"
INPUT_VERSION = "dagster/input_data_version/"
INPUT_POINTER = "dagster/input_event_pointer/"
TAGS = frozenset({DATA_VERSION, CODE_VERSION, USER_PROVIDED})
