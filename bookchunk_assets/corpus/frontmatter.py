"""YAML front matter: where it ends, and the fields of a chapter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from bookchunk_assets.corpus.faults import Fault

FENCED = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields before a text, and the offset where its body starts. ``problem`` is a line and what is wrong there;
    then there are no fields, and the body starts at 0."""

    data: dict[str, Any] = field(default_factory=dict)
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
    try:
        for event in yaml.parse(match[1], LOADER):
            if isinstance(event, yaml.AliasEvent):  # a few of them can stand for gigabytes
                line = event.start_mark.line + 2 if event.start_mark else 1
                return FrontMatter(problem=(line, "broken front matter: aliases are not taken"))
        data = yaml.load(match[1], LOADER)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        return FrontMatter(problem=(line, f"broken front matter: {error.problem}"))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return FrontMatter(problem=(1, f"broken front matter: {type(error).__name__}"))
    if data is not None and not isinstance(data, dict):
        return FrontMatter(problem=(2, "front matter is no mapping of fields"))
    return FrontMatter(data={str(key): value for key, value in (data or {}).items()}, body_start=match.end())


def _as_text(value: Any) -> Any:
    """YAML reads ``1984`` as a number and ``2020-01-01`` as a date; a text field means what is written."""
    return value if value is None or isinstance(value, (str, dict, list, bool)) else str(value)


def _as_list(value: Any) -> Any:
    return [] if value is None else value if isinstance(value, list) else [value]


Text = Annotated[str, BeforeValidator(_as_text)]
Texts = Annotated[list[Text], BeforeValidator(_as_list)]


class ChapterFrontmatter(BaseModel):
    """The fields of a book's chapter; others are left alone."""

    model_config = ConfigDict(extra="ignore", strict=True)

    title: Annotated[Text, Field(min_length=1, pattern=r"\S")]
    chapter: Annotated[int, Field(ge=1)]
    slug: Text | None = None
    book_slug: Text | None = None
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$")] | None = None
    word_count: Annotated[int, Field(ge=0)] | None = None
    content_sha256: Text | None = None
    key_concepts: Texts = []
    is_preview: bool | None = None
    mentions_figures: Texts = []
    mentions_scriptures: Texts = []
    page_start: int | None = None
    page_end: int | None = None


def chapter_faults(file: str, text: str, front: FrontMatter, error: ValidationError) -> Iterator[Fault]:
    """A fault for each wrong field, at its line in the front matter."""
    for problem in error.errors():
        name = str(problem["loc"][0])
        where = re.search(rf"^{re.escape(name)}\s*:", text[: front.body_start], re.MULTILINE)
        line = text.count("\n", 0, where.start()) + 1 if where else 1
        told = (
            f"missing field `{name}`; add it to the front matter"
            if problem["type"] == "missing"
            else (f"field `{name}`: {problem['msg'].lower()}")
        )
        yield Fault(file, line, told)
