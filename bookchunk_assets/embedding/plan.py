"""Which model makes a book's vectors, and how: decided by the settings alone, before any model is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.embedding.port import Embedder

RULES = "1"  # of how local vectors are made too
LATE = {"local": "off", "jina": "on"}  # what ``rag.late`` is where a manifest is silent; for ``local`` by the figures


@dataclass(frozen=True, slots=True)
class Plan:
    """The provider, the model's name, and ``late``: off, on or mix (the mean of late and plain vectors)."""

    provider: str
    model: str
    late: str

    @property
    def is_late(self) -> bool:
        """Column ``late`` of the file."""
        return self.late != "off"

    def __str__(self) -> str:
        return f"{self.provider} {self.model} {self.late}"


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of a model; None where nothing is. Sizes are the provider's tokens, ``dollars`` a million."""

    dimensions: int | None = None
    dollars: float | None = None
    inputs: int = 1
    tokens: int = 0
    input_tokens: int = 0


@cache
def known_models() -> Mapping[str, Mapping[str, ModelFacts]]:
    """The models that are known, by provider and name."""
    listed: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(
        Path(__file__).with_name("models.yaml").read_text("utf-8")
    )
    return {provider: {name: ModelFacts(**facts) for name, facts in own.items()} for provider, own in listed.items()}


def facts_of(provider: str, model: str) -> ModelFacts:
    """A model's facts; those of an unlisted one have its provider's limits alone."""
    own = known_models()[provider]
    first = next(iter(own.values()))
    return own.get(model) or ModelFacts(None, None, first.inputs, first.tokens, first.input_tokens)


def plan_of(settings: Settings) -> Plan | None:
    """A book's plan; None where it has no vectors. Raises ``ValueError`` where no such model can be had."""
    provider = settings.embedding
    if provider == "none":
        return None
    own = known_models()[provider]
    model = settings.embedding_model or next(iter(own))
    if provider == "local" and model not in own:
        raise ValueError(f"`rag.embedding_model` {model!r} is no local model; take {' or '.join(own)}")
    late = settings.late or LATE.get(provider, "off")
    if provider in ("voyage", "openai"):
        late = "on" if model.startswith("voyage-context") else "off"
    return Plan(provider, model, late)


def embedders(plan: Plan) -> Sequence[Embedder]:
    """What makes a plan's vectors: one way, or two for their mean. Raises ``EmbeddingFailed`` where a key or a package
    is missing. The packages of a provider are imported here, and nowhere else."""
    ways = {"off": (False,), "on": (True,), "mix": (True, False)}[plan.late]
    if plan.provider == "local":
        from bookchunk_assets.embedding import local

        return [local.Late(plan.model) if late else local.Plain(plan.model) for late in ways]
    if plan.provider == "voyage":
        from bookchunk_assets.embedding import voyage

        return [voyage.embedder(plan.model)]
    if plan.provider == "openai":
        from bookchunk_assets.embedding import openai

        return [openai.embedder(plan.model)]
    from bookchunk_assets.embedding import jina

    return [jina.embedder(plan.model, late) for late in ways]
