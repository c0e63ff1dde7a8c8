"""``voyage``: voyage-3-large and its kin, by the SDK. ``voyage-context-*`` reads a chapter's passages together.

The SDK's resources are called below its client, which drops the index of each vector and cannot be told to wait as long
as the provider asks. It drags in much; nothing else imports this module.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from bookchunk_assets.chunking.tokens import counts
from bookchunk_assets.embedding.plan import facts_of
from bookchunk_assets.embedding.port import EmbeddingFailed
from bookchunk_assets.embedding.remote import Answer, Remote, key_from, not_installed
from bookchunk_assets.embedding.retry import asked, failure

MARGIN = 1.5  # a bound of Voyage's tokens a cl100k token; its tokenizer is at a hub
ADDRESS = "https://api.voyageai.com/v1"
TIMEOUT = 120.0  # seconds


def sdk() -> Any:
    """The SDK, which has no types where it is called here."""
    try:
        return import_module("voyageai")
    except ImportError:
        raise not_installed("voyageai", "voyage") from None


def embedder(model: str) -> Remote:
    """A model of Voyage's."""
    late = model.startswith("voyage-context")

    def send(texts: Sequence[str], question: bool) -> Answer:
        key = key_from("VOYAGE_API_KEY", "voyage")
        voyageai = sdk()
        given: dict[str, Any] = {
            "model": model,
            "input_type": "query" if question else "document",
            "api_key": key,
            "base_url": os.environ.get("VOYAGE_BASE_URL") or ADDRESS,
            "request_timeout": TIMEOUT,
        }
        if late:
            got = asked(
                "voyage", lambda: voyageai.ContextualizedEmbedding.create(inputs=[list(texts)], **given), trouble
            )
            data = got.data[0].data if got.data else []
        else:
            got = asked(
                "voyage", lambda: voyageai.Embedding.create(input=list(texts), truncation=False, **given), trouble
            )
            data = got.data
        vectors = [each["embedding"] for each in sorted(data, key=lambda each: each["index"])]
        if len({len(vector) for vector in vectors}) > 1:
            raise EmbeddingFailed(f"{model} gave vectors of several sizes")
        return Answer(np.array(vectors, dtype=np.float32), got.usage.total_tokens)

    def count(texts: Sequence[str]) -> list[int]:
        return [int(size * MARGIN) + 1 for size in counts(texts)]

    return Remote("voyage", model, facts_of("voyage", model), late, send, count)


def trouble(error: Exception) -> Exception | None:
    """An error of the SDK's, judged."""
    import voyageai.error

    if not isinstance(error, voyageai.error.VoyageError):
        return None
    status = error.http_status
    headers = error.headers or {}
    said = (
        error.user_message if isinstance(error.user_message, str) else type(error).__name__
    )  # a list holds the passages
    what = f"voyage: {status or 'no answer'}: {said[:200]}"
    return failure(what, status, headers.get("retry-after") or headers.get("Retry-After"))
