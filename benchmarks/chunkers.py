"""The core, the floors and the peers, each as a function from a chapter to chunk texts; each peer with its own tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.texts import body
from bookchunk_assets.chunking.chunker import chunk_groups
from bookchunk_assets.chunking.groups import section_groups
from bookchunk_assets.chunking.tokens import encoding
from bookchunk_assets.context.extractive import extractive_prefixes
from bookchunk_assets.context.prefix import PrefixedChunk
from bookchunk_assets.corpus.settings import Settings
from bookchunk_assets.markdown.parse import parse_chapter
from bookchunk_assets.markdown.structure import BLOCKS
from bookchunk_assets.outputs.records import record, to_lines

SIZE, OVERLAP = 512, 64
SETTINGS = Settings("bench", "Bench", ("Nobody",), target_tokens=SIZE, overlap_tokens=OVERLAP)
Chunker = Callable[[bytes], Sequence[str]]


def chunks_of(data: bytes) -> Sequence[str]:
    """From file bytes to chunks with exact counts and metadata, without prefixes."""
    return [chunk.text for chunk in chunk_groups(section_groups(parse_chapter(data, "book", "a.md")), SETTINGS)]


def records_of(data: bytes) -> Sequence[str]:
    """From file bytes to finished lines: prefixes, hashes and JSON too."""
    chunks = chunk_groups(section_groups(parse_chapter(data, "book", "a.md")), SETTINGS)
    prefixes = extractive_prefixes(chunks, SETTINGS)
    finished = [PrefixedChunk(chunk, prefix) for chunk, prefix in zip(chunks, prefixes, strict=True)]
    for _ in to_lines(record("bench", "en", each) for each in finished):
        pass
    return [chunk.text for chunk in chunks]


def floors() -> dict[str, Chunker]:
    """What any chunker of this kind does at least."""
    return {
        "floor: block parse (markdown-it-py)": lambda data: [str(len(BLOCKS.parse(body(data))))],
        "floor: one tokenisation (tiktoken)": lambda data: [str(len(encoding().encode_ordinary(body(data))))],
    }


def peers() -> dict[str, Chunker]:
    """The peers that are installed (``pip install .[bench]``)."""
    from chonkie import RecursiveChunker, RecursiveLevel, RecursiveRules
    from langchain_text_splitters import MarkdownTextSplitter
    from semantic_text_splitter import MarkdownSplitter
    from semchunk import chunkerify

    langchain = MarkdownTextSplitter.from_tiktoken_encoder(
        encoding().name, chunk_size=SIZE, chunk_overlap=OVERLAP, disallowed_special=()
    )
    headings = RecursiveLevel(delimiters=["\n# ", "\n## ", "\n### ", "\n#### "], include_delim="next")
    chonkie = RecursiveChunker(
        tokenizer=encoding(),
        chunk_size=SIZE,
        rules=RecursiveRules(levels=[headings, *list(RecursiveRules().levels or [])]),
    )
    rust = MarkdownSplitter.from_tiktoken_model("gpt-4", SIZE, overlap=OVERLAP)
    sem = chunkerify(encoding(), SIZE)
    return {
        "langchain MarkdownTextSplitter": lambda data: langchain.split_text(body(data)),
        "chonkie RecursiveChunker": lambda data: [chunk.text for chunk in chonkie.chunk(body(data))],
        "semantic-text-splitter Markdown": lambda data: rust.chunks(body(data)),
        "semchunk": lambda data: list(sem(body(data), overlap=OVERLAP)),
    }
