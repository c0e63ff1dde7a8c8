"""What is observed on disk: chapter files, the settings that hold for them, and a book's chapters in order."""

from collections.abc import Iterator

import dagster as dg

from bookchunk_assets.corpus.book import version_of
from bookchunk_assets.orchestration.partitions import BOOKS, CHAPTERS, book_of, chapter_of, chapter_partition
from bookchunk_assets.orchestration.reconcile import book_version, settings_version
from bookchunk_assets.orchestration.stages import open_book


@dg.observable_source_asset(partitions_def=CHAPTERS, group_name="corpus")
def chapter_file(context: dg.AssetExecutionContext) -> dg.DataVersionsByPartition:
    """A chapter's Markdown file, by its bytes."""

    def version(partition: str) -> str:
        book = open_book(context.instance, book_of(partition))
        path = book.binding.path(chapter_of(partition))
        return version_of(path.read_bytes(), book.manifest.kind, path.name)

    return dg.DataVersionsByPartition({key: version(key) for key in context.partition_keys})


@dg.observable_source_asset(partitions_def=CHAPTERS, group_name="corpus")
def chapter_settings(context: dg.AssetExecutionContext) -> dg.DataVersionsByPartition:
    """The book's title, authors, language, kind and resolved settings, as they hold for a chapter."""

    def version(partition: str) -> str:
        book = open_book(context.instance, book_of(partition))
        return settings_version(book.binding.settings(book.manifest, book.manifest_version))

    return dg.DataVersionsByPartition({key: version(key) for key in context.partition_keys})


@dg.multi_observable_source_asset(
    specs=[
        dg.AssetSpec(
            "book_chapters",
            description="A book's chapters, in order, each with the version of its finished chunks.",
            partitions_def=BOOKS,
            group_name="book",
            deps=[dg.AssetDep("chunk_embeddings", partition_mapping=dg.AllPartitionMapping())],
        )
    ]
)
def book_chapters(context: dg.AssetExecutionContext) -> Iterator[dg.ObserveResult]:
    """Report the digest of a book's chapters, once each of them is made."""
    for slug in context.partition_keys:
        book = open_book(context.instance, slug)
        settings = book.binding.settings(book.manifest, book.manifest_version)
        version = book_version(context.instance, [chapter_partition(slug, key) for key in book.binding.files], settings)
        if version is not None:
            yield dg.ObserveResult("book_chapters", data_version=dg.DataVersion(version))
