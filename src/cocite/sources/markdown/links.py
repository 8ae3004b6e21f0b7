"""Read the links, headings and plain text of Markdown, over the tokens of markdown-it (CommonMark with tables).

Bare addresses become links, as on GitHub. HTML inside Markdown is read by the tokenizer of the HTML reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from cocite.sources.html.tokens import attributes, tokens
from cocite.sources.link_list import MAX_CONTEXT, MAX_TEXT, shortened

MAX_NESTING = 40
"""Levels of lists, quotations and brackets; parsing 1 MB of open brackets takes time proportional to this."""
MAX_PARAGRAPH = 20_000
"""Characters parsed at a time. Longer paragraphs are split between words: some inline rules take quadratic time."""
MAX_OPEN_BRACKETS = 100
"""Unclosed brackets in a paragraph. A text with more is not prose, and is searched for bare addresses only."""

_FOOTNOTE = re.compile(r"^[> ]{0,6}(?=\[\^)", re.MULTILINE)
_BARE_ADDRESS = re.compile(r"(?<![^\W_])https?://[^\s<>\[\]`|]++", re.IGNORECASE)
_HIDDEN = re.compile(r"<(/?)(?:script|style)\b", re.IGNORECASE)
_HEADING_TAG = re.compile(r"/?h[1-6]")
_TAGS_INSIDE_WORDS = frozenset(
    ("b", "i", "em", "strong", "code", "span", "sub", "sup", "u", "s", "kbd", "font", "small")
)
_BEFORE_CONTEXT = " \t\n-–—:;,.|)]*•·"


class MarkdownLink(NamedTuple):
    """A link with the text that follows it, up to the next link."""

    url: str
    text: str
    context: str


class MarkdownHeading(NamedTuple):
    """A heading, written in Markdown or in HTML."""

    text: str
    level: int


class MarkdownBlock(NamedTuple):
    """A paragraph, heading, table row or piece of HTML: its plain text, and its links and headings in order."""

    text: str
    items: list[MarkdownLink | MarkdownHeading]


def read_blocks(text: str) -> Iterator[MarkdownBlock]:
    """Yield the blocks of a Markdown text in order. Code blocks are skipped."""
    text = _FOOTNOTE.sub(r"\g<0>\\", text)  # CommonMark would read a footnote as the definition of a link
    block = _BlockReader()
    in_row = False  # the cells of a table row make one block
    for token in _parser().parse(text):
        if token.type == "heading_open":
            block.begin_heading(int(token.tag[1]))
        elif token.type == "inline":
            block.add_inline(token)
        elif token.type == "html_block":
            block.add_html(token.content)
        elif token.type in ("tr_open", "tr_close"):
            in_row = token.type == "tr_open"
        if block.pieces and not in_row:
            yield block.finished()
            block = _BlockReader()


class _Parser(MarkdownIt):
    """Keep addresses as they are written: `web_link` decides which of them lead to web pages."""

    def validateLink(self, url: str) -> bool:
        return True

    def normalizeLink(self, url: str) -> str:
        return url

    def normalizeLinkText(self, link: str) -> str:
        return link


@cache
def _parser() -> MarkdownIt:
    parser = _Parser("commonmark", {"maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    parser.core.ruler.before("inline", "split_paragraphs", _split_paragraphs)
    return parser


def _split_paragraphs(state: StateCore) -> None:
    """Bound the time that markdown-it's inline rules take."""
    made: list[Token] = []
    for token in state.tokens:
        if token.type != "inline" or len(token.content) <= MAX_OPEN_BRACKETS:
            made.append(token)
            continue
        for part in _parts(token.content):
            made.append(token.copy(content=part, children=[]))
            if part.count("[") - part.count("]") > MAX_OPEN_BRACKETS:
                made[-1] = token.copy(content="", children=[Token("text", "", 0, content=part)])
    state.tokens = made


def _parts(text: str) -> Iterator[str]:
    """Split a text between lines or words into parts of at most `MAX_PARAGRAPH` characters."""
    start = 0
    while len(text) - start > MAX_PARAGRAPH:
        end = start + MAX_PARAGRAPH
        end = max(text.rfind("\n", start, end), text.rfind(" ", start, end), start) + 1
        end = end if end > start + 1 else start + MAX_PARAGRAPH
        yield text[start:end]
        start = end
    yield text[start:]


