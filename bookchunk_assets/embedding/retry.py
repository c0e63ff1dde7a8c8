"""A provider's calls: through the process's gate to it, its errors in the models' terms."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from bookchunk_assets.embedding.port import EmbeddingFailed
from bookchunk_assets.models.failure import ModelFailed, Transient
from bookchunk_assets.models.limits import Limits, gate, persistent

T = TypeVar("T")


def failure(what: str, status: int | None, wait: str | None = None, *, passes: bool = True) -> Exception:
    """What a call that failed means, by its HTTP status (None: no answer came) and the seconds of ``Retry-After``."""
    if not passes or not (status is None or status in (408, 409, 425, 429) or status >= 500):
        return EmbeddingFailed(what)
    try:
        return Transient(what, max(float(wait), 0.0) if wait else None)
    except ValueError:
        return Transient(what)


def asked(provider: str, call: Callable[[], T], judge: Callable[[Exception], Exception | None]) -> T:
    """The answer of ``call``, tried again where ``judge`` takes its error for ``Transient``. What ``judge`` does not
    know goes through; else ``ModelFailed``."""
    limits = Limits.of(os.environ)

    def once() -> T:
        try:
            return call()
        except ModelFailed:
            raise
        except Exception as error:
            if known := judge(error):
                raise known from None  # the error itself may hold passages
            raise

    return persistent(once, limits, gate(provider, limits.calls))
