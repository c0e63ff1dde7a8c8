"""Questions with the places in the book that answer them, as JSON lines."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bookchunk_assets.corpus.faults import Fault, Refused
from bookchunk_assets.corpus.manifest import lowered

Offset = Annotated[int, Field(ge=0)]


class Reference(BaseModel):
    """A place that answers: code points into the file's text, half open."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    start: Offset
    end: Offset

    @model_validator(mode="after")
    def _is_a_span(self) -> Reference:
        if self.end <= self.start:
            raise ValueError("a reference ends where it starts or before")
        return self


class Line(BaseModel):
    """A line of the file: ``document`` is a document's key, ``chapter`` a chapter's number."""

    model_config = ConfigDict(strict=True, extra="ignore")

    question: Annotated[str, Field(min_length=1)]
    document: str | None = None
    chapter: int | None = None
    references: Annotated[list[Reference], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_one_file(self) -> Line:
        if (self.document is None) == (self.chapter is None):
            raise ValueError("give `document` or `chapter`")
        return self


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the chapter's number or document's key that answers it, and where."""

    text: str
    place: int | str
    references: tuple[tuple[int, int], ...]


def read_questions(path: Path) -> list[Question]:
    """The questions of a file; raises ``Refused`` with every fault in it."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Refused([Fault(str(path), 1, f"cannot be read: {error}")]) from None
    found, faults = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            asked = Line.model_validate(json.loads(line))
        except json.JSONDecodeError as error:
            faults.append(Fault(str(path), number, f"no JSON: {lowered(error.msg)}"))
        except ValidationError as error:
            faults += [
                Fault(str(path), number, f"{'.'.join(map(str, each['loc'])) or 'question'}: {lowered(each['msg'])}")
                for each in error.errors()
            ]
        else:
            place = asked.document if asked.chapter is None else asked.chapter
            spans = tuple((reference.start, reference.end) for reference in asked.references)
            found.append(Question(asked.question, place if place is not None else "", spans))
    if not found and not faults:
        faults.append(Fault(str(path), 1, "no questions in it"))
    if faults:
        raise Refused(faults)
    return found
