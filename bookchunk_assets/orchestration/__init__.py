"""What Dagster needs besides assets: partitions, provenance, staleness, storage, locks."""
