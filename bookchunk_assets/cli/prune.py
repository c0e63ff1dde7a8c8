"""``bookchunk prune``: what is kept of chapters and books that are gone is removed."""

from __future__ import annotations

from pathlib import Path

from bookchunk_assets.cli.app import Status, print_json
from bookchunk_assets.cli.chunk import tell
from bookchunk_assets.cli.instance import open_instance
from bookchunk_assets.corpus.faults import Fault
from bookchunk_assets.orchestration.lock import Busy
from bookchunk_assets.orchestration.prune import Gone, find_gone, remove


def prune(corpus: Path, dry_run: bool, as_json: bool) -> int:
    """Print what is gone of the corpus's books, and remove it unless this is a ``dry_run``."""
    if not corpus.is_dir():
        tell(str(Fault(str(corpus), 1, "no such folder; give --corpus, or mount it")))
        return Status.REFUSED
    instance = open_instance()
    status, pruned = Status.PASS, []
    for found in list(find_gone(instance, corpus)):
        if isinstance(found, Fault):
            tell(f"{found}; nothing of this book is pruned")
            status = max(status, Status.REFUSED)
            continue
        try:
            if not dry_run:
                remove(instance, found)
        except Busy:
            tell(f"{found.book}: another process works on it; run the command again")
            status = Status.FAILED
            continue
        pruned += _names(found)
    if as_json:
        print_json(pruned)
    elif pruned:
        print("\n".join(f"{'would remove' if dry_run else 'removed'} {name}" for name in pruned))
    else:
        print("nothing is gone")
    return status


def _names(gone: Gone) -> list[str]:
    return [*gone.chapters, *([gone.book] if gone.whole else [])]
