"""How well the chunks are found: questions with references, ways to retrieve, metrics with intervals."""
