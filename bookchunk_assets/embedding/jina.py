"""``jina``: jina-embeddings-v3 by HTTP, with its own late chunking."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bookchunk_assets.embedding.e5.tokenizer import UnigramTokenizer
from bookchunk_assets.embedding.e5.weights import shipped
from bookchunk_assets.embedding.plan import facts_of
from bookchunk_assets.embedding.port import EmbeddingFailed
from bookchunk_assets.embedding.remote import Answer, Remote, key_from, not_installed
from bookchunk_assets.embedding.retry import asked, failure

if TYPE_CHECKING:
    import httpx

ADDRESS = "https://api.jina.ai/v1"
FRAME = 8  # tokens that a text may need beyond its own


@cache
def client() -> httpx.Client:
    """The HTTP client."""
    key = key_from("JINA_API_KEY", "jina")
    try:
        import httpx
    except ImportError:
        raise not_installed("httpx", "jina") from None
    base = os.environ.get("JINA_BASE_URL") or ADDRESS
    return httpx.Client(base_url=f"{base.rstrip('/')}/", headers={"Authorization": f"Bearer {key}"}, timeout=120)


@cache
def tokenizer() -> UnigramTokenizer:
    """XLM-RoBERTa's, which is that of jina-embeddings-v3."""
    return UnigramTokenizer(shipped())


def embedder(model: str, late: bool) -> Remote:
    """A model of Jina's; late chunking reads the texts of a request as one."""

    def send(texts: Sequence[str], question: bool) -> Answer:
        body = {
            "model": model,
            "task": "retrieval.query" if question else "retrieval.passage",
            "input": list(texts),
            "late_chunking": late and not question,
            "truncate": False,
        }
        got = asked("jina", lambda: _post(body), trouble)
        try:
            data = sorted(got["data"], key=lambda each: each["index"])
            vectors = np.array([each["embedding"] for each in data], dtype=np.float32)
            return Answer(vectors, int(got["usage"]["total_tokens"]))
        except (KeyError, TypeError, ValueError) as error:
            raise EmbeddingFailed(f"{model} gave no sound answer: {error}") from error

    def count(texts: Sequence[str]) -> list[int]:
        return [len(tokenizer().pieces(text).ids) + FRAME for text in texts]

    return Remote("jina", model, facts_of("jina", model), late, send, count)


def _post(body: dict[str, Any]) -> Any:
    answer = client().post("embeddings", json=body)
    answer.raise_for_status()
    return answer.json()


def _detail(answer: httpx.Response) -> str:
    """What the provider says is wrong, where it is a sentence: anything longer may hold the passages."""
    try:
        told = answer.json()["detail"]
    except (ValueError, KeyError, TypeError):
        return answer.reason_phrase
    return told[:200] if isinstance(told, str) else answer.reason_phrase


def trouble(error: Exception) -> Exception | None:
    """An error of the client's, judged."""
    import httpx

    if isinstance(error, httpx.HTTPStatusError):
        answer = error.response
        what = f"jina: {answer.status_code} {_detail(answer)}"
        return failure(what, answer.status_code, answer.headers.get("retry-after"))
    if isinstance(error, httpx.TransportError):
        return failure(f"jina: no answer: {error}", None)
    if isinstance(error, ValueError):
        return EmbeddingFailed("jina: an answer that is no JSON")
    return None
