"""What changed between the chunks that stood at a path and the new ones."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bookchunk_assets.outputs.canonical import canonical
from bookchunk_assets.outputs.records import Record, read_records

STATES = ("added", "modified", "unchanged", "removed")


@dataclass(frozen=True, slots=True)
class Mark:
    """What a diff needs of a chunk: its id, its digest, and that of its text and heading path."""

    id: str
    sha256: str
    content: str


@dataclass(frozen=True, slots=True)
class Change:
    """One chunk's state, and the id under which the same text and heading path stood before."""

    state: str
    moved_from: str | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """The changes by id: the new chunks in order, then what was removed."""

    changes: dict[str, Change]

    @property
    def summary(self) -> dict[str, int]:
        """How many of each state, and how many moved."""
        states = Counter(change.state for change in self.changes.values())
        moved = sum(change.moved_from is not None for change in self.changes.values())
        return {**{state: states[state] for state in STATES}, "moved": moved}

    def to_json(self) -> bytes:
        """``chunks.diff.json``."""
        chunks = {
            id_: {"__diff": c.state} | ({"moved_from": c.moved_from} if c.moved_from else {})
            for id_, c in self.changes.items()
        }
        return json.dumps({"summary": self.summary, "chunks": chunks}, ensure_ascii=False, indent=1).encode() + b"\n"


def mark(record: Record) -> Mark:
    """The mark of a record; raises ``KeyError`` or ``TypeError`` where it is none."""
    content = canonical([record["heading_path"], record["text"]])
    return Mark(str(record["id"]), str(record["sha256"]), hashlib.sha256(content.encode()).hexdigest())


def read_marks(path: Path) -> list[Mark]:
    """The marks of a file that stands, none where there is no file; raises ``ValueError`` where it cannot be read."""
    if not path.exists():
        return []
    try:
        return [mark(record) for record in read_records(path)]
    except (KeyError, TypeError, OSError) as error:
        raise ValueError(f"{path}: no chunks.jsonl: {error}") from error


def diff(old: Iterable[Mark], new: Iterable[Mark]) -> Diff:
    """Compare by id and digest. A chunk has moved where its text and heading path stood under another id, which no
    longer has them."""
    before = {each.id: each for each in old}
    after = {each.id: each for each in new}
    homeless: dict[str, list[str]] = defaultdict(list)
    for each in before.values():
        if each.id not in after or after[each.id].content != each.content:
            homeless[each.content].append(each.id)
    changes: dict[str, Change] = {}
    for each in after.values():
        was = before.get(each.id)
        state = "added" if was is None else "unchanged" if was.sha256 == each.sha256 else "modified"
        moved = was is None or was.content != each.content
        changes[each.id] = Change(state, homeless[each.content].pop(0) if moved and homeless[each.content] else None)
    for each in before.values():
        if each.id not in after:
            changes[each.id] = Change("removed")
    return Diff(changes)
