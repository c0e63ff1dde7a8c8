"""The ``bookchunk`` command: the same assets on the same instance as the Dagster UI."""

from bookchunk_assets.cli.app import main

__all__ = ["main"]
