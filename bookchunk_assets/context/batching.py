"""A book's answers by batches, at half the price: handed in, collected when they are there, by this run or a later one.

What a batch gives no usable answer for is asked for one by one afterwards, as everything is without batches.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from bookchunk_assets.context.answers import summary_of
from bookchunk_assets.context.asking import Asking, ChapterJob, Question
from bookchunk_assets.models.failure import ModelFailed
from bookchunk_assets.models.limits import gate, persistent
from bookchunk_assets.models.prices import dollars
from bookchunk_assets.models.usage import BATCH, Usage, added

MOST = 10_000  # requests a batch; the provider takes 100,000 and 256 MB
Owned = Mapping[str, tuple[ChapterJob, Question]]


def collect_by_batches(asking: Asking, jobs: Sequence[ChapterJob]) -> None:
    """Ask for all that is missing in two rounds, summaries and then prefixes; first collect what an earlier run handed
    in. A failure stops the run: the same questions are not asked for at full price instead."""
    try:
        if asking.paid.batches:
            known = {**_summaries(asking, jobs), **_prefixes(asking, jobs)}
            for batch in list(asking.paid.batches):
                _collect(asking, batch, known, jobs, [])
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
        through = gate("anthropic", asking.limits.calls)
        with asking.budget.call(bound) as cost:
            model = asking.model
            requests = {key: wanted[key][1].request for key in some}
            batch = persistent(lambda: model.submit(requests), asking.limits, through)  # noqa: B023
            asking.paid.hand_in(batch)
            _collect(asking, batch, wanted, jobs, cost)
    for job, question in wanted.values():
        if question.key == job.summary().key:
            asking.answer(job, question)


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
    through = gate("anthropic", asking.limits.calls)
    model = asking.model
    for attempt in count(1):
        if persistent(lambda: model.ended(batch), asking.limits, through):
            break
        time.sleep(asking.limits.pause(attempt, None))
    for key, reply in persistent(lambda: list(model.results(batch)), asking.limits, through):
        if reply is None:
            continue
        tariff = jobs[0].settings.context_model + BATCH
        if key in known:
            asking.take(*known[key], reply, tariff)
        else:
            jobs[0].spend = added([jobs[0].spend, {tariff: reply.usage}])
        cost.append(dollars({tariff: reply.usage}) or 0.0)
    asking.paid.collected(batch)
