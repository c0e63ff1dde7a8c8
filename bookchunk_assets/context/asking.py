"""A book's prefixes from a model: what is known is reused, what is missing is asked for, chapters side by side.

A chapter's summary comes first, then one chunk alone (its answer's start is what makes a provider's cache readable),
then the others at once. An answer is on disk before anything is done with it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.context.answers import mended, problem, summary_of
from bookchunk_assets.context.extractive import extractive_prefixes
from bookchunk_assets.context.paid import Paid
from bookchunk_assets.context.prefix import Prefix
from bookchunk_assets.context.prompts import prefix_key, prefix_request, summary_key, summary_request
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.models.budget import Budget
from bookchunk_assets.models.failure import Exhausted, ModelFailed
from bookchunk_assets.models.limits import Limits, gate, persistent
from bookchunk_assets.models.port import Reply, Request, TextModel
from bookchunk_assets.models.prices import price_of
from bookchunk_assets.models.usage import Usage, added

T = TypeVar("T")
Judge = Callable[[Reply], str | None]


@dataclass(slots=True)
class Question:
    """What is asked for one answer: its key, the request, and what would be wrong with a reply."""

    key: str
    request: Request
    judge: Judge


@dataclass(slots=True)
class ChapterJob:
    """A chapter whose chunks want prefixes, and what its run has cost so far. ``content`` is the chapter's text, which
    its summary is made from."""

    name: str
    settings: Settings
    chunks: Sequence[Chunk]
    content: str
    spend: dict[str, Usage] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    refused: dict[str, list[str]] = field(default_factory=dict)
    failure: ModelFailed | None = None

    @property
    def stem(self) -> str:
        """What the ids of its chunks start with."""
        return self.name.replace("/", "-")

    @property
    def title(self) -> str:
        """The chapter's."""
        return self.chunks[0].chapter.title if self.chunks else ""

    def keys(self) -> list[str]:
        """The key of each chunk's answer."""
        return [prefix_key(self.settings, chunk) for chunk in self.chunks]

    def summary(self) -> Question:
        """The question for its summary."""
        key = summary_key(self.settings, self.title, self.content)
        request = summary_request(self.settings, self.title, self.content)
        return Question(key, request, lambda reply: problem(reply, "", ()))

    def prefix(self, chunk: Chunk, summary: str) -> Question:
        """The question for a chunk's prefix."""
        known = (self.settings.title, self.title, *chunk.heading_path)
        request = prefix_request(self.settings, chunk, summary)
        key = prefix_key(self.settings, chunk)
        return Question(key, request, lambda reply: problem(reply, chunk.text, known))


@dataclass(frozen=True, slots=True)
class Written:
    """A chapter's prefixes, in its chunks' order; how many of them were asked for now; and a line for each that the
    model gave no answer of use for."""

    prefixes: list[Prefix]
    generated: int
    warnings: list[str]


