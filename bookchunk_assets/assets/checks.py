"""The asset checks on ``chunks_jsonl``, by book: they read the written files and the chapters from disk."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg

from bookchunk_assets.assets.book import check_files, sound
from bookchunk_assets.corpus.book import survey
from bookchunk_assets.orchestration.partitions import BOOKS
from bookchunk_assets.orchestration.stages import open_book
from bookchunk_assets.outputs.checks import CHECKS, NAMES, CheckResult
from bookchunk_assets.outputs.files import OutputPaths


@dg.multi_asset_check(
    specs=[
        dg.AssetCheckSpec(
            name,
            asset="chunks_jsonl",
            description=CHECKS.get(name, "enough tokens for the words"),
            partitions_def=BOOKS,
        )
        for name in NAMES
    ],
    can_subset=True,
)
def chunks_jsonl_checks(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
    """Run the checks that are asked for, book by book."""
    instance = context.instance
    wanted = {key.name for key in context.selected_asset_check_keys}
    for slug in context.partition_keys if context.has_partition_key else ():
        opened = open_book(instance, slug)
        book = sound(survey(Path(opened.binding.folder), Path(opened.binding.root)))
        settings = opened.binding.settings(opened.manifest, opened.manifest_version)
        results, _ = check_files(book, settings, OutputPaths.of_book(book.folder))
        for result in results:
            if result.name in wanted:
                yield evaluation(result, slug)


def evaluation(result: CheckResult, slug: str) -> dg.AssetCheckResult:
    """A check's outcome as Dagster shows it: what failed, and where."""
    worst = dg.MetadataValue.md("\n".join(f"- {fault}" for fault in result.faults))
    return dg.AssetCheckResult(
        check_name=result.name,
        asset_key="chunks_jsonl",
        passed=result.passed,
        severity=dg.AssetCheckSeverity.WARN if result.warns else dg.AssetCheckSeverity.ERROR,
        description=result.what,
        metadata={"book": slug, **({"worst": worst} if result.faults else {}), **result.figures},
    )
