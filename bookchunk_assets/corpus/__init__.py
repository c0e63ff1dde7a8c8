"""What is on disk: books, manifests, chapter files, and what is wrong with them."""
