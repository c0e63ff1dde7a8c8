"""Models that are asked over a network: ports, adapters, limits, retries, prices and what was paid."""
