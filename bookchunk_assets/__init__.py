"""Markdown chapters into ``chunks.jsonl``: a functional core, and thin Dagster assets over it."""
