"""Plain Markdown is read as markdown-it reads it, and other Markdown is left to it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocite.sources.collections import markdown, plain_markdown
from cocite.sources.collections.markdown import MarkdownBlock, NoteLinks, read_blocks
from cocite.sources.kinds import SourceFolder
from tests.sources.timing import without_collection

PIECES = (
    *"ab #*_`~[]()!<>&|:-+=.1\\\n\t é—",
    "\n\n", "\n- ", "\n  - ", "\n\t- ", "\n1. ", "\n2) ", "\n# ", "\n## ", "\n---\n", "\n***\n", "\n```\n", "\n    ",
    "**", "[[a]]", "![[b#c|d]]", "[a](https://a.example/x_y)", "[ ] ", "`c d`", "https://b.example/a_b ", " #tag ",
    "**bold**", "*it*", "_it_", " * ", "&amp;", "<b>", "| a | b |\n|---|---|\n", "> ", "[^1]", "\n===\n", "a_b",
)  # fmt: skip
PLAIN = (
    "word", " ", " ", "\n", "\n\n", "\n- ", "\n  - ", "\n\t- ", "\n    - ", "\n1. ", "\n2. ", "\n# ", "\n---\n\n",
    "\n\n```\ncode\n```\n", "[[a]]", "[[b|two *words*]]", "![[a#h]]", "[a](https://a.example/x_y)", "[b](b.md)", "[ ] ",
    "`c d`", "https://b.example/a_b", " #tag", "**bold**", "*it*", "_it_", " * ", ".", ", ", "(", ")", "!", "a_b", "é",
)  # fmt: skip
TEXTS = st.one_of(st.lists(st.sampled_from(pieces), max_size=24).map("".join) for pieces in (PIECES, PLAIN))


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory) -> NoteLinks:
    folder = tmp_path_factory.mktemp("vault")
    for name in ("a.md", "b.md", "here.md"):
        Path(folder, name).write_text("")
    return NoteLinks(SourceFolder(folder), "here.md")


def by_markdown_it(text: str, links: NoteLinks | None) -> list[MarkdownBlock]:
    """The slow truth: every block and every mark is read by markdown-it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown.plain_markdown, "split", lambda text: None)
        return list(read_blocks(text, links))


def visible(blocks: list[MarkdownBlock]) -> list[MarkdownBlock]:
    return [block for block in blocks if block.text or block.items or block.tags]


@settings(max_examples=2000, deadline=None)
@given(TEXTS, st.booleans())
def test_plain_markdown_is_read_as_markdown_it_does(links: NoteLinks, text: str, in_vault: bool) -> None:
    own = links if in_vault else None
    assert visible(list(read_blocks(text, own))) == visible(by_markdown_it(text, own))


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("# A #\n\nb\nc\n\n- d\n\t- e\n- f\n\n```sh\n# no\n```\nend",
         [(1, "A "), (0, "b\nc"), (0, "d"), (0, "e"), (0, "f"), (0, "end")]),
        ("---\n1. a\n2. b\n\n   more", [(0, "a"), (0, "b"), (0, "more")]),
        ("> quoted", None), ("a\n---", None), ("[r]: u", None), ("<b>", None), ("    code", None),
        ("|a|\n|-|", None), ("- - a", None), ("a\n2. b", None), ("-", None), ("x" * 30_000, None),
    ],
)  # fmt: skip
def test_blocks(text: str, blocks: list[tuple[int, str]] | None) -> None:
    assert plain_markdown.split(text) == blocks


@pytest.mark.parametrize(
    "text", ["**a *b***", "![a](b)", "a \\* b", "[a](b 'c')", "<https://a.example>", "&amp;", "``a``"]
)
def test_other_marks_are_left_to_markdown_it(text: str) -> None:
    assert plain_markdown.spans(text, wiki_links=True) is None


@pytest.mark.parametrize(
    "piece", ["[", "*a", "_a_ ", "[[a|", "`", "- ", "\n- ", "\n\t", "# ", " ", "\n  - a", "~", "a_b"]
)
def test_time_is_linear(piece: str) -> None:
    @without_collection
    def cost(size: int) -> float:
        text, began = piece * (size // len(piece)), time.process_time()
        for _, content in plain_markdown.split(text) or [(0, text)]:
            plain_markdown.spans(content, wiki_links=True)
        return time.process_time() - began

    assert min(cost(400_000) for _ in range(2)) < 8 * min(cost(100_000) for _ in range(2)) + 0.1
