"""Prefixes without a model: where a passage stands, and what it speaks of in its own sentences and terms.

A prefix is made of the passage and its place alone, so that an edit changes no other passage's; only one that is too
short then is told apart further, by its neighbours and its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.chunking.tokens import count, counts
from bookchunk_assets.context.clip import clipped
from bookchunk_assets.context.plain import one_line, plain_text
from bookchunk_assets.context.prefix import Prefix
from bookchunk_assets.context.terms import terms
from bookchunk_assets.context.wording import Wording, wording
from bookchunk_assets.corpus.settings import Settings

RULES = "1"
SOURCE = "extractive"

# Sizes are cl100k tokens.
LEAST, MOST = 50, 150
PLACE = 90
SENTENCE = 40
TERMS = 28
ONE_MORE = 40  # for each thing that is added to a short prefix
NAME_SIZES = (40, 24, 12, 6)  # of a title, tried in turn until the place fits

MOST_TERMS = 8
MOST_NAMES = 6
READ = 900  # characters in which a sentence is looked for
TELLING = 5  # words

HEADING_LINES = re.compile(r"(?:[ \t]*\n|#{1,6}[ \t].*(?:\n|\Z))*")
FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*([^\s`{]*).*\n?")
NEXT_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})", re.MULTILINE)
TABLE = re.compile(r"(.*\|.*)\n[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*(?:\n|\Z)")
CELL_END = re.compile(r"(?<!\\)\|")
NOTE_MARK = re.compile(r"\s*\[\^([^\]\s]+)\]:")
DEFINED = re.compile(
    r"^\s*(?:(?:pub|export|default|async|static|public|private)\s+)*"
    r"(?:def|class|fn|func|function|struct|enum|trait|impl|interface|type|const|let|var|mod|module|sub)\s+([^\W\d]\w*)"
    r"|^\s*([^\W\d]\w*)\s*(?:\(\)\s*\{|=(?!=))",
    re.MULTILINE,
)
BLOCK_END = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+>|]|\d{1,9}[.)]|\[\^)[ \t]*)")
SENTENCE_END = re.compile(
    r"(?<![\s.][A-Z]\.)(?<!\b(?:Mr|Dr|St|cf|vv|pp|No)\.)(?<!\b(?:Mrs|Rev|Gen|Psa|Rom|vol)\.)(?<=[.!?…][\"'”’)*_\s])\s*(?=[A-Z\"'“‘(\[*_])"
    r"|(?<=[。！？])"
)


def extractive_prefixes(chunks: Sequence[Chunk], settings: Settings) -> list[Prefix]:
    """One prefix for each of a chapter's chunks, in order: one line of plain text, 50 to 150 tokens, Thai where the
    chapter's language (else the book's) is Thai, English otherwise."""
    texts = [_situated(chunk, settings) for chunk in chunks]
    for n, size in enumerate(counts(texts)):
        if size < LEAST:
            texts[n] = _lengthened(texts[n], chunks, n, settings)
    return [Prefix(clipped(text, MOST), SOURCE) for text in texts]


def _language(chunk: Chunk, settings: Settings) -> str:
    return chunk.chapter.language or settings.language


def _situated(chunk: Chunk, settings: Settings) -> str:
    """``place: what it says. It speaks of this and that.``"""
    words = wording(_language(chunk, settings))
    place = _place(chunk, settings, words)
    named = _named(chunk, settings)
    speaks = words.speaks.format(words.all_of(named)) if named else ""
    said = _said(chunk, settings, named, words, min(SENTENCE, MOST - 6 - count(place) - count(speaks)))
    return one_line(f"{_ended(f'{place}: {said}' if said else place)} {speaks}")


def _ended(text: str) -> str:
    """``text`` with a full stop, where nothing ends it and its script has one."""
    return f"{text}." if text and (text[-1].isalnum() and text[-1].isascii() or text[-1] in ")”’,;:") else text


def _place(chunk: Chunk, settings: Settings, words: Wording) -> str:
    """Book, author, chapter, section and pages, long names cut until all of it is within ``PLACE``."""
    book = one_line(settings.title)
    chapter = one_line(chunk.chapter.title)
    sections = [name for part in chunk.heading_path if (name := one_line(part)) and name not in (chapter, book)]
    pages = [page for page in dict.fromkeys((chunk.page_start, chunk.page_end)) if page is not None]
    place = ""
    for size in NAME_SIZES:
        def name(text: str, size: int = size) -> str:
            return words.quote.format(clipped(text, size))

        parts = [words.book.format(clipped(book, size))] if book else []
        if parts and settings.authors:
            authors = [clipped(one_line(author), size) for author in settings.authors[:3]]
            parts[0] += words.authors.format(words.all_of(authors))
        if chapter and chapter != book:
            parts.append(words.chapter.format(name(chapter)))
        if sections:
            parts.append(words.section.format(" › ".join(map(name, sections[-3:]))))
        if pages:
            parts.append((words.pages if len(pages) > 1 else words.page).format(*pages))
        place = words.comma.join(parts)
        if count(place) <= PLACE:
            break
    return place


def _named(chunk: Chunk, settings: Settings) -> list[str]:
    """What the passage speaks of: the chapter's concepts and the names that it holds first, then its own words."""
    known = (*chunk.key_concepts, *chunk.mentions_figures, *chunk.mentions_scriptures)
    candidates = [*map(one_line, known), *terms(chunk.text, _language(chunk, settings))][: 2 * MOST_TERMS]
    chosen = list({name.lower(): name for name in filter(None, candidates)}.values())[:MOST_TERMS]
    sizes = accumulate(size + 1 for size in counts(chosen))
    return [name for name, size in zip(chosen, sizes, strict=True) if size <= TERMS]


