"""The sentences that prefixes are made of, by language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wording:
    """Templates for ``str.format``: where a passage stands, what it is, what it speaks of, and more to say of a short one.
    ``quote`` sets off a title; the last of several names follows ``last``."""

    quote: str
    comma: str
    last: str
    book: str
    authors: str
    chapter: str
    section: str
    page: str
    pages: str
    contents: str
    footnote: str
    code: str
    table: str
    speaks: str
    concepts: str
    after: str
    before: str
    number: str
    size: str
    position: str
    names: str

    def all_of(self, names: list[str]) -> str:
        """``A``, ``A and B``, ``A, B and C``."""
        return self.last.join(filter(None, (self.comma.join(names[:-1]), *names[-1:])))


ENGLISH = Wording(
    quote="“{}”",
    comma=", ",
    last=" and ",
    book="From the book {}",
    authors=" by {}",
    chapter="chapter {}",
    section="section {}",
    page="page {}",
    pages="pages {}–{}",
    contents="the table of contents, which lists {}",
    footnote="footnote {}, {}",
    code="a {}-line listing {}",
    table="a {}-row table with the columns {}",
    speaks="It speaks of {}.",
    concepts="The chapter's key concepts are {}.",
    after="The section before it is {}.",
    before="The section after it is {}.",
    number="It belongs to chapter number {}.",
    size="It is a passage of {}-character text with the language code {}, on a total of {} of its own source lines.",
    position="Of the {} passages that the chapter is made of, this one comes as number {}.",
    names="The chapter is filed under the name {} and the book under {}.",
)

THAI = Wording(
    quote="“{}”",
    comma=", ",
    last=" และ ",
    book="จากหนังสือ {}",
    authors=" โดย {}",
    chapter="บท {}",
    section="หัวข้อ {}",
    page="หน้า {}",
    pages="หน้า {}–{}",
    contents="สารบัญ ซึ่งมีรายการ {}",
    footnote="เชิงอรรถ {} {}",
    code="โค้ด {} บรรทัด {}",
    table="ตาราง {} แถว มีคอลัมน์ {}",
    speaks="กล่าวถึง {}",
    concepts="แนวคิดสำคัญของบทนี้ คือ {}",
    after="หัวข้อก่อนหน้า คือ {}",
    before="หัวข้อถัดไป คือ {}",
    number="อยู่ในบทที่ {}",
    size="ข้อความนี้ยาว {} ตัวอักษร รหัสภาษา {} จำนวน {} บรรทัด",
    position="จากทั้งหมด {} ตอนของบทนี้ ตอนนี้เป็นตอนที่ {}",
    names="บทนี้เก็บไว้ในชื่อ {} และหนังสือเก็บไว้ในชื่อ {}",
)


def wording(language: str) -> Wording:
    """Thai for Thai, English for every other BCP 47 tag."""
    return THAI if language.partition("-")[0].lower() == "th" else ENGLISH
