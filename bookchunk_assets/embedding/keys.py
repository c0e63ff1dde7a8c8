"""The keys under which vectors are kept and found again."""

from __future__ import annotations

import hashlib


def key_of(*parts: object) -> str:
    """A digest of these parts, no two lists of which are the same bytes."""
    digest = hashlib.sha256()
    for part in parts:
        data = str(part).encode("utf-8", "surrogatepass")
        digest.update(f"{len(data)} ".encode() + data)
    return digest.hexdigest()