class Asking:
    """One run's questions about one book. ``connect`` makes the model when the first question is due, and raises a
    final ``ModelFailed`` where it can't: what needs no question needs no key."""

    def __init__(self, connect: Callable[[], TextModel], limits: Limits, paid: Paid, budget: Budget) -> None:
        self.limits, self.paid, self.budget = limits, paid, budget
        self._connect = connect
        self._model: TextModel | None = None
        self._lock = threading.Lock()
        self._stopped: ModelFailed | None = None

    def __enter__(self) -> Asking:
        return self

    def __exit__(self, *_: object) -> None:
        if self._model is not None:
            self._model.close()

    @property
    def model(self) -> TextModel:
        """The model; raises what stopped the run, if anything did."""
        with self._lock:
            if self._stopped:
                raise self._stopped
            if self._model is None:
                try:
                    self._model = self._connect()
                except ModelFailed as failed:
                    self._stopped = failed
                    raise
            return self._model

    def patiently(self, call: Callable[[], T]) -> T:
        """A call by the process's limits, tried again where it may yet go well."""
        return persistent(call, self.limits, gate("anthropic", self.limits.calls))

    def stop(self, why: ModelFailed) -> None:
        """Let no further question go out."""
        with self._lock:
            self._stopped = self._stopped or why

    def missing(self, job: ChapterJob) -> list[Chunk]:
        """The chunks whose answers are to be asked for, each question once."""
        wanted = dict(zip(job.keys(), job.chunks, strict=True))
        return [chunk for key, chunk in wanted.items() if not self.paid.settled(key)]

    def answer(self, job: ChapterJob, question: Question) -> str:
        """The answer to a question, by asking where there is none; empty where none could be taken."""
        while not self.paid.settled(question.key):
            if job.failure:
                raise job.failure
            try:
                reply = self._ask(question.request)
            except Exhausted as failed:
                job.failure = failed
                raise
            except ModelFailed as failed:
                if failed.final:
                    self.stop(failed)
                raise
            self.take(job, question, reply, question.request.model)
        return self.paid.get(question.key).text

    def take(self, job: ChapterJob, question: Question, reply: Reply, tariff: str) -> None:
        """Keep a reply, or that it could not be taken, and what it cost."""
        what = question.judge(reply)
        self.paid.add(question.key, None if what else reply.text.strip(), tariff, reply.usage)
        with self._lock:
            job.spend = added([job.spend, {tariff: reply.usage}])
            job.asked.add(question.key)
            if what:
                job.refused.setdefault(question.key, []).append(f"{what} (request {reply.request_id or 'unknown'})")

    def _ask(self, request: Request) -> Reply:
        price = price_of(request.model)
        bound = price.of(Usage(request.most_input, request.max_tokens)) if price else 0.0
        with self.budget.call(bound) as cost:
            model = self.model
            reply = self.patiently(lambda: model.ask(request))
            cost.append(price.of(reply.usage) if price else 0.0)
            return reply

    def chapter(self, job: ChapterJob, calls: ThreadPoolExecutor) -> Written:
        """One chapter's prefixes; raises ``ModelFailed`` with all that failed, once the rest is asked."""
        if missing := self.missing(job):
            summary = summary_of(self.answer(job, job.summary()))
            self.answer(job, job.prefix(missing[0], summary))
            others = [calls.submit(self.answer, job, job.prefix(chunk, summary)) for chunk in missing[1:]]
            wait(others)
            failed = [error for each in others if (error := each.exception())]
            if unforeseen := [error for error in failed if not isinstance(error, ModelFailed)]:
                raise unforeseen[0]
            if final := [error for error in failed if isinstance(error, ModelFailed) and error.final]:
                raise final[0]
            if failed:
                raise ModelFailed("; ".join(dict.fromkeys(map(str, failed))))
        return self._written(job)

    def _written(self, job: ChapterJob) -> Written:
        keys = job.keys()
        texts = [self.paid.get(key).text for key in keys]
        without = [chunk for chunk, text in zip(job.chunks, texts, strict=True) if not text]
        extractive = iter(extractive_prefixes(without, job.settings))
        model = job.settings.context_model
        prefixes = [
            Prefix(mended(text, chunk, job.settings), model) if text else next(extractive)
            for chunk, text in zip(job.chunks, texts, strict=True)
        ]
        warnings = [
            f"{job.stem}-{chunk.ordinal:04d}: {model} gave {', then '.join(job.refused[key])}; the prefix is extractive"
            for key, chunk, text in zip(keys, job.chunks, texts, strict=True)
            if not text and key in job.refused
        ]
        if job.refused and not self.paid.get(summary := job.summary().key).text and summary in job.refused:
            told = ", then ".join(job.refused[summary])
            warnings.insert(0, f"{job.stem}: {model} gave {told}; its prefixes were asked for without a summary")
        return Written(prefixes, sum(key in job.asked for key in keys), warnings)


Outcome = tuple[ChapterJob, Written | ModelFailed]


def write_prefixes(asking: Asking, jobs: Iterable[ChapterJob]) -> Iterator[Outcome]:
    """Each chapter's prefixes, or why it has none, as they are done. Chapters overlap, so that no call waits for a
    chapter's last one; no more are open than calls can be under way."""
    most = asking.limits.calls
    with asking, ThreadPoolExecutor(most) as calls, ThreadPoolExecutor(most) as chapters:
        try:
            yield from _side_by_side(most, iter(jobs), lambda job: chapters.submit(asking.chapter, job, calls))
        finally:  # where the run is left before its end, what is under way ends, and nothing new starts
            asking.stop(ModelFailed("the run was stopped", final=True))


def _side_by_side(
    most: int, jobs: Iterator[ChapterJob], start: Callable[[ChapterJob], Future[Written]]
) -> Iterator[Outcome]:
    under_way: dict[Future[Written], ChapterJob] = {}
    while True:
        for job in islice(jobs, most - len(under_way)):
            under_way[start(job)] = job
        if not under_way:
            return
        for each in wait(under_way, return_when=FIRST_COMPLETED).done:
            job = under_way.pop(each)
            error = each.exception()
            if isinstance(error, ModelFailed):
                yield job, error
            else:
                yield job, each.result()
