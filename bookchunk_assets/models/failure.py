"""What a provider's failure means for the work that asked."""

from __future__ import annotations


class ModelFailed(Exception):  # noqa: N818 - says what happened
    """A model gave no answer, in words for a person; after a ``final`` one no other call of the run fares better."""

    def __init__(self, what: str, *, final: bool = False) -> None:
        self.final = final
        super().__init__(what)


class Gone(ModelFailed):
    """What was asked after is not there."""


class Exhausted(ModelFailed):
    """What should have passed did not, however often it was tried."""


class Transient(Exception):  # noqa: N818
    """What may pass by itself; ``after`` is how many seconds the provider asks to wait, if it says."""

    def __init__(self, what: str, after: float | None = None) -> None:
        self.after = after
        super().__init__(what)
