"""Groups at headings, and chunks within them: slices of the clean text under a token budget."""
