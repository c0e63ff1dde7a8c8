"""Prefixes without a model: where a passage stands, and what it speaks of in its own sentences and terms.

A prefix is made of the passage and its place alone, so that an edit changes no other passage's.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import chain, islice, pairwise, takewhile

from bookchunk_assets.chunking import thai
from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.chunking.sentences import is_abbreviated
from bookchunk_assets.chunking.tokens import count, counts
from bookchunk_assets.chunking.words import NO_SPACES
from bookchunk_assets.context.clip import clipped
from bookchunk_assets.context.plain import one_line, plain_text, read_text, unmarked
from bookchunk_assets.context.prefix import Prefix
from bookchunk_assets.context.terms import terms
from bookchunk_assets.context.wording import Wording, wording
from bookchunk_assets.corpus.settings import Settings

RULES = "4"
SOURCE = "extractive"

# Sizes are cl100k tokens.
LEAST, MOST = 50, 150
PLACE = 78
SENTENCE = 38
TERMS = 24
JOINTS = 12  # of the prefix's own words between these
ONE_MORE = 24  # for a name that is added to a short prefix
NAME_SIZES = (PLACE, 40, 32, 24, 20, 16, 12, 9, 6)  # of a title, tried in turn until the place fits

MOST_TERMS = 8
MOST_NAMES = 6
MOST_AUTHORS = 3
MOST_LINES = 80  # of a listing
DENSE = 3  # characters a token, fewer than English has
READ = 600  # characters in which a sentence is looked for
READ_THAI = 300  # where a sentence has as many words in half the characters
TELLING = 5  # words
TELLING_LENGTH = 20  # characters, where no spaces are
CURT = 80  # characters; a sentence that is cut sooner, since its script costs more tokens, takes what room is left

HEADING_LINES = re.compile(r"(?:[ \t]*\n|#{1,6}[ \t].*(?:\n|\Z))*")
FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*\{?\.?([^\s`{},]*).*\n?")
NEXT_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})", re.MULTILINE)
TABLE = re.compile(r"([^|\n]*\|.*)\n[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*(?:\n|\Z)")
CELL_END = re.compile(r"(?<!\\)\|")
NOTE_MARK = re.compile(r"\s*\[\^([^\]\s]+)\]:")
DEFINED = re.compile(
    r"^[ \t]*(?:(?:pub|export|default|async|static|public|private)[ \t]+)*"
    r"(?:def|class|fn|func|function|struct|enum|trait|interface|type|const|let|var|mod|module|sub)[ \t]+"
    r"(?:mut[ \t]+)?([^\W\d]\w*)"
    r"|^[ \t]*([^\W\d]\w*)[ \t]*(?:\(\)[ \t]*\{|=(?!=))",
    re.MULTILINE,
)
PARAGRAPH_END = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*\|)")
SENTENCE_END = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’)]))\s+(?=[^\W_a-z]|[\"'“‘(\[])|(?<=[。！？])")
THAI_GOES_ON = re.compile(r"\s*(?:และ|หรือ|แต่|ซึ่ง|โดย|เพราะ|เพื่อ|ที่|จึง|ก็|แล้ว)")
NEXT_START = re.compile(rf"{SENTENCE_END.pattern}|{PARAGRAPH_END.pattern}|\n(?=[ \t]*[-*+>|\d])")


def extractive_prefixes(chunks: Sequence[Chunk], settings: Settings) -> list[Prefix]:
    """One prefix for each of a chapter's chunks, in order: one line of plain text, 50 to 150 tokens, Thai where the
    chapter's language (else the book's) is Thai, English otherwise."""
    texts = [_situated(chunk, settings) for chunk in chunks]
    for n, size in enumerate(counts(texts)):
        if size < LEAST:
            texts[n] = _lengthened(texts[n], chunks[n], settings)
        elif size > MOST:
            texts[n] = clipped(texts[n], MOST)
    return [Prefix(text, SOURCE) for text in texts]


def _language(chunk: Chunk, settings: Settings) -> str:
    return chunk.chapter.language or settings.language


def _situated(chunk: Chunk, settings: Settings) -> str:
    """``place: what it says. It speaks of this and that.``"""
    words = wording(_language(chunk, settings))
    place = _place(chunk, settings, words)
    own = _own(chunk)
    read = read_text(own)
    named = _named(chunk, read, place, settings)
    said = _said(chunk, own, read, named, words, place)
    speaks = _fitting([name for name in named if name not in said][:MOST_TERMS])
    return one_line(
        words.sentences(
            f"{place}: {said}" if said else place, words.speaks.format(words.all_of(speaks)) if speaks else ""
        )
    )


def _place(chunk: Chunk, settings: Settings, words: Wording) -> str:
    """Book, author, chapter, section and pages, long names cut until all of it is within ``PLACE``."""
    book = one_line(settings.title)
    chapter = one_line(chunk.chapter.title)
    sections = [name for part in chunk.heading_path if (name := one_line(part)) and name not in (chapter, book)]
    pages = [page for page in dict.fromkeys((chunk.page_start, chunk.page_end)) if page is not None]
    place = ""
    whole, part = (words.book, words.chapter) if settings.kind == "book" else (words.collection, words.document)
    for size in NAME_SIZES:
        parts = [whole.format(clipped(book, size))] if book else []
        authors = [clipped(name, size) for name in map(one_line, settings.authors[:MOST_AUTHORS]) if name]
        if parts and authors:
            parts[0] += words.authors.format(words.all_of(authors))
        if chapter and chapter != book:
            parts.append(part.format(words.quote.format(clipped(chapter, size))))
        if sections:
            parts.append(
                words.section.format(" › ".join(words.quote.format(clipped(name, size)) for name in sections[-3:]))
            )
        if pages:
            parts.append((words.pages if len(pages) > 1 else words.page).format(*pages))
        place = words.comma.join(parts)
        if count(place) <= PLACE:
            break
    return place


def _named(chunk: Chunk, read: str, place: str, settings: Settings) -> list[str]:
    """What the passage speaks of: the chapter's concepts and the names that it holds first, then its own words, less
    those that the place says already."""
    known = (*chunk.key_concepts, *chunk.mentions_figures, *chunk.mentions_scriptures)
    told = place.lower()
    candidates = chain(filter(None, map(one_line, known)), terms(read, _language(chunk, settings)))
    return [*dict.fromkeys(islice((name for name in candidates if name.lower() not in told), 2 * MOST_TERMS))]


def _fitting(names: list[str]) -> list[str]:
    """The first of the names, as many as are within ``TERMS``."""
    while count(", ".join(names)) > TERMS:
        names = names[:-1]
    return names


def _own(chunk: Chunk) -> str:
    """The passage from about where its overlap with the one before ends, less the headings that lead it."""
    text = chunk.text
    if chunk.overlap_tokens:
        about = len(text) * chunk.overlap_tokens // max(chunk.token_count, 1)
        if DENSE * chunk.token_count > len(text):  # scripts differ in their tokens a character
            about = bisect_left(range(len(text)), chunk.overlap_tokens, key=lambda end: count(text[:end]))
        text = text[next((end for _, end in _ends(NEXT_START, text, about)), 0) :]
    headings = HEADING_LINES.match(text)
    return text[headings.end() if headings else 0 :]


def _ends(pattern: re.Pattern[str], text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """What lies between two sentences or paragraphs, by a pattern that takes abbreviations for ends."""
    for match in pattern.finditer(text, start):
        if match[0].count("\n") > 1 or not is_abbreviated(text, *match.span()):
            yield match.span()


def _said(chunk: Chunk, own: str, read: str, named: Sequence[str], words: Wording, place: str) -> str:
    """What the passage is or says, where ``place`` has been told: its names if it is a list of contents, a listing's
    definitions, a table's columns, else a sentence of what is read of it."""
    if chunk.kind == "contents":
        lines = map(one_line, plain_text(own[:READ]).splitlines())
        names = (line for line in lines if line and line != chunk.chapter.title)
        return clipped(words.contents.format("; ".join(names)), SENTENCE)
    if fence := FENCE.match(own):
        return _listing(fence[1], own[fence.end() :], words)
    if table := TABLE.match(own):
        cells = filter(None, (one_line(plain_text(cell)) for cell in CELL_END.split(table[1])))
        rows = sum(1 for _ in takewhile(CELL_END.search, own[table.end() :].splitlines()))
        return clipped(words.table.format(words.counted(rows, words.rows), words.all_of([*cells])), SENTENCE)
    if chunk.kind == "footnote" and (note := NOTE_MARK.match(own)):
        return clipped(words.footnote.format(note[1], _sentence(read, named, (), words)), SENTENCE)
    sentence = _sentence(read, named, chunk.heading_path, words)
    shown = clipped(sentence, SENTENCE)
    if shown != sentence and len(shown) < CURT:
        return clipped(sentence, max(SENTENCE, MOST - count(place) - TERMS - JOINTS))
    return shown


