"""A chapter's bytes into clean text and blocks, headings, footnotes and pages, all as offsets."""
