"""Unicode slugs: for anchors, chapter slugs and document keys."""

from __future__ import annotations

import unicodedata

import regex

DROPPED = regex.compile(r"[^\p{L}\p{N}\p{M}\s_-]")
RUNS = regex.compile(r"[\s-]+")


def slugify(title: str) -> str:
    """Lower case, NFC; letters, marks, digits, ``_`` and ``-`` of every script stay, runs of spaces and hyphens become
    one ``-``; empty where nothing of these is there."""
    written = unicodedata.normalize("NFC", title)  # a file system may hand out names in another form
    return RUNS.sub("-", DROPPED.sub("", written.lower())).strip("-")
