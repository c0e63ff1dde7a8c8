"""What the instance remembers of a book: its folder, its files, and the settings that were asked for."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import dagster as dg

from bookchunk_assets.corpus.book import Book
from bookchunk_assets.corpus.manifest import Manifest
from bookchunk_assets.corpus.settings import Choice, Settings, resolve_settings, unsaid
from bookchunk_assets.corpus.targets import Place
from bookchunk_assets.orchestration.provenance import remember, remembered_all

NOTHING = Choice()


@dataclass(frozen=True, slots=True)
class Binding:
    """A book's record. ``recorded`` is what the book has, and holds where the manifest is silent; ``override`` holds
    until the next plain command or until the manifest is no longer the ``manifest_version`` that it was given for.
    ``files`` are names by chapter."""

    folder: str
    root: str
    manifest_version: str
    files: dict[str, str] = field(default_factory=dict)
    recorded: Choice = NOTHING
    override: Choice = NOTHING

    def path(self, chapter: str) -> Path:
        """The file of a chapter, by its key; raises ``KeyError`` where the book has none."""
        return Path(self.folder) / self.files[chapter]

    def settings(self, manifest: Manifest, manifest_version: str) -> Settings:
        """The book's settings as of its manifest."""
        override = self.override if self.manifest_version == manifest_version else Choice()
        return resolve_settings(manifest, override, self.recorded, unsaid(os.environ))


def _key(book: str) -> str:
    return f"bookchunk/book/{book}"


def load_bindings(instance: dg.DagsterInstance, books: Collection[str]) -> dict[str, Binding]:
    """The records of those of the books that the instance has seen."""
    told = remembered_all(instance, [_key(book) for book in books])
    return {book: _read(told[_key(book)]) for book in books if told.get(_key(book))}


def load_binding(instance: dg.DagsterInstance, book: str) -> Binding | None:
    """The record of a book; None where the instance has not seen it."""
    return load_bindings(instance, [book]).get(book)


def _read(text: str) -> Binding:
    data = json.loads(text)
    return Binding(**{**data, "recorded": Choice(**data["recorded"]), "override": Choice(**data["override"])})


def bind(instance: dg.DagsterInstance, book: Book, root: Path, asked: Choice | None) -> Binding:
    """Record where a book stands and, from a command (``asked``), what it asked for; the sensor asks for nothing, and
    leaves what was asked in force."""
    slug = book.manifest.slug
    known = load_binding(instance, slug)
    files = {chapter.key: chapter.path.name for chapter in book.chapters}
    binding = bound(known, book.manifest, book.manifest_version, Place(book.folder, root), files, asked)
    if binding != known:
        keep(instance, slug, binding)
    return binding


def bound(
    known: Binding | None,
    manifest: Manifest,
    manifest_version: str,
    place: Place,
    files: Mapping[str, str],
    asked: Choice | None,
) -> Binding:
    """What the record of a book becomes."""
    recorded = known.recorded if known else NOTHING
    override = known.override if known and known.manifest_version == manifest_version else NOTHING
    if asked is not None:
        override = asked
        embedding = _kept(asked.embedding, recorded.embedding)
        recorded = replace(
            recorded,
            context=_kept(asked.context, recorded.context),
            embedding=embedding,
            embedding_model=recorded.embedding_model if embedding == recorded.embedding else None,
        )
    has = resolve_settings(manifest, NOTHING, recorded, unsaid(os.environ))
    recorded = Choice(
        context=has.context,
        context_model=has.context_model if has.context == "anthropic" else recorded.context_model,
        embedding=has.embedding,
        embedding_model=has.embedding_model,
    )
    return Binding(
        folder=str(place.folder.resolve()),
        root=str(place.root.resolve()),
        manifest_version=manifest_version,
        files=dict(files),
        recorded=recorded,
        override=override,
    )


def keep(instance: dg.DagsterInstance, book: str, binding: Binding) -> None:
    """Make a record the book's."""
    remember(instance, _key(book), json.dumps(asdict(binding)))


def forget(instance: dg.DagsterInstance, book: str) -> None:
    """Drop a book's record."""
    remember(instance, _key(book), "")


def _kept(asked: str | None, before: str | None) -> str | None:
    return before if asked in (None, "auto") else asked
