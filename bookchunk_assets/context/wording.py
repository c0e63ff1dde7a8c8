"""The sentences that prefixes are made of, by language."""

from __future__ import annotations

from dataclasses import dataclass

ENDS = (".", "!", "?", "…", "。", "！", "？", "؟", "।", ".”", "!”", "?”", '."', '!"', '?"', ".)")


@dataclass(frozen=True, slots=True)
class Wording:
    """Templates for ``str.format``: where a passage stands, what it is, what it speaks of, and more to say of a
    short one. ``quote`` sets off a title; the last of several names follows ``last``; nouns are singular and plural."""

    quote: str
    stop: str
    comma: str
    last: str
    lines: tuple[str, str]
    rows: tuple[str, str]
    characters: tuple[str, str]
    tokens: tuple[str, str]
    book: str
    collection: str
    authors: str
    chapter: str
    document: str
    section: str
    page: str
    pages: str
    contents: str
    footnote: str
    code: str
    defines: str
    begins: str
    table: str
    speaks: str
    concepts: str
    number: str
    size: str
    names: str
    address: str

    def all_of(self, names: list[str]) -> str:
        """``A``, ``A and B``, ``A, B and C``."""
        return self.last.join(filter(None, (self.comma.join(names[:-1]), *names[-1:])))

    @staticmethod
    def counted(n: int, noun: tuple[str, str]) -> str:
        """``1 line``, ``2 lines``."""
        return f"{n} {noun[n != 1]}"

    def sentences(self, *texts: str) -> str:
        """The texts that aren't empty one after the other, each with the full stop that it lacks."""
        return " ".join(text if text.endswith(ENDS) else text.rstrip(",;:-– ") + self.stop for text in texts if text)


ENGLISH = Wording(
    quote="“{}”",
    stop=".",
    comma=", ",
    last=" and ",
    lines=("line", "lines"),
    rows=("row", "rows"),
    characters=("character", "characters"),
    tokens=("token", "tokens"),
    book="From the book {}",
    collection="From the documents {}",
    authors=" by {}",
    chapter="chapter {}",
    document="document {}",
    section="section {}",
    page="page {}",
    pages="pages {}–{}",
    contents="the table of contents, which lists {}",
    footnote="footnote {}, which says: {}",
    code="a code listing ({})",
    defines="{} that defines {}",
    begins="{} that begins with {}",
    table="a table of {} with the columns {}",
    speaks="It speaks of {}",
    concepts="The key concepts around it are {}",
    number="It belongs to chapter {}",
    size="Its text is {} long, in {} of source, and its language code is “{}”",
    names="It is filed under the name “{}” in the collection “{}”",
    address="The link to its section is “{}”, and a model counts {} in it",
)

THAI = Wording(
    quote="“{}”",
    stop="",
    comma=", ",
    last=" และ ",
    lines=("บรรทัด", "บรรทัด"),
    rows=("แถว", "แถว"),
    characters=("ตัวอักษร", "ตัวอักษร"),
    tokens=("โทเคน", "โทเคน"),
    book="จากหนังสือ {}",
    collection="จากชุดเอกสาร {}",
    authors=" โดย {}",
    chapter="บท {}",
    document="เอกสาร {}",
    section="หัวข้อ {}",
    page="หน้า {}",
    pages="หน้า {}–{}",
    contents="สารบัญ ซึ่งมีรายการ {}",
    footnote="เชิงอรรถ {} {}",
    code="โค้ด ({})",
    defines="{} กำหนด {}",
    begins="{} เริ่มด้วย {}",
    table="ตาราง {} มีคอลัมน์ {}",
    speaks="กล่าวถึง {}",
    concepts="แนวคิดสำคัญในส่วนนี้ คือ {}",
    number="อยู่ในบทที่ {}",
    size="ข้อความนี้ยาว {} จำนวน {} รหัสภาษา {}",
    names="เก็บไว้ในชื่อ “{}” ภายใต้ “{}”",
    address="ลิงก์ไปยังหัวข้อ คือ “{}” มี {}",
)


def wording(language: str) -> Wording:
    """Thai for Thai, English for every other BCP 47 tag."""
    return THAI if language.partition("-")[0].lower() == "th" else ENGLISH
