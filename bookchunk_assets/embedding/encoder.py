"""A model's encoder as an ONNX graph, run by onnxruntime.

One window a run and one thread a run: a vector depends on its window alone (the scales of dynamic int8 are of all that
shares a tensor), and several windows run side by side.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import numpy.typing as npt
import onnxruntime

from bookchunk_assets.embedding.pieces import Ints
from bookchunk_assets.embedding.pooling import Floats


class Encoder:
    """Windows of pieces into a vector a piece. ``model`` is a graph's path or bytes, whose first output is ``[1,
    pieces, hidden]``; ``given`` is what it is fed for a window."""

    def __init__(self, model: str | bytes, given: Callable[[Ints], Mapping[str, npt.NDArray[Any]]]) -> None:
        self._given = given
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = options.enable_mem_pattern = False  # windows of every length would fill it
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def states(self, windows: Iterable[Ints]) -> Iterator[Floats]:
        """The last layer's state of each piece, window by window, in order; no more are held than run at once."""
        side_by_side = os.cpu_count() or 1
        coming = iter(windows)
        with ThreadPoolExecutor(side_by_side) as threads:
            while some := list(islice(coming, side_by_side)):
                yield from threads.map(self._states, some)

    def _states(self, ids: Ints) -> Floats:
        states: Floats = self._session.run(None, self._given(ids))[0][0]
        return states
