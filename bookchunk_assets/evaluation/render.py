"""An evaluation as a table for a terminal or a page, and as bars."""

from __future__ import annotations

from collections.abc import Sequence

from bookchunk_assets.evaluation.evaluate import Evaluation, Figure

WIDTH = 30  # of a plot's longest bar


def told(figure: Figure) -> str:
    """``87.9 ±2.6``: the mean, and half of its 95 % interval."""
    return f"{figure.mean:.1f} ±{(figure.high - figure.low) / 2:.1f}"


def table(found: Evaluation, ks: Sequence[int]) -> str:
    """Markdown: what was asked of what, a row a way, and the fusions on the half that their weights were not chosen
    on."""
    metrics = [*(f"found@{k}" for k in ks), *(f"covered@{k}" for k in ks), "mrr", f"precision@{ks[0]}", f"iou@{ks[0]}"]
    head = f"| way | {' | '.join(metrics)} |"
    lines = [
        f"{found.book}: {found.questions} questions, {found.chunks} chunks of {found.mean_tokens:.0f} tokens each, "
        f"{found.model}; precision-omega {told(found.precision_omega)}. In percent, with 95 % intervals.",
        "",
        head,
        "|---" * (len(metrics) + 1) + "|",
        *(f"| {way.name} | {' | '.join(told(way.figures[metric]) for metric in metrics)} |" for way in found.ways),
    ]
    if found.held_out:
        shown = [f"found@{ks[0]}", f"covered@{ks[-1]}", "mrr"]
        lines += [
            "",
            "BM25's share chosen on the even questions; figures of the odd ones, and the gain over BM25 alone there:",
            "",
            f"| fusion | share | {' | '.join(shown)} | {' | '.join(f'gain in {metric}' for metric in shown)} |",
            "|---" * (2 * len(shown) + 2) + "|",
        ]
        for held in found.held_out:
            gains = (f"{g.mean:+.1f} ({g.low:+.1f} to {g.high:+.1f})" for g in (held.gains[metric] for metric in shown))
            figures = " | ".join(told(held.figures[metric]) for metric in shown)
            lines.append(f"| {held.pair} | {held.share:.1f} | {figures} | {' | '.join(gains)} |")
    return "\n".join(lines)


def plot(found: Evaluation, metric: str) -> str:
    """Markdown: a bar a way, the longest first."""
    ways = sorted(found.ways, key=lambda way: -way.figures[metric].mean)
    most = max((way.figures[metric].mean for way in ways), default=0) or 1
    wide = max((len(way.name) for way in ways), default=0)
    bars = (
        f"{way.name:{wide}} {'█' * round(WIDTH * way.figures[metric].mean / most):{WIDTH}} {told(way.figures[metric])}"
        for way in ways
    )
    return "\n".join([metric, "```", *bars, "```"])
