"""The real SDKs against a local server that speaks each provider's wire format."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from upath import UPath

from bookchunk_assets.embedding import jina, openai
from bookchunk_assets.embedding.chapter import embed_chapter
from bookchunk_assets.embedding.kept import KeptVectors
from bookchunk_assets.embedding.plan import Plan, embedders
from bookchunk_assets.embedding.pooling import normalised
from bookchunk_assets.embedding.port import Chapter, EmbeddingFailed, Passage
from bookchunk_assets.embedding.remote import Remote
from bookchunk_tests.conftest import Shelf
from bookchunk_tests.wire import SIZES, Wire, serving, vector_of

PLANS = [
    Plan("openai", "text-embedding-3-large", "off"),
    Plan("voyage", "voyage-3-large", "off"),
    Plan("voyage", "voyage-context-3", "on"),
    Plan("jina", "jina-embeddings-v3", "off"),
    Plan("jina", "jina-embeddings-v3", "on"),
]
every = pytest.mark.parametrize("plan", PLANS, ids=str)
TEXT = "".join(f"Sentence {n} of a chapter. " for n in range(40))


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    monkeypatch.setenv("BOOKCHUNK_MODEL_WAIT", "0.01")
    monkeypatch.setenv("BOOKCHUNK_MODEL_LONGEST", "0.05")
    openai.client.cache_clear()
    jina.client.cache_clear()
    with serving() as served:
        for name in ("OPENAI", "VOYAGE", "JINA"):
            monkeypatch.setenv(f"{name}_BASE_URL", served.url)
            monkeypatch.setenv(f"{name}_API_KEY", "secret")
        yield served
    openai.client.cache_clear()
    jina.client.cache_clear()


@pytest.fixture
def kept(tmp_path: Path) -> KeptVectors:
    return KeptVectors(UPath(tmp_path / "kept"))


def a_chapter(passages: int = 40) -> Chapter:
    parts = [f"Sentence {n} of a chapter. " for n in range(passages)]
    text = "".join(parts)
    spans = [(at := text.index(part), at + len(part)) for part in parts]
    own = [Passage(f"where {n}\n\n{part}", span) for n, (part, span) in enumerate(zip(parts, spans, strict=True))]
    return Chapter(text, (Passage("contents\n\n- one", None), *own))


def sent(chapter: Chapter, plan: Plan) -> list[str]:
    late = plan.late == "on"
    return [chapter.text[slice(*p.span)] if late and p.span else p.text for p in chapter.passages]


def limited(plan: Plan, **limits: int) -> list[Remote]:
    ways: Sequence[Any] = embedders(plan)
    return [replace(way, facts=replace(way.facts, **limits)) for way in ways]


@every
def test_vectors_come_in_the_order_of_the_texts(wire: Wire, kept: KeptVectors, plan: Plan) -> None:
    chapter = a_chapter()
    done = embed_chapter(embedders(plan), chapter, kept)
    expected = normalised(np.stack([vector_of(text, SIZES[plan.model]) for text in sent(chapter, plan)]))
    assert np.allclose(done.vectors, expected, atol=1e-6)
    assert done.made == 41
    assert done.dollars > 0
    assert all(body.get("truncation") is not True for _, body in wire.asked)
    again = embed_chapter(embedders(plan), chapter, kept)
    assert (again.made, again.dollars) == (0, 0)
    assert np.array_equal(again.vectors, done.vectors)


@every
def test_requests_are_packed_to_the_limits(wire: Wire, kept: KeptVectors, plan: Plan) -> None:
    chapter = a_chapter()
    done = embed_chapter(limited(plan, inputs=7), chapter, kept)
    sizes = [len(body["inputs"][0] if "inputs" in body else body["input"]) for _, body in wire.asked]
    assert max(sizes) == 7
    assert sum(sizes) == 41
    assert len(sizes) == (7 if plan.late == "on" else 6)  # late: 40 in their order, and one that has no place
    expected = normalised(np.stack([vector_of(text, SIZES[plan.model]) for text in sent(chapter, plan)]))
    assert np.allclose(done.vectors, expected, atol=1e-6)


@every
def test_a_passage_that_is_too_long_is_told_not_cut(wire: Wire, kept: KeptVectors, plan: Plan) -> None:
    with pytest.raises(EmbeddingFailed, match=r"lower rag\.chunk_target_tokens"):
        embed_chapter(limited(plan, input_tokens=4), a_chapter(), kept)
    assert not wire.asked


@every
def test_a_500_in_the_middle_passes(wire: Wire, kept: KeptVectors, plan: Plan) -> None:
    wire.troubles[2] = (500, {"error": {"message": "oh"}, "detail": "oh"}, {})
    wire.troubles[3] = (429, {"error": {"message": "slow"}, "detail": "slow"}, {"retry-after": "0"})
    done = embed_chapter(limited(plan, inputs=10), a_chapter(), kept)
    assert done.made == 41


@every
def test_a_failure_keeps_what_was_paid_for(wire: Wire, kept: KeptVectors, plan: Plan) -> None:
    wire.troubles.update({n: (503, {"error": {"message": "gone"}, "detail": "gone"}, {}) for n in range(3, 9)})
    with pytest.raises(EmbeddingFailed, match=r"503.* \(6 attempts\); 20 of 41 vectors came before it and are kept"):
        embed_chapter(limited(plan, inputs=10), a_chapter(), kept)
    assert embed_chapter(limited(plan, inputs=10), a_chapter(), kept).made == 21


@every
@pytest.mark.parametrize(("status", "told"), [(400, "no such model"), (401, "bad key"), (422, "malformed")])
def test_what_waiting_does_not_help_is_not_tried_again(
    wire: Wire, kept: KeptVectors, plan: Plan, status: int, told: str
) -> None:
    wire.troubles[1] = (status, {"error": {"message": told}, "detail": told}, {})
    with pytest.raises(EmbeddingFailed, match=f"{status}.*{told}"):
        embed_chapter(embedders(plan), a_chapter(), kept)
    assert len(wire.asked) == 1


def test_a_quota_that_is_used_up_is_final(wire: Wire, kept: KeptVectors) -> None:
    wire.troubles[1] = (429, {"error": {"message": "no more", "code": "insufficient_quota"}}, {})
    with pytest.raises(EmbeddingFailed, match="429"):
        embed_chapter(embedders(PLANS[0]), a_chapter(), kept)
    assert len(wire.asked) == 1


SPOILT = {
    "a vector that is not finite": lambda vectors: [np.full_like(vectors[0], np.nan), *vectors[1:]],
    "dimensions": lambda vectors: [vector[:10] for vector in vectors],
    "several sizes|dimensions|no sound answer": lambda vectors: [vectors[0][:10], *vectors[1:]],
    "vectors for": lambda vectors: vectors[1:],
    "a vector of zeros": lambda vectors: [np.zeros_like(vectors[0]), *vectors[1:]],
}


@every
@pytest.mark.parametrize("told", SPOILT)
def test_unsound_vectors_are_refused(wire: Wire, kept: KeptVectors, plan: Plan, told: str) -> None:
    wire.spoil = SPOILT[told]
    with pytest.raises(EmbeddingFailed, match=told):
        embed_chapter(embedders(plan), a_chapter(5), kept)


def test_a_missing_key_is_told_and_what_needs_no_call_goes_on(
    wire: Wire, kept: KeptVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    for plan in PLANS:
        embed_chapter(embedders(plan), a_chapter(), kept)
    openai.client.cache_clear()
    jina.client.cache_clear()
    for plan in PLANS:
        name = f"{plan.provider.upper()}_API_KEY"
        monkeypatch.delenv(name, raising=False)
        assert embed_chapter(embedders(plan), a_chapter(), kept).made == 0
        with pytest.raises(EmbeddingFailed, match=f"{name} is not set.*--embedding local"):
            embed_chapter(embedders(plan), Chapter("Anew.", (Passage("Anew.", (0, 5)),)), kept)


@pytest.mark.parametrize("package", ["voyageai", "openai", "httpx"])
def test_a_missing_package_is_told(
    wire: Wire, kept: KeptVectors, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    plan = {"voyageai": PLANS[1], "openai": PLANS[0], "httpx": PLANS[3]}[package]
    with pytest.raises(EmbeddingFailed, match=rf"pip install 'bookchunk\[{plan.provider}\]'"):
        embed_chapter(embedders(plan), a_chapter(3), kept)


def test_no_provider_is_imported_where_none_is_asked_for() -> None:
    code = "import sys, bookchunk_assets.definitions\n"
    code += "sys.exit(str([m for m in ('voyageai','openai','onnxruntime','onnx','tokenizers','bm25s') if m in sys.modules] or ''))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


def test_a_book_with_a_provider_end_to_end(wire: Wire, shelf: Shelf) -> None:
    shelf.manifest(rag={"embedding": "voyage"})
    wire.troubles.update({n: (503, {"detail": "gone"}, {}) for n in range(2, 8)})
    shelf.chunk(status=3)
    assert not shelf.out.exists()
    report = shelf.chunk()
    assert report["embeddings"] | {"dollars": 0} == {
        "embedded": 6, "reused": 0, "model": "voyage-3-large", "dimensions": 1024, "dollars": 0,
    }  # fmt: skip
    shelf.write(2, None, "This is what chapter 2 says now.")
    asked = len(wire.asked)
    assert shelf.chunk()["embeddings"]["embedded"] == 1
    assert len(wire.asked) == asked + 1
    shelf.manifest(rag={"embedding": "openai"})
    assert shelf.chunk()["embeddings"]["model"] == "text-embedding-3-large"
