"""A book's ``chunks.jsonl``, from its chapters' finished chunks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from bookchunk_assets.assets.chapter import RECIPES
from bookchunk_assets.chunking.groups import Group, section_groups
from bookchunk_assets.corpus.book import Book, Survey, survey
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.embedding.embedded import EmbeddedChunk
from bookchunk_assets.embedding.plan import facts_of, plan_of
from bookchunk_assets.markdown.chapter import ParsedChapter
from bookchunk_assets.markdown.parse import parse_chapter
from bookchunk_assets.orchestration.automation import ON_CHANGE
from bookchunk_assets.orchestration.home import store_of
from bookchunk_assets.orchestration.lock import book_lock
from bookchunk_assets.orchestration.partitions import BOOKS, chapter_partition
from bookchunk_assets.orchestration.provenance import UNSAID, last_metadata, materialization, materialized, observed
from bookchunk_assets.orchestration.reconcile import book_version, changed_book, settings_version
from bookchunk_assets.orchestration.spending import Spent, spent_since
from bookchunk_assets.orchestration.stages import OWNERS, open_book
from bookchunk_assets.orchestration.staleness import recipe_of, stale
from bookchunk_assets.orchestration.store import StageStore
from bookchunk_assets.outputs import records
from bookchunk_assets.outputs.checks import CheckResult, run_checks
from bookchunk_assets.outputs.files import OutputPaths, digest_of, write_whole
from bookchunk_assets.outputs.publish import Published, publish
from bookchunk_assets.outputs.records import read_records
from bookchunk_assets.outputs.report import Report, Vectors, histogram, make_report, sizes_of, with_spend
from bookchunk_assets.outputs.vectors import read_vectors


@dataclass(frozen=True, slots=True)
class FinishedChapters:
    """The finished chunks of a book's chapters, in order, each read when it is gone through."""

    store: StageStore
    book: Book

    def __iter__(self) -> Iterator[list[EmbeddedChunk]]:
        for partition in self.partitions:
            yield self.store.read("chunk_embeddings", partition, EmbeddedChunk)

    @property
    def partitions(self) -> list[str]:
        """The chapters' partitions."""
        return [chapter_partition(self.book.manifest.slug, chapter.key) for chapter in self.book.chapters]


def vectors_made(
    instance: dg.DagsterInstance, settings: Settings, partitions: Sequence[str], after: int
) -> Vectors | None:
    """What was embedded for these chapters by runs after an event of the instance; None where the book has no
    vectors."""
    plan = plan_of(settings)
    if plan is None:
        return None
    made = materialized(instance, "chunk_embeddings", partitions) if partitions else {}
    told = [last_metadata(instance, "chunk_embeddings", key) for key, each in made.items() if each.event > after]
    return Vectors(
        plan.model,
        facts_of(plan.provider, plan.model).dimensions or 0,
        sum(each.get("embedded", 0) for each in told),
        sum(each.get("dollars", 0.0) for each in told),
    )


def check_files(book: Book, settings: Settings, paths: OutputPaths) -> tuple[list[CheckResult], list[str]]:
    """The checks of a book's written files against its chapters on disk, and what their parse warns of."""
    warnings: list[str] = []

    def chapters() -> Iterator[tuple[ParsedChapter, tuple[Group, ...]]]:
        for chapter in book.chapters:
            parsed = parse_chapter(chapter.path.read_bytes(), settings.kind, chapter.path.name)
            warnings.extend(f"{chapter.path}:{warning}" for warning in parsed.warnings)
            yield parsed, section_groups(parsed)

    vectors = read_vectors(paths.embeddings) if paths.embeddings.exists() else None
    results = run_checks(settings, chapters(), read_records(paths.chunks), vectors=vectors)
    return results, warnings


def reported(
    found: Survey,
    book: Book,
    settings: Settings,
    paths: OutputPaths,
    published: Published,
    spent: Spent,
    vectors: Vectors | None,
) -> Report:
    """Check what was written, and write the report beside it."""
    checks, warnings = check_files(book, settings, paths)
    report = make_report(
        settings,
        chapters=len(book.chapters),
        sizes=sizes_of(read_records(paths.chunks)),
        difference=published.difference,
        generated=published.generated,
        checks=checks,
        warnings=(*found.warnings, *warnings, *published.warnings),
        output=str(paths.chunks),
        vectors=vectors,
    )
    if settings.context != "extractive":
        report = with_spend(report, spent.spend, spent.generated, spent.warnings)
    write_whole(paths.report, [report.to_json()])
    return report


def sound(found: Survey) -> Book:
    """The book of a survey without faults; fails with all of them."""
    if found.book is None or found.faults:
        raise dg.Failure("\n".join(map(str, found.faults)))
    return found.book


