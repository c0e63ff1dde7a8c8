"""The report of a run: its figures, the printed block, and ``report.json``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.models.prices import dollars
from bookchunk_assets.models.usage import Spend
from bookchunk_assets.outputs.checks import CheckResult
from bookchunk_assets.outputs.diff import Diff
from bookchunk_assets.outputs.records import Record

BARS = 40  # the width of a histogram's longest bar
STEP = 50  # tokens a line of it spans


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the report says of the chunks, gathered a record at a time: sizes in cl100k tokens, and how many prefixes
    no model wrote."""

    tokens: tuple[int, ...]
    overlaps: tuple[int, ...]
    extractive: int = 0


@dataclass(frozen=True, slots=True)
class Vectors:
    """What the report says of vectors: how many were made in this run, by which model, of what size, at what cost."""

    model: str
    dimensions: int
    made: int = 0
    dollars: float = 0.0

    def told(self, chunks: int) -> dict[str, Any]:
        """As the report has it, of so many chunks."""
        return {
            "embedded": self.made,
            "reused": chunks - self.made,
            "model": self.model,
            "dimensions": self.dimensions,
            "dollars": round(self.dollars, 6),
        }


NO_VECTORS: Mapping[str, Any] = {"embedded": 0, "reused": 0, "model": "none", "dimensions": 0, "dollars": 0.0}


@dataclass(frozen=True, slots=True)
class Report:
    """One book's figures, as ``--json`` prints them; ``seconds`` by stage and ``spend`` by tariff are in
    ``report.json`` alone. Dollars are None where a model's price is not known."""

    slug: str
    status: int
    verdict: str
    chapters: Mapping[str, int]
    chunks: Mapping[str, int]
    tokens: Mapping[str, float]
    overlap: Mapping[str, float]
    context: Mapping[str, Any]
    embeddings: Mapping[str, Any]
    checks: tuple[Mapping[str, Any], ...]
    warnings: tuple[str, ...]
    output: str
    seconds: Mapping[str, float] = field(default_factory=dict)
    spend: Mapping[str, Any] = field(default_factory=dict)

    def summary(self) -> dict[str, Any]:
        """What ``--json`` prints of a book."""
        whole = asdict(self)
        return {name: value for name, value in whole.items() if name not in ("seconds", "spend")}

    def to_json(self) -> bytes:
        """``report.json``."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1).encode() + b"\n"

    @classmethod
    def from_json(cls, data: bytes) -> Report:
        """The report that ``to_json`` wrote."""
        return cls(**json.loads(data))


def sizes_of(records: Iterable[Record]) -> Sizes:
    """Token counts of the chunks, and overlaps of those that go on in a section."""
    tokens, overlaps, before, extractive = [], [], None, 0
    for record in records:
        tokens.append(record["token_count"])
        metadata = record["metadata"]
        extractive += metadata["prefix_source"] == "extractive"
        section = (record["chapter_slug"], record["section_anchor"])
        if metadata["kind"] == "body":
            if section == before:
                overlaps.append(metadata["overlap_tokens"])
            before = section
    return Sizes(tuple(tokens), tuple(overlaps), extractive)


def make_report(
    settings: Settings,
    *,
    chapters: int,
    sizes: Sizes,
    difference: Diff,
    generated: int,
    checks: Sequence[CheckResult],
    warnings: Sequence[str],
    output: str,
    vectors: Vectors | None = None,
) -> Report:
    """The report of a book whose files are written; ``vectors`` is None where it has none."""
    failed = any(not check.passed and not check.warns for check in checks)
    told = [*warnings, *(f"{check.name}: {check.what}" for check in checks if check.warns and not check.passed)]
    if settings.context != "extractive" and sizes.extractive:
        few = f"{sizes.extractive} of {len(sizes.tokens)} prefixes are extractive"
        told.append(f"{few}: {settings.context_model} gave no answer of use")
    summary = difference.summary
    total = len(sizes.tokens)
    return Report(
        slug=settings.book_slug,
        status=1 if failed else 0,
        verdict="FAIL" if failed else "PASS",
        chapters={"done": chapters, "total": chapters},
        chunks={
            "total": total,
            **{name: summary[name] for name in ("added", "modified", "moved", "removed", "unchanged")},
        },
        tokens={
            "mean": _mean(sizes.tokens),
            "p95": nearest_rank(sizes.tokens, 95),
            "max": max(sizes.tokens, default=0),
            "target": settings.target_tokens,
        },
        overlap={"mean": _mean(sizes.overlaps), "target": settings.overlap_tokens},
        context={"dollars": 0.0, "generated": generated, "reused": total - generated, "model": writer(settings)},
        embeddings=NO_VECTORS if vectors is None else vectors.told(total),
        checks=tuple(
            {"name": c.name, "passed": c.passed, "warns": c.warns, "what": c.what, "faults": list(c.faults)}
            for c in checks
        ),
        warnings=tuple(told),
        output=output,
        spend={vectors.model: {"dollars": vectors.dollars}} if vectors and vectors.dollars else {},
    )


def with_spend(report: Report, spend: Spend, generated: int, warnings: Iterable[str] = ()) -> Report:
    """A report with what was paid for prefixes: ``generated`` of its chunks' are new."""
    price = dollars(spend)
    by_tariff = {
        tariff: {"dollars": None if (each := dollars({tariff: usage})) is None else round(each, 6), **asdict(usage)}
        for tariff, usage in spend.items()
    }
    reused = max(report.chunks["total"] - generated, 0)
    context = {
        **report.context,
        "dollars": None if price is None else round(price, 6),
        "generated": generated,
        "reused": reused,
    }
    return replace(report, context=context, spend={**by_tariff, **report.spend}, warnings=(*report.warnings, *warnings))


