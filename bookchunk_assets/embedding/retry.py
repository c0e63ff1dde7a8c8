"""A call that is tried again where trying again can help."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from bookchunk_assets.embedding.port import EmbeddingFailed

T = TypeVar("T")
TRIES = 5
FIRST, LONGEST = 1.0, 60.0  # seconds between tries: doubled each time, or what the provider asks for


@dataclass(frozen=True, slots=True)
class Trouble:
    """What went wrong with a call: whether it may pass, and how long the provider asks to wait."""

    what: str
    passes: bool
    wait: float | None = None


def may_pass(status: int | None) -> bool:
    """Whether an HTTP status (None: no answer came) is worth another try."""
    return status is None or status in (408, 409, 425, 429) or status >= 500


def asked_wait(header: str | None) -> float | None:
    """The seconds of a ``Retry-After`` header; None where it gives none."""
    try:
        return max(float(header), 0.0) if header else None
    except ValueError:
        return None


def persistent(call: Callable[[], T], judge: Callable[[Exception], Trouble | None]) -> T:
    """The answer of ``call``. ``judge`` knows the provider's errors; what it does not know goes through. Raises
    ``EmbeddingFailed`` where trying does not help."""
    wait = FIRST
    for tries in range(1, TRIES + 1):
        try:
            return call()
        except EmbeddingFailed:
            raise
        except Exception as error:
            trouble = judge(error)
            if trouble is None:
                raise
            if not trouble.passes or tries == TRIES:
                after = f" after {tries} tries" if tries > 1 else ""
                raise EmbeddingFailed(f"{trouble.what}{after}") from error
            time.sleep(min(wait if trouble.wait is None else trouble.wait, LONGEST))
            wait *= 2
    raise AssertionError
