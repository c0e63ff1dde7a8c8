"""Every way to retrieve a book's chunks, by the same questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bookchunk_assets.embedding.chapter import embed_chapter
from bookchunk_assets.embedding.kept import Kept
from bookchunk_assets.embedding.pooling import Floats, mean_of
from bookchunk_assets.embedding.port import Chapter, Embedder
from bookchunk_assets.evaluation.intervals import Values, interval
from bookchunk_assets.evaluation.library import ChapterShelf
from bookchunk_assets.evaluation.metrics import Extent, first_hit, precision_omega, score
from bookchunk_assets.evaluation.questions import Question
from bookchunk_assets.evaluation.retrieval import Scores, bm25_scores, dense_scores, rank_fusion, score_fusion

SHARES = tuple(n / 10 for n in range(1, 10))  # of BM25 in the weighted fusion
DEPTH = 100  # ranks that are looked at for MRR


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric's mean over the questions, in percent, and the 95 % interval of it."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Way:
    """One way to retrieve, and its figures by metric."""

    name: str
    figures: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The weighted fusion with BM25's share chosen on one half of the questions, and its figures on the other, where
    BM25 alone stands beside it; ``gains`` are paired differences to that."""

    pair: str
    share: float
    figures: Mapping[str, Figure]
    gains: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What ``evaluate`` found of a book."""

    book: str
    model: str
    questions: int
    chunks: int
    mean_tokens: float
    precision_omega: Figure
    ways: tuple[Way, ...]
    held_out: tuple[HeldOut, ...]


def vectors_by_way(embedders: Mapping[str, Embedder], library: Sequence[ChapterShelf], kept: Kept) -> dict[str, Floats]:
    """The vectors of all chunks, by what they are made from."""

    def of(embedder: Embedder, chapter_of: Callable[[ChapterShelf], Chapter]) -> Floats:
        made = [embed_chapter([embedder], chapter_of(shelf), kept).vectors for shelf in library if shelf.texts]
        return np.concatenate(made)

    found: dict[str, Floats] = {}
    if plain := embedders.get("plain"):
        found["plain"] = of(plain, lambda shelf: shelf.plain)
        found["plain+prefix"] = of(plain, lambda shelf: shelf.prefixed)
        found["mean of plain and plain+prefix"] = mean_of([found["plain"], found["plain+prefix"]])
    if late := embedders.get("late"):
        found["late"] = of(late, lambda shelf: shelf.prefixed)
        if plain:
            found["mix of late and plain+prefix"] = mean_of([found["late"], found["plain+prefix"]])
    return found


def evaluate(
    book: str,
    library: Sequence[ChapterShelf],
    tokens: Sequence[int],
    questions: Sequence[Question],
    ks: Sequence[int],
    model: str,
    vectors: Mapping[str, Floats],
    asked: Floats | None,
) -> Evaluation:
    """The figures of each way; ``vectors`` by way, ``asked`` the questions' own."""
    extents = [extent for shelf in library for extent in shelf.extents]
    texts = [text for shelf in library for text in shelf.texts]
    prefixed = [f"{p}\n\n{t}" for shelf in library for p, t in zip(shelf.prefixes, shelf.texts, strict=True)]
    wanted = [question.text for question in questions]
    words = {"BM25": bm25_scores(texts, wanted), "BM25+prefix": bm25_scores(prefixed, wanted)}
    dense = {} if asked is None else {name: dense_scores(own, asked) for name, own in vectors.items()}
    pairs = [(f"{word} and {name}", own, other) for word, own in words.items() for name, other in dense.items()]
    chosen = {name: chosen_share(own, other, questions, extents, ks) for name, own, other in pairs}

    def ways() -> Iterator[tuple[str, Scores]]:
        yield from words.items()
        yield from ((f"dense {name}", own) for name, own in dense.items())
        yield from ((f"ranks of {name}", rank_fusion(own, other)) for name, own, other in pairs)
        for name, own, other in pairs:
            yield f"{chosen[name]:.1f} of {name}", score_fusion(own, other, chosen[name])

    rows = tuple(
        Way(
            name,
            {metric: figure(by_question) for metric, by_question in measured(scores, questions, extents, ks).items()},
        )
        for name, scores in ways()
    )
    omega = np.array([precision_omega(q.place, q.references, extents) for q in questions])
    held = tuple(held_out(name, chosen[name], own, other, questions, extents, ks) for name, own, other in pairs)
    mean = sum(tokens) / max(len(tokens), 1)
    return Evaluation(book, model, len(questions), len(extents), round(mean, 1), figure(omega), rows, held)


def figure(by_question: Values) -> Figure:
    """A metric's mean and interval, in percent."""
    low, high = interval(by_question)
    return Figure(*(round(100 * value, 2) for value in (float(by_question.mean()), low, high)))


def measured(
    scores: Scores, questions: Sequence[Question], extents: Sequence[Extent], ks: Sequence[int]
) -> dict[str, Values]:
    """Each metric's value by question."""
    depth = max(DEPTH, *ks)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
    out: dict[str, list[float]] = {}
    for question, row in zip(questions, order, strict=True):
        ranked = [extents[n] for n in row]
        for k in ks:
            at_k = score(question.place, question.references, ranked[:k])
            for metric in ("found", "covered", "precision", "iou"):
                out.setdefault(f"{metric}@{k}", []).append(getattr(at_k, metric))
        out.setdefault("mrr", []).append(first_hit(question.place, question.references, ranked))
    return {metric: np.array(values) for metric, values in out.items()}


def chosen_share(
    lexical: Scores, own: Scores, questions: Sequence[Question], extents: Sequence[Extent], ks: Sequence[int]
) -> float:
    """BM25's share that is best on the even questions by the sum of recall at the smallest k and MRR."""
    half = slice(0, None, 2)

    def worth(share: float) -> float:
        figures = measured(score_fusion(lexical[half], own[half], share), questions[half], extents, ks[:1])
        return float(figures[f"found@{ks[0]}"].mean() + figures["mrr"].mean())

    return max(SHARES, key=worth)


def held_out(
    name: str,
    share: float,
    lexical: Scores,
    own: Scores,
    questions: Sequence[Question],
    extents: Sequence[Extent],
    ks: Sequence[int],
) -> HeldOut:
    """The figures on the odd questions of the share that was chosen on the even ones."""
    half = slice(1, None, 2) if len(questions) > 1 else slice(0, None)
    fused = measured(score_fusion(lexical[half], own[half], share), questions[half], extents, ks)
    alone = measured(lexical[half], questions[half], extents, ks)
    gains = {metric: figure(values - alone[metric]) for metric, values in fused.items()}
    return HeldOut(name, share, {metric: figure(values) for metric, values in fused.items()}, gains)
