"""Unicode slugs: for anchors, chapter slugs and document keys."""

from __future__ import annotations

import regex

DROPPED = regex.compile(r"[^\p{L}\p{N}\p{M}\s_-]")
RUNS = regex.compile(r"[\s-]*[\s-]")


def slugify(title: str) -> str:
    """Lower case; letters, marks, digits, ``_`` and ``-`` of every script stay, runs of spaces and hyphens become one
    ``-``; empty where nothing of these is there."""
    return RUNS.sub("-", DROPPED.sub("", title.lower())).strip("-")
