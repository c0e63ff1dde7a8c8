"""How hard a provider is asked: calls at once, attempts, waits. One gate a provider and process."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import TypeVar

from bookchunk_assets.models.failure import Exhausted, ModelFailed, Transient

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """``calls`` at once; a call is tried ``attempts`` times, with a pause of ``wait`` seconds that doubles, or of what
    the provider asks for, never over ``longest``; it may take ``timeout`` seconds. Batches are asked after just so."""

    calls: int = 8
    attempts: int = 6
    wait: float = 0.5
    longest: float = 30.0
    timeout: float = 60.0

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Limits:
        """As ``BOOKCHUNK_MODEL_CALLS``, ``_ATTEMPTS``, ``_WAIT``, ``_LONGEST`` and ``_TIMEOUT`` say; raises
        ``ModelFailed`` on what is no number over 0."""

        def read(name: str, default: float) -> float:
            variable = f"BOOKCHUNK_MODEL_{name}"
            text = environ.get(variable) or str(default)
            try:
                value = float(text)
            except ValueError:
                value = 0.0
            if 0 < value < 1e6:
                return value
            raise ModelFailed(f"{variable} is {text!r}; give a number over 0", final=True)

        usual = cls()
        return cls(
            max(int(read("CALLS", usual.calls)), 1),
            max(int(read("ATTEMPTS", usual.attempts)), 1),
            read("WAIT", usual.wait),
            read("LONGEST", usual.longest),
            read("TIMEOUT", usual.timeout),
        )

    def pause(self, attempt: int, after: float | None) -> float:
        """Seconds before the attempt after ``attempt`` (from 1): never less than asked for up to the longest pause,
        and never just as long for two callers."""
        if after is not None:
            return min(after, self.longest) * random.uniform(1, 1.1)
        return min(self.wait * 2.0 ** min(attempt - 1, 30), self.longest) * random.uniform(0.5, 1)


class Gate:
    """Lets so many calls through at once, and none while the provider asked for a pause."""

    def __init__(self, calls: int) -> None:
        self._slots = threading.BoundedSemaphore(calls)
        self._closed_until = 0.0

    def hold(self, seconds: float) -> None:
        """Let no further call start for so long."""
        self._closed_until = max(self._closed_until, time.monotonic() + seconds)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold a slot for one call."""
        with self._slots:
            while (left := self._closed_until - time.monotonic()) > 0:
                time.sleep(left)
            yield


@cache
def gate(provider: str, calls: int) -> Gate:
    """The process's gate to a provider."""
    return Gate(calls)


def persistent(call: Callable[[], T], limits: Limits, through: Gate) -> T:
    """``call``, again where it raises ``Transient``, until it has an answer; ``Exhausted`` where it has none."""
    for attempt in count(1):
        try:
            with through.slot():
                return call()
        except Transient as error:
            if attempt >= limits.attempts:
                raise Exhausted(f"{error} ({attempt} attempts)") from None
            pause = limits.pause(attempt, error.after)
            if error.after is not None:
                through.hold(pause)
        time.sleep(pause)
    raise AssertionError
