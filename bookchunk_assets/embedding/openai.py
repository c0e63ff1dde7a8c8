"""``openai``: text-embedding-3-*, by the SDK. It has no token vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from bookchunk_assets.chunking.tokens import counts
from bookchunk_assets.embedding.plan import facts_of
from bookchunk_assets.embedding.port import EmbeddingFailed
from bookchunk_assets.embedding.remote import Answer, Remote, key_from, not_installed
from bookchunk_assets.embedding.retry import asked, failure

if TYPE_CHECKING:
    from openai import OpenAI

FINAL = ("insufficient_quota", "billing_hard_limit_reached")  # 429s that waiting does not help


@cache
def client() -> OpenAI:
    """The SDK's client; the base URL is its own ``OPENAI_BASE_URL``. Retries are ours."""
    key = key_from("OPENAI_API_KEY", "openai")
    try:
        from openai import OpenAI
    except ImportError:
        raise not_installed("openai", "openai") from None
    return OpenAI(api_key=key, max_retries=0, timeout=120)


def embedder(model: str) -> Remote:
    """A model of OpenAI's; its tokens are cl100k's, as ours."""

    def send(texts: Sequence[str], _question: bool) -> Answer:
        made = client().embeddings
        got = asked("openai", lambda: made.create(model=model, input=list(texts)), trouble)
        data = sorted(got.data, key=lambda each: each.index)
        if len({len(each.embedding) for each in data}) > 1:
            raise EmbeddingFailed(f"{model} gave vectors of several sizes")
        return Answer(np.array([each.embedding for each in data], dtype=np.float32), got.usage.total_tokens)

    return Remote("openai", model, facts_of("openai", model), False, send, counts)


def trouble(error: Exception) -> Exception | None:
    """An error of the SDK's, judged."""
    from openai import APIConnectionError, APIStatusError

    if isinstance(error, APIStatusError):
        what, wait = f"openai: {error.status_code} {error.message}", error.response.headers.get("retry-after")
        return failure(what, error.status_code, wait, passes=error.code not in FINAL)
    if isinstance(error, APIConnectionError):
        return failure(f"openai: no answer: {error}", None)
    return None