def _listing(language: str, code: str, words: Wording) -> str:
    """A listing by its language, length and what it defines, else by its first line."""
    lines = NEXT_FENCE.split(code, maxsplit=1)[0].strip("\n").splitlines()
    listing = words.code.format(words.comma.join(filter(None, (language, words.counted(len(lines), words.lines)))))
    defined = dict.fromkeys(one or other for one, other in DEFINED.findall("\n".join(lines[:MOST_LINES])))
    if defined:
        return clipped(words.defines.format(listing, words.all_of([*defined][:MOST_NAMES])), SENTENCE)
    first = next(filter(None, map(one_line, lines)), "")
    return clipped(words.begins.format(listing, first) if first else listing, SENTENCE)


def _sentence(read: str, named: Sequence[str], headings: Sequence[str], words: Wording) -> str:
    """The sentence near the start that has most of the passage's terms, the first of equals; else all of the start."""
    in_thai = thai.RUN.search(read, 0, READ_THAI)
    size = READ_THAI if in_thai else READ
    head, *code = NEXT_FENCE.split(read[:size], maxsplit=1)
    parts = [part for paragraph in PARAGRAPH_END.split(unmarked(head)) for part in _divided(paragraph)]
    if in_thai:
        parts = [sentence for part in parts for sentence in _thai_sentences(part)]
    if len(read) > size and not code and len(parts) > 1:
        del parts[-1]  # what was read ends within it
    sentences = [
        sentence
        for part in parts
        if (sentence := one_line(part)) and sentence[0] != "|" and not any(sentence in heading for heading in headings)
    ]
    telling = [
        sentence
        for sentence in sentences
        if sentence.count(" ") >= TELLING - 1 or (len(sentence) >= TELLING_LENGTH and NO_SPACES.search(sentence))
    ]
    return max(telling, key=lambda s: sum(name in s for name in named), default=words.sentences(*sentences))


