"""Vectors for chunks: the port, the models behind it, and what is reused."""