@dg.asset(
    partitions_def=BOOKS,
    deps=["book_chapters"],
    code_version=records.RULES,
    group_name="book",
    kinds={"json"},
    owners=OWNERS,
    backfill_policy=dg.BackfillPolicy.single_run(),
    automation_condition=ON_CHANGE,
)
def chunks_jsonl(context: dg.AssetExecutionContext) -> Iterator[Any]:
    """A book's ``chunks.jsonl`` with its diff and report, whole or not at all."""
    instance, store = context.instance, store_of(context.instance)
    slugs = list(context.partition_keys)
    seen = observed(instance, "book_chapters", slugs)
    last = materialized(instance, "chunks_jsonl", slugs)
    yield UNSAID
    for slug in slugs:
        with book_lock(instance, slug):
            opened = open_book(instance, slug)
            found = survey(Path(opened.binding.folder), Path(opened.binding.root))
            book = sound(found)
            settings = opened.binding.settings(opened.manifest, opened.manifest_version)
            paths = OutputPaths.of_book(book.folder)
            before = last_metadata(instance, "chunks_jsonl", slug).get("chapters") or {}
            since = last[slug].event if slug in last else 0
            finished = FinishedChapters(store, book)
            published = publish(paths, settings, finished)
            spent = spent_since(instance, "context_prefixes", finished.partitions, since)
            vectors = vectors_made(instance, settings, finished.partitions, since)
            report = reported(found, book, settings, paths, published, spent, vectors)
            made = materialized(instance, "chunk_embeddings", finished.partitions)
            now = {partition: each.version for partition, each in made.items()}
            sizes = sizes_of(read_records(paths.chunks))
            metadata = {
                "verdict": report.verdict,
                "changes": dg.MetadataValue.md(changes(published.difference.summary)),
                "chunks": len(sizes.tokens),
                "tokens": dg.MetadataValue.md(histogram(sizes.tokens)),
                "output": dg.MetadataValue.path(str(paths.chunks)),
                "diff": dg.MetadataValue.json(published.difference.summary),
                "changed_chapters": dg.MetadataValue.json(
                    {p: [before.get(p), now.get(p)] for p in {**before, **now} if before.get(p) != now.get(p)}
                ),
                "files": dg.MetadataValue.json(published.digests),
                "chapters": dg.MetadataValue.json(now),
                **({} if spent.dollars is None else {"context_dollars": round(spent.dollars, 8)}),
            }
            inputs = {"book_chapters": seen[slug]} if slug in seen else {}
            version = published.digests[paths.chunks.name]
            yield materialization("chunks_jsonl", slug, version, records.RULES, inputs, metadata)


def changes(summary: Mapping[str, int]) -> str:
    """A diff's summary as a table."""
    head, line = " | ".join(summary), " | ".join("---" for _ in summary)
    return f"| {head} |\n| {line} |\n| {' | '.join(map(str, summary.values()))} |"


RECIPE = recipe_of(chunks_jsonl)


def written(instance: dg.DagsterInstance, slug: str) -> Mapping[str, str]:
    """The digests of the files that the asset wrote last, by name."""
    return last_metadata(instance, "chunks_jsonl", slug).get("files") or {}


def damaged(wrote: Mapping[str, str], paths: OutputPaths) -> str | None:
    """Why a book's files are not what the asset ``wrote``, by their digests, if they are not. Commands write diff and
    report afresh, so of these only the absence tells."""
    for path in (paths.chunks, paths.diff, paths.report):
        if not path.exists():
            return f"{path.name} is gone"
    for path in (paths.chunks, paths.embeddings):
        if digest_of(path) != wrote.get(path.name):
            return f"{path.name} is {'not what was written' if path.exists() else 'gone'}"
    return None


def pending(instance: dg.DagsterInstance, book: Book, settings: Settings) -> Iterator[tuple[str, str, str]]:
    """Each partition that a run would take, its stage and why, as (partition, stage, cause): what is stale by the
    records, and all that follows from a file or settings that have changed since they were seen."""
    store, slug = store_of(instance), book.manifest.slug
    partitions = [chapter_partition(slug, chapter.key) for chapter in book.chapters]
    files, known = (observed(instance, name, partitions) for name in ("chapter_file", "chapter_settings"))
    wanted = settings_version(settings)
    changed: dict[str, dict[str, str]] = {partition: {} for partition in partitions}
    for partition, chapter in zip(partitions, book.chapters, strict=True):
        if partition not in files or files[partition].version != chapter.version:
            changed[partition]["chapter_file"] = "chapter_file changed"
        if partition not in known or known[partition].version != wanted:
            changed[partition]["chapter_settings"] = "chapter_settings changed"
    waits = False
    for recipe in RECIPES:
        name = recipe.name
        causes = stale(instance, store, recipe, partitions)
        for partition in partitions:
            upstream = [changed[partition][dep] for dep in recipe.inputs if dep in changed[partition]]
            if cause := causes.get(partition) or next(iter(upstream), None):
                changed[partition][name] = f"follows {name}"
                waits = True
                yield partition, name, cause
    wrote = written(instance, slug)
    cause = stale(instance, None, RECIPE, [slug]).get(slug) or damaged(wrote, OutputPaths.of_book(book.folder))
    if cause is None and (waits or changed_book(instance, slug, book_version(instance, partitions, settings))):
        cause = "its chapters change"
    if cause:
        yield slug, "chunks_jsonl", cause
