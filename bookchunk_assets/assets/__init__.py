"""The Dagster assets: one thin function a stage over the core."""
