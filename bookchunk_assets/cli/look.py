"""``bookchunk status`` and ``bookchunk diff``: what would run, and what the last run changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bookchunk_assets.cli.app import Status, print_json
from bookchunk_assets.cli.chunk import tell
from bookchunk_assets.cli.cost import Cost, cost
from bookchunk_assets.cli.instance import open_instance
from bookchunk_assets.cli.work import Stale, goes_back, status
from bookchunk_assets.corpus.faults import Fault, Refused
from bookchunk_assets.corpus.targets import find_books
from bookchunk_assets.outputs.files import OutputPaths


def show_status(targets: Sequence[str], corpus: Path, as_json: bool, with_cost: bool) -> int:
    """Print what is stale, and ``with_cost`` what it would cost to run; nothing is run or recorded."""
    found: list[Stale] = []
    costs: list[Cost] = []
    highest = Status.PASS
    try:
        places = find_books(targets, corpus)
    except Refused as refused:
        tell(str(refused))
        return Status.REFUSED
    instance = open_instance()
    for place in places:
        try:
            found += status(instance, place)
            if goes_back(instance, place):
                tell(f"{place.folder.name}: the last command's settings hold; a plain `chunk` leaves them")
            costs += [cost(instance, place)] if with_cost else []
        except Refused as refused:
            tell(str(refused))
            highest = Status.REFUSED
    if as_json:
        stale = [asdict(each) for each in found]
        print_json({"stale": stale, "cost": [asdict(each) for each in costs]} if with_cost else stale)
    else:
        for each in found:
            print(f"{each.partition}: {each.stage}: {each.cause}")
        if not found and highest is Status.PASS:
            print("nothing is stale")
        print(*costs, sep="\n", end="\n" if costs else "")
    return highest


def show_diff(target: str, corpus: Path, as_json: bool) -> int:
    """Print the last run's diff of one book."""
    try:
        places = find_books([target], corpus)
        if len(places) != 1:
            raise Refused([Fault(target, 1, f"one book is asked for; there are {len(places)}")])
        path = OutputPaths.of_book(places[0].folder).diff
        try:
            value = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise Refused([Fault(str(path), 1, "no diff to read; run `bookchunk chunk` first")]) from error
    except Refused as refused:
        tell(str(refused))
        return Status.REFUSED
    if as_json:
        print_json(value)
        return Status.PASS
    print(", ".join(f"{many} {state}" for state, many in value["summary"].items()))
    for id_, change in value["chunks"].items():
        if change["__diff"] != "unchanged" or "moved_from" in change:
            moved = f" (was {change['moved_from']})" if "moved_from" in change else ""
            print(f"{change['__diff']:9} {id_}{moved}")
    return Status.PASS
