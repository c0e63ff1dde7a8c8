"""Windows, pooling and packing: laws over sizes, and a plain loop to hold them against."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookchunk_assets.embedding.packing import packed
from bookchunk_assets.embedding.pooling import SpanMeans, mean_of, normalised
from bookchunk_assets.embedding.windows import windows


@given(st.integers(0, 3000), st.integers(3, 200), st.data())
def test_windows_read_every_token_and_take_each_once(tokens: int, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, (size - 1) // 2))
    made = windows(tokens, size, overlap)
    assert [n for w in made for n in range(w.first, w.last)] == list(range(tokens))
    assert all(w.start <= w.first <= w.last <= w.end <= tokens for w in made)
    assert all(w.end - w.start <= size for w in made)
    assert all(a.end - b.start >= overlap for a, b in zip(made, made[1:], strict=False))
    assert len(made) == max(1, -(-(tokens - overlap) // (size - overlap)))


@given(st.integers(1, 2000), st.integers(20, 100))
def test_a_token_is_taken_from_where_it_stands_furthest_from_an_edge(tokens: int, size: int) -> None:
    made = windows(tokens, size, size // 4)
    for own in made:
        for token in range(own.first, own.last):

            def room(w, token=token):  # the ends of the text are no edges
                left = token - w.start if w.start else tokens
                return min(left, w.end - 1 - token if w.end < tokens else tokens)

            there = [w for w in made if w.start <= token < w.end]
            assert room(own) >= max(map(room, there)) - 1


def test_an_overlap_of_half_a_window_is_refused() -> None:
    with pytest.raises(ValueError, match="not under half"):
        windows(100, 10, 5)


def test_means_over_spans_are_those_of_a_plain_loop() -> None:
    states = np.random.default_rng(1).normal(size=(1000, 8)).astype(np.float32)
    spans = [(0, 10), (5, 700), (999, 1000), (300, 300), (0, 1000)]
    means = SpanMeans(spans, 8)
    for at in range(0, 1000, 37):
        means.add(at, states[at : at + 37])
    plain = [states[a:b].mean(axis=0) if a < b else np.zeros(8) for a, b in spans]
    assert np.allclose(means.vectors(), normalised(np.array(plain, dtype=np.float32)), atol=1e-6)
    assert not means.vectors()[3].any()


def test_the_mean_of_two_ways_is_normalised() -> None:
    one, other = (np.array([v], dtype=np.float32) for v in ((1, 0), (0, 1)))
    assert np.allclose(mean_of([one, other]), [[2**-0.5, 2**-0.5]])
    assert mean_of([one]) is one


@given(st.lists(st.integers(1, 60), max_size=60), st.integers(1, 9), st.integers(1, 100))
def test_requests_keep_the_order_and_the_limits(sizes: list[int], inputs: int, tokens: int) -> None:
    runs = packed(sizes, inputs, tokens)
    assert [n for run in runs for n in run] == list(range(len(sizes)))
    for run in runs:
        assert len(run) <= inputs
        assert sum(sizes[n] for n in run) <= tokens or len(run) == 1
    for a, b in zip(runs, runs[1:], strict=False):  # the next one did not fit
        assert len(a) == inputs or sum(sizes[n] for n in a) + sizes[b[0]] > tokens
