"""The versions of libraries that decide what a stage makes."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

WORDS = ("pythainlp", "nlpo3", "python-crfsuite", "budoux")  # where a word or sentence ends without a space or mark


def with_libraries(rules: str, *packages: str) -> str:
    """A code version: the rules, and the libraries that decide what they give."""

    def of(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "none"

    return " ".join([rules, *(f"{package}-{of(package)}" for package in packages)])