class _BlockReader:
    """Collect the text of one block in pieces, and which pieces are links and headings."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.alts: dict[int, str] = {}  # the texts of images, keyed by the empty pieces in their places
        self.links: list[tuple[int, int, str]] = []  # first piece, piece after the last, address
        self.headings: list[tuple[int, int, int]] = []  # first piece, piece after the last, level
        self.open_link: tuple[int, str] | None = None
        self.open_heading: tuple[int, int] | None = None
        self.hidden = False

    def add_inline(self, token: Token) -> None:
        """Read the inline tokens of a paragraph, heading or table cell."""
        for child in token.children or ():
            match child.type:
                case "text" | "code_inline" if not self.hidden:
                    self.add_text(child.content, bare_addresses=child.type == "text")
                case "softbreak" | "hardbreak":
                    self.pieces.append(" ")
                case "link_open":
                    self.begin_link(str(child.attrs["href"]))
                case "link_close":
                    self.end_link()
                case "image":
                    self.add_image(_alternative_text(child))
                case "html_inline":
                    if found := _HIDDEN.match(child.content):
                        self.hidden = not found[1]
                    self.add_html(child.content)
        self.pieces.append(" ")

    def add_text(self, text: str, bare_addresses: bool) -> None:
        """Add text. A bare address in it is a link, unless a link is open."""
        start = 0
        for found in _BARE_ADDRESS.finditer(text) if bare_addresses and self.open_link is None else ():
            url = _without_punctuation(found[0])
            if url.partition("://")[2][:1].isalnum():
                self.pieces.append(text[start : found.start()])
                self.begin_link(url)
                self.pieces.append(url)
                self.end_link()
                start = found.start() + len(url)
        self.pieces.append(text[start:])

    def add_html(self, source: str) -> None:
        """Read a piece of HTML: its text, links, images and headings."""
        for parts in tokens(source):
            take = iter(parts)
            self.pieces.append(unescape(next(take) or ""))
            for href, _, label, raw, name, given, text in zip(*[take] * 7, strict=True):
                if href is not None:
                    self.begin_link(unescape(href))
                    self.pieces.append(unescape(label or ""))
                    self.end_link()
                elif name is not None:
                    self.add_tag(name.lower(), attributes(given or ""))
                elif raw is not None:
                    self.pieces.append(" ")
                self.pieces.append(unescape(text or ""))

    def add_tag(self, name: str, given: dict[str, str]) -> None:
        """Read one HTML tag with its attributes."""
        if name in ("a", "/a"):
            self.end_link()
            if name == "a" and given.get("href", "").strip():
                self.begin_link(given["href"].strip())
        elif name == "img":
            self.add_image(given.get("alt", ""))
        elif _HEADING_TAG.fullmatch(name):
            self.end_heading()
            if name[0] == "h":
                self.begin_heading(int(name[1]))
            self.pieces.append(" ")
        elif name.strip("/") not in _TAGS_INSIDE_WORDS:
            self.pieces.append(" ")

    def add_image(self, text: str) -> None:
        """Keep an image's text for a link or heading without other text."""
        self.alts[len(self.pieces)] = text[:MAX_TEXT]
        self.pieces.append("")

    def begin_link(self, url: str) -> None:
        self.end_link()
        self.open_link = len(self.pieces), url

    def end_link(self) -> None:
        if self.open_link is not None:
            start, url = self.open_link
            self.links.append((start, len(self.pieces), url))
            self.open_link = None

    def begin_heading(self, level: int) -> None:
        self.open_heading = len(self.pieces), level

    def end_heading(self) -> None:
        if self.open_heading is not None:
            start, level = self.open_heading
            self.headings.append((start, len(self.pieces), level))
            self.open_heading = None

    def text_between(self, start: int, end: int, length: int = MAX_TEXT) -> str:
        """Return the text of some pieces, or of the images among them if there is no text."""
        text = shortened("".join(self.pieces[start:end]), length)
        if text or not self.alts:
            return text
        return shortened(" ".join(self.alts[i] for i in range(start, end) if i in self.alts), length)

    def finished(self) -> MarkdownBlock:
        """Return the block, with headings before the links inside them."""
        self.end_link()
        self.end_heading()
        found = [(start, 0, end, "", level) for start, end, level in self.headings]
        found += [(start, 1, end, url, 0) for start, end, url in self.links]
        found.sort()
        items: list[MarkdownLink | MarkdownHeading] = []
        starts = [start for start, *_ in found[1:]] + [len(self.pieces)]
        for (start, is_link, end, url, level), next_start in zip(found, starts, strict=False):
            text = self.text_between(start, end)
            if is_link:
                context = "".join(self.pieces[end:next_start]).lstrip(_BEFORE_CONTEXT)
                items.append(MarkdownLink(url, text, shortened(context, MAX_CONTEXT).rstrip(" |")))
            else:
                items.append(MarkdownHeading(text, level))
        text = " ".join("".join(self.pieces).split())
        return MarkdownBlock(text or self.text_between(0, len(self.pieces)), items)


def _alternative_text(image: Token) -> str:
    """Return the text of an image, without its marks."""
    return "".join(
        _alternative_text(child) if child.type == "image" else child.content if child.type != "softbreak" else " "
        for child in image.children or ()
    )


def _without_punctuation(url: str) -> str:
    """Cut off the punctuation after a bare address that belongs to the sentence."""
    surplus = url.count(")") - url.count("(")
    end = len(url)
    while end and (url[end - 1] in "?!.,:;*_~'\"" or (url[end - 1] == ")" and surplus > 0)):
        surplus -= url[end - 1] == ")"
        end -= 1
    return url[:end]
