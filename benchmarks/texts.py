"""What is measured: the sample book, generated text of its block mix, the same in Thai, or a folder of books of yours."""

from __future__ import annotations

import random
import re
from pathlib import Path

from bookchunk_assets.corpus.frontmatter import split_front_matter
from bookchunk_assets.corpus.text import decode
from bookchunk_assets.markdown.parse import parse_chapter

THAI_WORDS = """
    หนังสือ หน้า บท ข้อความ ผู้เขียน ผู้อ่าน ห้องสมุด กระดาษ ภาษา ประวัติศาสตร์ ความรู้ โรงพิมพ์ ตัวอักษร บรรทัด ย่อหน้า สารบัญ เชิงอรรถ ตาราง ภาพ นักเรียน
    อาจารย์ วันนี้ เมื่อวาน เช้า เย็น บ้าน เมือง แม่น้ำ ภูเขา ต้นไม้ ดอกไม้ อากาศ ฝน ลม แดด อาหาร ข้าว ปลา ผลไม้ ตลาด รถไฟ ถนน เพื่อน ครอบครัว พ่อ แม่ พี่
    น้อง เด็ก คน เรา เขา เธอ ฉัน และ หรือ แต่ เพราะ ถ้า เมื่อ ที่ ซึ่ง ใน บน ใต้ จาก ถึง กับ ของ เพื่อ โดย เป็น อยู่ มี ได้ ให้ ไป มา อ่าน เขียน พูด ฟัง คิด รู้ เห็น
    ทำ ใช้ เดิน นั่ง กิน นอน เรียน สอน ซื้อ ขาย เปิด ปิด เริ่ม จบ ดี ใหม่ เก่า ใหญ่ เล็ก สวย เร็ว ช้า มาก น้อย ทุก หลาย บาง นี้ นั้น แล้ว ไม่ จะ ต้อง ควร อาจ
"""
SAMPLE = Path(__file__).parent.parent / "corpus"


def chapters(folder: Path) -> list[bytes]:
    """The chapter files of the books under a folder."""
    manifests = sorted(folder.rglob("*-book.json"))
    return [path.read_bytes() for m in manifests for path in sorted(m.parent.glob(f"{m.parent.name}-ch*.md"))]


def generated(characters: int, seed: int = 1) -> list[bytes]:
    """Chapters made of the sample's blocks in another order, some 25,000 characters each."""
    draw = random.Random(seed)
    blocks = []
    for data in chapters(SAMPLE):
        parsed = parse_chapter(data, "book", "a.md")
        blocks += [parsed.text[b.start : b.end].strip("\n") for b in parsed.blocks if b.depth == 0]
    out, made = [], 0
    while made < characters:
        number, body = len(out) + 1, ""
        while len(body) < 25_000:
            body += draw.choice(blocks) + "\n\n"
        out.append(f"---\ntitle: Chapter {number}\nchapter: {number}\n---\n{body}".encode())
        made += len(body)
    return out


def thai(characters: int, seed: int = 1) -> list[bytes]:
    """The chapters of ``generated``, each English word of their prose an everyday Thai one: phrases of some five words
    between spaces, paragraphs of as many words as the English ones. Code, and what marks Markdown, stay."""
    draw = random.Random(seed)
    words = THAI_WORDS.split()
    out = []
    for data in generated(characters, seed):
        front, text = data.decode().split("---\n", 2)[1:]
        parts = re.split(r"(```.*?```|`[^`]*`|<[^>]*>|\]\([^)]*\))", text, flags=re.DOTALL)
        parts[::2] = [re.sub(r"[A-Za-z’']+", lambda _: draw.choice(words), part) for part in parts[::2]]
        parts[::2] = [
            re.sub(r"(?<=[ก-๙]) (?=[ก-๙])", lambda _: draw.choice(["", "", "", "", " "]), part) for part in parts[::2]
        ]
        out.append(f"---\n{front}---\n{''.join(parts)}".encode())
    return out


def body(data: bytes) -> str:
    """A chapter as a peer gets it: without front matter."""
    text = decode(data)
    return text[split_front_matter(text).body_start :]
