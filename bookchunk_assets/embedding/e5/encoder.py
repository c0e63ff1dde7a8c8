"""The model's encoder as an ONNX graph, built from the weights and run by onnxruntime.

Weights are float32 again: on CPUs without VNNI, dynamic int8 was 10 % faster at a cosine of .993, and its scales depend
on all that shares a tensor. One window a run and one thread a run: a vector depends on its window alone, and several
windows run side by side.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import numpy as np
import onnxruntime
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from bookchunk_assets.embedding.e5.tokenizer import Ints
from bookchunk_assets.embedding.e5.weights import Floats, Weights

OPSET, CONTRIB = 20, "com.microsoft"


class Encoder:
    """Windows of pieces into a vector a piece."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        positions = weights.floats("emb.pos").reshape(-1, weights.hidden)
        self._places = positions + weights.floats("emb.type")[: weights.hidden]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = options.enable_mem_pattern = False  # windows of every length would fill it
        options.log_severity_level = 3
        model = graph(weights).SerializeToString()
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def states(self, windows: Iterable[Ints]) -> Iterator[Floats]:
        """The last layer's state of each piece, window by window, in order; no more are held than run at once."""
        side_by_side = os.cpu_count() or 1
        coming = iter(windows)
        with ThreadPoolExecutor(side_by_side) as threads:
            while some := list(islice(coming, side_by_side)):
                yield from threads.map(self._states, some)

    def _states(self, ids: Ints) -> Floats:
        given = self._weights.words(ids) + self._places[: len(ids)]
        states: Floats = self._session.run(None, {"pieces": given[None]})[0][0]
        return states


def graph(weights: Weights) -> ModelProto:
    """BERT's encoder over summed embeddings ``[1, pieces, hidden]``."""
    nodes: list[NodeProto] = []
    values: list[TensorProto] = []

    def value(name: str, array: Floats) -> str:
        values.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(kind: str, *inputs: str, to: str, domain: str = "", **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [to], domain=domain, **attributes))
        return to

    def linear(x: str, name: str, width: int, to: str) -> str:
        by = value(f"{name}.w", weights.matrix(f"{name}.w", width).T)
        return node("Add", node("MatMul", x, by, to=f"{to}*"), value(f"{name}.b", weights.floats(f"{name}.b")), to=to)

    def normal(x: str, name: str, to: str) -> str:
        by = [value(each, weights.floats(each)) for each in (f"{name}.w", f"{name}.b")]
        return node("LayerNormalization", x, *by, to=to, axis=-1, epsilon=weights.epsilon)

    hidden = weights.hidden
    x = normal("pieces", "emb.ln", "x")
    for layer in (f"l{n}" for n in range(weights.layers)):
        asked = [linear(x, f"{layer}.{name}", hidden, f"{layer}.{name}") for name in "qkv"]
        seen = node("MultiHeadAttention", *asked, to=f"{layer}.c", domain=CONTRIB, num_heads=weights.heads)
        told = linear(seen, f"{layer}.ao", hidden, f"{layer}.ao")
        x = normal(node("Add", x, told, to=f"{layer}.x+"), f"{layer}.aln", f"{layer}.x")
        thought = node("Gelu", linear(x, f"{layer}.fi", hidden, f"{layer}.fi"), to=f"{layer}.g")
        added = node("Add", x, linear(thought, f"{layer}.fo", weights.inner, f"{layer}.fo"), to=f"{layer}.y+")
        x = normal(added, f"{layer}.oln", f"{layer}.y")
    shape: list[str | int | None] = [1, "pieces", hidden]
    made = helper.make_graph(
        nodes,
        "encoder",
        [helper.make_tensor_value_info("pieces", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, shape)],
        values,
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=10)
