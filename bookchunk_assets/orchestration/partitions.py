"""The two kinds of partition: a book's slug, and ``<book-slug>/<chapter key>``."""

from __future__ import annotations

import dagster as dg

CHAPTERS = dg.DynamicPartitionsDefinition(name="chapters")
BOOKS = dg.DynamicPartitionsDefinition(name="books")


def chapter_partition(book: str, key: str) -> str:
    """The partition of a chapter."""
    return f"{book}/{key}"


def book_of(partition: str) -> str:
    """The book that a chapter's partition belongs to."""
    return partition.partition("/")[0]


def chapter_of(partition: str) -> str:
    """The chapter's key within its book."""
    return partition.partition("/")[2]
