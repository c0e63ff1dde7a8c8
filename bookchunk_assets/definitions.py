"""What Dagster loads: the assets, their checks, and the sensors that watch the corpus."""

from __future__ import annotations

import dagster as dg

from bookchunk_assets.assets import book, chapter, checks, evaluation, seen
from bookchunk_assets.orchestration import sensors
from bookchunk_assets.orchestration.claude import claude_resource
from bookchunk_assets.orchestration.workers import one_process

defs = dg.Definitions(
    assets=[
        seen.chapter_file,
        seen.chapter_settings,
        *chapter.STAGES,
        seen.book_chapters,
        book.chunks_jsonl,
        evaluation.retrieval_evaluation,
    ],
    asset_checks=[checks.chunks_jsonl_checks],
    sensors=[sensors.corpus_sensor, sensors.automation],
    schedules=[sensors.corpus_schedule],
    executor=one_process,
    resources={"claude": claude_resource()},
)
