"""YAML front matter: where it ends, and the fields of a chapter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from bookchunk_assets.corpus.faults import Fault
from bookchunk_assets.corpus.manifest import Language, Words, lowered

FENCED = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
NULL = "tag:yaml.org,2002:null"


class _AsWritten(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
    """YAML whose scalars stay the text that is written, null aside: a title ``1984`` or ``2020-01-01``, a language
    ``no`` and a chapter ``010`` mean what they say, and no tag makes anything else of them."""


_AsWritten.add_implicit_resolver(NULL, re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""])
_AsWritten.add_constructor(NULL, lambda loader, node: None)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields before a text, every scalar as it is written, the file's line of each, and the offset where the body
    starts. ``problem`` is a line and what is wrong there; then there are no fields, and the body starts at 0."""

    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    body_start: int = 0
    problem: tuple[int, str] | None = None

    @property
    def present(self) -> bool:
        """Whether the text has front matter at all."""
        return self.body_start > 0


def split_front_matter(text: str) -> FrontMatter:
    """The YAML mapping between ``---`` lines that ``text`` starts with; total on every text."""
    match = FENCED.match(text)
    if not match:
        return FrontMatter()
    head = match[1]
    try:
        for event in yaml.parse(head, _AsWritten) if "*" in head else ():
            if isinstance(event, yaml.AliasEvent):  # a few of them can stand for gigabytes
                line = event.start_mark.line + 2 if event.start_mark else 1
                return FrontMatter(problem=(line, "broken front matter: aliases are not taken; write the value out"))
        loader = _AsWritten(head)
        node = loader.get_single_node()
        if node is None:
            return FrontMatter(body_start=match.end())
        if not isinstance(node, yaml.MappingNode):
            return FrontMatter(problem=(2, "front matter is no mapping; write `name: value` lines"))
        data = loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        return FrontMatter(problem=(line, f"broken front matter: {error.problem}"))
    except yaml.reader.ReaderError as error:
        line = head.encode()[: error.position].count(b"\n") + 2
        return FrontMatter(problem=(line, f"broken front matter: {error.reason}"))
    except RecursionError:
        return FrontMatter(problem=(2, "broken front matter: nested too deep"))
    lines = {str(key.value): key.start_mark.line + 2 for key, _ in node.value}
    return FrontMatter({str(key): value for key, value in data.items()}, lines, match.end())


def _as_list(value: Any) -> Any:
    return [] if value is None else [v for v in value if v is not None] if isinstance(value, list) else [value]


Texts = Annotated[list[str], BeforeValidator(_as_list)]


class DocumentFrontmatter(BaseModel):
    """The fields of a document, from scalars as they are written; others are left alone."""

    model_config = ConfigDict(extra="ignore")

    title: str | None = None
    language: Language | None = None
    content_sha256: str | None = None
    key_concepts: Texts = []
    is_preview: bool | None = None
    mentions_figures: Texts = []
    mentions_scriptures: Texts = []


class ChapterFrontmatter(DocumentFrontmatter):
    """The fields of a book's chapter."""

    title: Words
    chapter: Annotated[int, Field(ge=1)]
    slug: str | None = None
    book_slug: str | None = None
    word_count: Annotated[int, Field(ge=0)] | None = None
    page_start: int | None = None
    page_end: int | None = None


def chapter_faults(file: str, front: FrontMatter, error: ValidationError) -> Iterator[Fault]:
    """A fault for each wrong field, at its line in the front matter."""
    problems = {str(problem["loc"][0]): problem for problem in reversed(error.errors())}
    for name, problem in problems.items():
        missing = problem["type"] == "missing"
        told = (
            f"missing field `{name}`; add it to the front matter"
            if missing
            else f"field `{name}`: {lowered(problem['msg'])}"
        )
        yield Fault(file, front.lines.get(name, 1), told)
