"""The sample book's outputs by stage, as digests beside the version of the rules that made them.

``python -m bookchunk_tests.golden`` writes them anew, and refuses where an output changed and its version did not."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from bookchunk_assets.chunking import chunker, groups
from bookchunk_assets.context import extractive
from bookchunk_assets.context.prefix import PrefixedChunk
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.markdown import parse
from bookchunk_assets.outputs import records
from bookchunk_assets.outputs.canonical import canonical

FILE = Path(__file__).parent / "fixtures" / "golden.yaml"
SAMPLE = Path(__file__).parent.parent / "corpus" / "ines_wardle" / "the-divided-page"
SETTINGS = Settings("the-divided-page", "The Divided Page", ("Ines Wardle",))


def digest(values: Sequence[Any]) -> str:
    return hashlib.sha256("".join(canonical(value) for value in values).encode()).hexdigest()


def outputs() -> dict[str, dict[str, str]]:
    made: dict[str, list[Any]] = {name: [] for name in ("parsed", "groups", "chunks", "prefixes", "records")}
    for path in sorted(SAMPLE.glob("*-ch*.md")):
        parsed = parse.parse_chapter(path.read_bytes(), "book", path.name)
        grouped = groups.section_groups(parsed)
        chunks = chunker.chunk_groups(grouped, SETTINGS)
        prefixes = extractive.extractive_prefixes(chunks, SETTINGS)
        finished = [PrefixedChunk(chunk, prefix) for chunk, prefix in zip(chunks, prefixes, strict=True)]
        made["parsed"].append(asdict(parsed))
        made["groups"] += map(asdict, grouped)
        made["chunks"] += map(asdict, chunks)
        made["prefixes"] += map(asdict, prefixes)
        made["records"] += [records.record("the-divided-page", "en", each) for each in finished]
    rules = {
        "parsed": parse.RULES,
        "groups": groups.RULES,
        "chunks": chunker.RULES,
        "prefixes": extractive.RULES,
        "records": records.RULES,
    }
    return {name: {"rules": rules[name], "digest": digest(values)} for name, values in made.items()}


def unversioned(before: dict[str, dict[str, str]], now: dict[str, dict[str, str]]) -> list[str]:
    """The stages whose output changed, though their rules and those of all stages before them did not."""
    out, upstream = [], False
    for name, made in now.items():
        upstream = upstream or made["rules"] != before[name]["rules"]
        if made["digest"] != before[name]["digest"] and not upstream:
            out.append(name)
    return out


def main() -> int:
    now = outputs()
    if FILE.exists() and (left := unversioned(yaml.safe_load(FILE.read_text("utf-8")), now)):
        print(f"changed, but with the same RULES: {', '.join(left)}", file=sys.stderr)
        return 1
    FILE.write_text(yaml.safe_dump(now, sort_keys=False), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