def as_unchanged(report: Report) -> Report:
    """What a report says once more, after a run that changed, asked for and paid nothing."""
    total = report.chunks["total"]
    same = dict.fromkeys(report.chunks, 0) | {"total": total, "unchanged": total}
    context = {**report.context, "dollars": 0.0, "generated": 0, "reused": total}
    vectors = {**report.embeddings, "embedded": 0, "dollars": 0.0}
    if report.embeddings != NO_VECTORS:
        vectors["reused"] = total
    return replace(report, chunks=same, context=context, embeddings=vectors, seconds={}, spend={})


def not_made(slug: str, status: int, why: Exception) -> Report:
    """What ``--json`` says of a book that was refused (2) or failed (3): why, under ``warnings``, and no figures."""
    return Report(
        slug=slug,
        status=status,
        verdict="REFUSED" if status == 2 else "FAILED",
        chapters={"done": 0, "total": 0},
        chunks=dict.fromkeys(("total", "added", "modified", "moved", "removed", "unchanged"), 0),
        tokens={"mean": 0.0, "p95": 0, "max": 0, "target": 0},
        overlap={"mean": 0.0, "target": 0},
        context={"dollars": 0.0, "generated": 0, "reused": 0, "model": ""},
        embeddings={**NO_VECTORS, "model": ""},
        checks=(),
        warnings=tuple(str(why).splitlines()),
        output="",
    )


def render(report: Report) -> str:
    """The printed block."""
    chunks, tokens, context, vectors = report.chunks, report.tokens, report.context, report.embeddings
    model = f"{vectors['model']}, {vectors['dimensions']} dimensions"
    made = f"{vectors['embedded']} embedded, {vectors['reused']} reused ({model})"
    failed = ", ".join(check["name"] for check in report.checks if not check["passed"] and not check["warns"])
    verdict = "PASS — advance to /book-rag-push" if report.verdict == "PASS" else f"FAIL — {failed}"
    lines = [
        "Phase 04a — Chunking",
        f"  Chapters chunked:    {report.chapters['done']} / {report.chapters['total']}",
        f"  Total chunks:        {chunks['total']} (+{chunks['added']} added, ~{chunks['modified']} modified, "
        f"-{chunks['removed']} removed, {chunks['unchanged']} unchanged)",
        f"  Tokens / chunk:      avg {tokens['mean']:.0f}, p95 {tokens['p95']:.0f}, max {tokens['max']:.0f} "
        f"(target {tokens['target']:.0f})",
        f"  Overlap:             {report.overlap['mean']:.0f} tokens avg (target {report.overlap['target']:.0f})",
        f"  Context prefix gen:  {_price(context['dollars'])} in API spend ({context['generated']} generated, "
        f"{context['reused']} reused, {context['model']})",
        f"  Embeddings:          {'none' if vectors['model'] == 'none' else made}",
        f"  Output:              {report.output}",
        *(f"  Warning:             {warning}" for warning in report.warnings),
        "",
        f"  Verdict: {verdict}",
    ]
    return "\n".join(lines)


def _price(sum_: float | None) -> str:
    return "unpriced" if sum_ is None else f"${sum_:.2f}"


def writer(settings: Settings) -> str:
    """Who writes the prefixes: a model's name, or ``extractive``."""
    return settings.context if settings.context == "extractive" else settings.context_model


def histogram(tokens: Sequence[int]) -> str:
    """Chunk sizes as Markdown that a person can read: a bar for each step of tokens."""
    if not tokens:
        return "no chunks"
    steps = [0] * (max(tokens) // STEP + 1)
    for size in tokens:
        steps[size // STEP] += 1
    lines = [
        f"{n * STEP:>5}–{n * STEP + STEP - 1:<5} {'█' * round(BARS * many / max(steps))} {many}"
        for n, many in enumerate(steps)
    ]
    return "```\n" + "\n".join(lines) + "\n```"


def nearest_rank(values: Sequence[int], percent: int) -> int:
    """The nearest-rank percentile; 0 of nothing."""
    return sorted(values)[max(-(-len(values) * percent // 100) - 1, 0)] if values else 0


def _mean(values: Sequence[int]) -> float:
    return round(sum(values) / len(values), 1) if values else 0.0
