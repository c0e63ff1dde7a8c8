"""JSON that is the same for the same value: what digests are taken of."""

from __future__ import annotations

import json
from typing import Any


def canonical(value: Any) -> str:
    """Sorted keys, no blanks."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
