"""What a run would ask a model, before it asks: counted with the real prompts, answers as long as they mostly are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bookchunk_assets.chunking.tokens import count
from bookchunk_assets.context.answers import summary_of
from bookchunk_assets.context.asking import ChapterJob
from bookchunk_assets.context.paid import Paid
from bookchunk_assets.models.port import Request
from bookchunk_assets.models.usage import Usage

PREFIX_TOKENS, SUMMARY_TOKENS = 90, 180
SUMMARY = "word " * SUMMARY_TOKENS  # as long as one that is still to come


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls, and their tokens as cl100k counts them; a provider's own counts differ by some percent."""

    calls: int
    usage: Usage


def estimate(jobs: Iterable[ChapterJob], paid: Paid) -> Estimate:
    """What these chapters lack."""
    calls, total = 0, Usage()
    for job in jobs:
        missing = {key: chunk for key, chunk in zip(job.keys(), job.chunks, strict=True) if not paid.settled(key)}
        if not missing:
            continue
        question = job.summary()
        summary = summary_of(paid.get(question.key).text) or SUMMARY
        if not paid.settled(question.key):
            calls, total = calls + 1, total + Usage(_tokens(question.request), SUMMARY_TOKENS)
        for chunk in missing.values():
            calls, total = calls + 1, total + Usage(_tokens(job.prefix(chunk, summary).request), PREFIX_TOKENS)
    return Estimate(calls, total)


def _tokens(request: Request) -> int:
    return count(request.system) + count(request.shared) + count(request.own)
