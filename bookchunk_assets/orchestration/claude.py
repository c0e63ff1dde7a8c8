"""Claude as Dagster sees it: a resource with its key, and what a run may ask of the stage that uses it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any

import dagster as dg
from pydantic import Field

from bookchunk_assets.models.failure import ModelFailed
from bookchunk_assets.models.limits import Limits

if TYPE_CHECKING:
    from bookchunk_assets.models.claude import Claude

KEY = "ANTHROPIC_API_KEY"
ADAPTER = "bookchunk_assets.models.claude"  # imported late: the SDK takes more than a second, which most runs need not


class ClaudeResource(dg.ConfigurableResource[Any]):
    """The key. Without one nothing fails until a question is due."""

    api_key: str

    def connect(self, limits: Limits) -> Claude:
        """A client; a final ``ModelFailed`` without a key."""
        if not self.api_key:
            told = "set it, or switch the book by `--context extractive`"
            raise ModelFailed(f"{KEY} is not set, and prefixes are to be asked for; {told}", final=True)
        adapter: Any = import_module(ADAPTER)
        client: Claude = adapter.Claude(self.api_key, limits)
        return client


def claude_resource() -> ClaudeResource:
    """The resource, its key from the environment."""
    declare_key()
    return ClaudeResource(api_key=dg.EnvVar(KEY))


def declare_key() -> None:
    """Let the key's variable be there, if empty: without it Dagster would start no run."""
    os.environ.setdefault(KEY, "")


class ContextOptions(dg.Config):  # type: ignore[misc]
    """How a run of ``context_prefixes`` asks a model, where its book has one."""

    batch: bool = Field(default=False, description="By message batches, at half the price, within a day.")
    refresh: bool = Field(default=False, description="Ask anew for what is there already.")
    max_cost: float | None = Field(default=None, description="Dollars at which to stop before they are exceeded.")


def preload() -> None:
    """Begin to import the SDK, for a run that will want it once its earlier stages are done."""
    Thread(target=import_module, args=(ADAPTER,), daemon=True).start()


def context_config(options: Mapping[str, object]) -> dict[str, object]:
    """A run's configuration with these options of ``context_prefixes``."""
    return {"ops": {"context_prefixes": {"config": dict(options)}}}
