"""A book's answers by batches, at half the price: handed in, collected when they are there, by this run or a later one.

What a batch gives no usable answer for is asked for one by one afterwards, as everything is without batches.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import count, takewhile

from bookchunk_assets.context.answers import summary_of
from bookchunk_assets.context.asking import Asking, ChapterJob, Question
from bookchunk_assets.models.failure import Gone, ModelFailed, Transient
from bookchunk_assets.models.port import Request
from bookchunk_assets.models.prices import dollars
from bookchunk_assets.models.usage import BATCH, Usage, added

MOST = 10_000  # requests a batch; the provider takes 100,000 and 256 MB
Owned = Mapping[str, tuple[ChapterJob, Question]]


def collect_by_batches(asking: Asking, jobs: Sequence[ChapterJob], *, wait: bool) -> None:
    """Collect what an earlier run handed in, then ask for all that is missing in two rounds, summaries and then
    prefixes. A failure stops the run: the same questions are not asked for at full price instead. Without ``wait``
    nothing is handed in, and only batches that have ended are collected."""
    try:
        if asking.paid.announced and (lost := _lost(asking)):
            asking.paid.hand_in(lost)
        if asking.paid.batches:
            known = {**_summaries(asking, jobs), **_prefixes(asking, jobs)}
            for batch in list(asking.paid.batches):
                try:
                    if wait or asking.patiently(partial(asking.model.ended, batch)):
                        _collect(asking, batch, known, jobs, [])
                except Gone:  # results are kept for some weeks
                    asking.paid.collected(batch)
        if wait:
            _round(asking, _summaries(asking, jobs), jobs)
            _round(asking, _prefixes(asking, jobs), jobs)
    except ModelFailed as failed:
        asking.stop(ModelFailed(str(failed), final=True))


def _summaries(asking: Asking, jobs: Iterable[ChapterJob]) -> dict[str, tuple[ChapterJob, Question]]:
    return {
        question.key: (job, question)
        for job in jobs
        if asking.missing(job) and not asking.paid.settled((question := job.summary()).key)
    }


def _prefixes(asking: Asking, jobs: Iterable[ChapterJob]) -> dict[str, tuple[ChapterJob, Question]]:
    found = {}
    for job in jobs:
        missing = asking.missing(job)
        summary = summary_of(asking.paid.get(job.summary().key).text) if missing else ""
        for chunk in missing:
            question = job.prefix(chunk, summary)
            found[question.key] = (job, question)
    return found


def _round(asking: Asking, wanted: Owned, jobs: Sequence[ChapterJob]) -> None:
    """Hand in and collect all that is wanted, in as many batches as the budget and the provider ask for. A summary
    that does not come is asked for at once: the prefixes wait for it."""
    left = list(wanted)
    while left:
        some, bound = _affordable(asking, wanted, left)
        left = left[len(some) :]
        with asking.budget.call(bound) as cost:
            batch = _handed_in(asking, {key: wanted[key][1].request for key in some})
            _collect(asking, batch, wanted, jobs, cost)
    for job, question in wanted.values():
        if question.key == job.summary().key:
            asking.answer(job, question)


def _handed_in(asking: Asking, requests: Mapping[str, Request]) -> str:
    """Hand a batch in, once: where its name does not come back, it is looked for before it is handed in again."""
    model = asking.model
    newest = next((name for name, _ in _recent(asking)), "")
    asking.paid.announce(len(requests), newest)

    def once() -> str:
        try:
            return model.submit(requests)
        except Transient:
            if lost := _lost(asking):
                return lost
            raise

    batch = asking.patiently(once)
    asking.paid.hand_in(batch)
    return batch


def _lost(asking: Asking) -> str | None:
    """The batch that was announced, if it is there: of that size, and newer than all that were there before it."""
    assert asking.paid.announced
    size, after = asking.paid.announced
    newer = takewhile(lambda each: each[0] != after, _recent(asking))
    return next((name for name, many in newer if many == size), None)


def _recent(asking: Asking) -> list[tuple[str, int]]:
    try:
        return asking.model.recent()
    except (Transient, ModelFailed):  # then nothing is known of them, which is no worse than before
        return []


def _affordable(asking: Asking, wanted: Owned, left: Sequence[str]) -> tuple[list[str], float]:
    """The first of those left that the budget has room for, one at least, and the most that they can cost."""
    some: list[str] = []
    total = 0.0
    for key in left[:MOST]:
        request = wanted[key][1].request
        most = dollars({request.model + BATCH: Usage(request.most_input, request.max_tokens)}) or 0.0
        if some and not asking.budget.fits(total + most):
            break
        some.append(key)
        total += most
    return some, total


def _collect(asking: Asking, batch: str, known: Owned, jobs: Sequence[ChapterJob], cost: list[float]) -> None:
    """Wait for a batch's end and keep its answers. What belongs to no question of today is paid for all the same."""
    model = asking.model
    for attempt in count(1):
        if asking.patiently(lambda: model.ended(batch)):
            break
        time.sleep(asking.limits.pause(attempt, None))
    for key, reply in asking.patiently(lambda: list(model.results(batch))):
        if reply is None:
            continue
        tariff = jobs[0].settings.context_model + BATCH
        if key in known:
            asking.take(*known[key], reply, tariff)
        else:
            jobs[0].spend = added([jobs[0].spend, {tariff: reply.usage}])
        cost.append(dollars({tariff: reply.usage}) or 0.0)
    asking.paid.collected(batch)
