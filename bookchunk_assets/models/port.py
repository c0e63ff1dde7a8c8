"""The port of a model that writes text: what it is asked, what it answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from bookchunk_assets.models.usage import Usage


@dataclass(frozen=True, slots=True)
class Request:
    """One question. ``system`` and ``shared`` are the same for many and come first, so that a provider can cache
    them (asked to where ``cached``); ``own`` is what varies. ``max_tokens`` bounds the answer."""

    model: str
    system: str
    shared: str
    own: str
    max_tokens: int
    cached: bool = False

    @property
    def most_input(self) -> int:
        """More tokens than the question can have: each has a byte at least."""
        return len((self.system + self.shared + self.own).encode()) + 100


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. ``ending`` is ``end`` where the model came to its end, else ``max_tokens``, ``refusal`` or another
    reason; ``request_id`` is what the provider's support asks for."""

    text: str
    ending: str
    usage: Usage
    request_id: str = ""


class TextModel(Protocol):
    """A provider of such models. Each method raises ``Transient`` or ``ModelFailed``."""

    def close(self) -> None:
        """Close the connections."""

    def ask(self, request: Request) -> Reply:
        """The answer to one question."""

    def submit(self, requests: Mapping[str, Request]) -> str:
        """Hand in many at once, by names of up to 64 of ``[a-zA-Z0-9_-]``; what the batch is called."""

    def recent(self) -> list[tuple[str, int]]:
        """The batches that were handed in last, newest first, each with its number of questions."""

    def ended(self, batch: str) -> bool:
        """Whether a batch has all the answers that it will have."""

    def results(self, batch: str) -> Iterator[tuple[str, Reply | None]]:
        """An ended batch's answers by name, in any order; None for one that failed or expired."""