def _own(chunk: Chunk) -> str:
    """The passage from about where its overlap with the one before ends, less headings."""
    text = chunk.text
    if chunk.overlap_tokens:
        text = text[len(text) * chunk.overlap_tokens // max(chunk.token_count, 1) :]
        start = SENTENCE_END.search(text, 0, READ) or BLOCK_END.search(text, 0, READ)
        text = text[start.end() if start else 0 :]
    return text[HEADING_LINES.match(text).end() :]  # type: ignore[union-attr]


def _said(chunk: Chunk, settings: Settings, named: Sequence[str], words: Wording, room: int) -> str:
    """What the passage is or says, in at most ``room`` tokens: a listing's names, a table's columns, or a sentence."""
    own = _own(chunk)
    if chunk.kind == "contents":
        lines = filter(None, map(one_line, plain_text(own[:READ]).splitlines()[1:]))
        return clipped(words.contents.format("; ".join(lines)), room)
    if fence := FENCE.match(own):
        body = own[fence.end() :]
        lines = NEXT_FENCE.split(body, maxsplit=1)[0].splitlines()
        names = [one or other for one, other in DEFINED.findall(body[:4000])]
        return clipped(words.code.format(len(lines), fence[1]) + words.all_of([*dict.fromkeys(names)][:MOST_NAMES]), room)
    if table := TABLE.match(own):
        cells = filter(None, (one_line(plain_text(cell)) for cell in CELL_END.split(table[1])))
        return clipped(words.table.format(own.count("\n", table.end()) + 1, words.all_of([*cells])), room)
    note = NOTE_MARK.match(own) if chunk.kind == "footnote" else None
    sentence = _sentence(own[note.end() :] if note else own, named, chunk.heading_path)
    return clipped(words.footnote.format(note[1], sentence) if note else sentence, room)


def _sentence(own: str, named: Sequence[str], headings: Sequence[str]) -> str:
    """The first sentence that says something of the passage's terms, else the longest."""
    head = own[:READ]
    whole = NEXT_FENCE.split(head, maxsplit=1)[0] or head
    blocks = map(plain_text, BLOCK_END.split(whole))
    sentences = [
        sentence
        for block in blocks
        for part in SENTENCE_END.split(block)
        if (sentence := one_line(part)) and not any(sentence in heading for heading in headings)
    ]
    telling = (s for s in sentences if s.count(" ") >= TELLING - 1 and any(name in s for name in named))
    return next(telling, max(sentences, key=len, default=""))


def _lengthened(text: str, chunks: Sequence[Chunk], n: int, settings: Settings) -> str:
    """A short prefix with more of what is true of the passage, until it has the length."""
    for more in _more(chunks, n, settings):
        text = one_line(f"{_ended(text)} {clipped(more, ONE_MORE)}")
        if count(text) >= LEAST:
            break
    return text


def _more(chunks: Sequence[Chunk], n: int, settings: Settings) -> Iterator[str]:
    """What else there is to say of a passage, the most useful first: concepts, neighbours, sizes, its number."""
    chunk = chunks[n]
    words = wording(_language(chunk, settings))
    if concepts := chunk.chapter.key_concepts[:MOST_NAMES]:
        yield words.concepts.format(words.all_of([*concepts]))
    for template, others in ((words.after, reversed(chunks[:n])), (words.before, chunks[n + 1 :])):
        if path := next((other.heading_path for other in others if other.heading_path != chunk.heading_path), ()):
            yield template.format(words.quote.format(path[-1]))
    if chunk.chapter.number is not None:
        yield words.number.format(chunk.chapter.number)
    yield words.size.format(len(chunk.text), _language(chunk, settings), chunk.text.count("\n") + 1)
    yield words.position.format(len(chunks), n + 1)
    yield words.names.format(chunk.chapter.slug, settings.book_slug)
