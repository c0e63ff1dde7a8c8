"""What is observed on disk: chapter files, the settings that hold for them, and a book's chapters in order."""

from collections.abc import Iterator

import dagster as dg

from bookchunk_assets.corpus.book import version_of
from bookchunk_assets.orchestration.partitions import BOOKS, CHAPTERS, book_of, chapter_of, chapter_partition
from bookchunk_assets.orchestration.provenance import UNSAID_SEEN, observation
from bookchunk_assets.orchestration.reconcile import book_version, settings_version
from bookchunk_assets.orchestration.stages import OWNERS, open_book

Seen = Iterator[dg.ObserveResult | dg.AssetObservation]


def _of_chapters(name: str, kind: str, description: str) -> dg.AssetSpec:
    return dg.AssetSpec(
        name, description=description, partitions_def=CHAPTERS, group_name="corpus", kinds={kind}, owners=OWNERS
    )


@dg.multi_observable_source_asset(
    specs=[_of_chapters("chapter_file", "markdown", "A chapter's Markdown file, by its bytes.")]
)
def chapter_file(context: dg.AssetExecutionContext) -> Seen:
    """Report each file's version."""
    yield UNSAID_SEEN
    for partition in context.partition_keys:
        book = open_book(context.instance, book_of(partition))
        path = book.binding.path(chapter_of(partition))
        data = path.read_bytes()
        version = version_of(data, book.manifest.kind, path.name)
        yield observation("chapter_file", partition, version, {"file": str(path), "bytes": len(data)})


@dg.multi_observable_source_asset(
    specs=[
        _of_chapters(
            "chapter_settings",
            "json",
            "The book's title, authors, language, kind and resolved settings, as they hold for a chapter.",
        )
    ]
)
def chapter_settings(context: dg.AssetExecutionContext) -> Seen:
    """Report each chapter's version of its settings."""
    yield UNSAID_SEEN
    for partition in context.partition_keys:
        book = open_book(context.instance, book_of(partition))
        version = settings_version(book.binding.settings(book.manifest, book.manifest_version))
        yield observation("chapter_settings", partition, version)


@dg.multi_observable_source_asset(
    specs=[
        dg.AssetSpec(
            "book_chapters",
            description="A book's chapters, in order, each with the version of its finished chunks.",
            partitions_def=BOOKS,
            group_name="book",
            owners=OWNERS,
            deps=[dg.AssetDep("chunk_embeddings", partition_mapping=dg.AllPartitionMapping())],
        )
    ]
)
def book_chapters(context: dg.AssetExecutionContext) -> Seen:
    """Report the digest of a book's chapters, once each of them is made."""
    yield UNSAID_SEEN
    for slug in context.partition_keys:
        book = open_book(context.instance, slug)
        settings = book.binding.settings(book.manifest, book.manifest_version)
        version = book_version(context.instance, [chapter_partition(slug, key) for key in book.binding.files], settings)
        if version is not None:
            yield observation("book_chapters", slug, version)
