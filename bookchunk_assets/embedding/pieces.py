"""What a tokenizer makes of a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of a text in order: ``ids``, and the offset in the text of each one's first character that is no
    white space (``starts``)."""

    ids: Ints
    starts: Ints


class PieceTokenizer(Protocol):
    """A model's tokenizer. What looks like one of its special tokens is text like any other."""

    def pieces(self, text: str) -> Pieces:
        """The pieces of a whole text, however long."""