def _divided(paragraph: str) -> Iterator[str]:
    """A paragraph's sentences."""
    bounds = chain((0,), chain.from_iterable(_ends(SENTENCE_END, paragraph)), (len(paragraph),))
    yield from (paragraph[a:b] for a, b in islice(pairwise(bounds), 0, None, 2))


def _thai_sentences(text: str) -> Iterator[str]:
    """The Thai sentences of a text that no mark divides; a text of another script as it is."""
    start = 0
    for end in thai.sentence_spaces(text) if len(text) > CURT and thai.RUN.search(text) else ():
        if not THAI_GOES_ON.match(text, end):
            yield text[start:end]
            start = end
    yield text[start:]


def located(text: str, chunk: Chunk, settings: Settings) -> str:
    """A text of somebody else's on the passage, told where it stands, and more until it has the length."""
    words = wording(_language(chunk, settings))
    text = one_line(words.sentences(f"{_place(chunk, settings, words)}: {text}"))
    return text if count(text) >= LEAST else _lengthened(text, chunk, settings)


def _lengthened(text: str, chunk: Chunk, settings: Settings) -> str:
    """A short prefix with more of what is true of the passage, until it has the length."""
    words = wording(_language(chunk, settings))
    for more in _more(chunk, settings, words):
        text = one_line(words.sentences(text, more))
        if count(text) >= LEAST:
            break
    return text


def _more(chunk: Chunk, settings: Settings, words: Wording) -> Iterator[str]:
    """What else there is to say of a passage, the most useful first. Nothing of its neighbours or its number: an edit
    elsewhere must not change it."""
    if concepts := chunk.chapter.key_concepts[:MOST_NAMES]:
        yield words.concepts.format(clipped(one_line(words.all_of([*concepts])), ONE_MORE))
    if chunk.chapter.number is not None:
        yield words.number.format(chunk.chapter.number)
    characters = words.counted(len(chunk.text), words.characters)
    lines = words.counted(chunk.text.count("\n") + 1, words.lines)
    yield words.size.format(characters, lines, _language(chunk, settings))
    yield words.names.format(clipped(chunk.chapter.slug, ONE_MORE), clipped(settings.book_slug, ONE_MORE))
    yield words.address.format(clipped(chunk.section_anchor, ONE_MORE), words.counted(chunk.token_count, words.tokens))
