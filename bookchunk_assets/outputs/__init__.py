"""The files beside a book: chunks, diff, report, and the checks that give the verdict."""
