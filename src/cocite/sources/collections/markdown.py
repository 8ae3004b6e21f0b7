"""Read Markdown files as pages: a link list such as a README, a folder of notes, the sources of a documentation site.

Every heading begins a section. Bare addresses become links, as on GitHub. The address of a page is the `url` of its
front matter, or else `base` with the file's path in the folder, including `.md`, so that links between files lead to
their pages. The address of a single file is `base`, or the file under it if `base` ends with a slash. In a folder,
`[[wiki links]]` lead to the notes that they name, and tags count in vaults (`wikis/notes.py`).

markdown-it (CommonMark with tables) parses the text, and the tokenizer of the HTML reader the HTML in it.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from cocite.errors import BadSource
from cocite.sources.collections import plain_markdown
from cocite.sources.collections.link_list import MAX_CONTEXT, MAX_TEXT, FolderPage, decoded, read_list_file, shortened
from cocite.sources.collections.note_workers import processes_for, read_in_processes
from cocite.sources.folders import address_of_file, checked_base, walk_names
from cocite.sources.html.tokens import attributes, tokens
from cocite.sources.kinds import DEFAULT_OPTIONS, Items, ReadOptions, SourceFolder, SourceKind, content_suffix
from cocite.sources.records import (
    UNREADABLE_FILE,
    UNSUPPORTED_FILE,
    Link,
    Page,
    ReadReport,
    expect_readable,
    expect_some,
)
from cocite.sources.wikis import notes
from cocite.sources.wikis.notes import Notes

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MARKDOWN_SUFFIXES = notes.NOTE_SUFFIXES
MAX_FRONT_MATTER = 64 << 10
MAX_NESTING = 40
"""Levels of lists, quotations and brackets; parsing 1 MB of open brackets takes time proportional to this."""
MAX_PARAGRAPH = 20_000
"""Characters parsed at a time. Longer paragraphs are split between words: some inline rules take quadratic time."""
MAX_OPEN_BRACKETS = 100
"""Unclosed brackets in a paragraph. A text with more is not prose, and is searched for bare addresses only."""

_MARKDOWN_NAME = re.compile(r"\.(?:md|markdown|mdown|mkd)(?:\.(?:gz|zst|bz2))?$", re.IGNORECASE)
_YAML = re.compile(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\+\+\+[ \t]*\n(.*?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_ENTRY = re.compile(r"^([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?$", re.MULTILINE)
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d(?:[T ]\d\d:\d\d.*)?)?)?", re.ASCII)
_PARTS = re.compile(rf".{{1,{MAX_PARAGRAPH}}}\Z|.{{1,{MAX_PARAGRAPH - 1}}}[ \n]|.{{1,{MAX_PARAGRAPH}}}", re.DOTALL)
_FOOTNOTE = re.compile(r"^[> ]{0,6}(?=\[\^)", re.MULTILINE)
_MARKUP = re.compile(r"[\n\\`~*_\[<&]")  # where the inline rules of markdown-it begin
_MARKS = re.compile(r"[\\`~*_\[<&!]")  # what a block of plain text doesn't have
_BARE_ADDRESS = re.compile(r"(?<![^\W_])https?://[^\s<>\[\]`|]++", re.IGNORECASE)
_HIDDEN = re.compile(r"<(/?)(?:script|style)\b", re.IGNORECASE)
_HEADING_TAG = re.compile(r"/?h[1-6]")
_TAGS_INSIDE_WORDS = re.compile("/?(?:b|i|em|strong|code|span|sub|sup|u|s|kbd|font|small)/?")
_BEFORE_CONTEXT = " \t\n-–—:;,.|)]*•·"


def read_markdown(path: Path, report: ReadReport, options: ReadOptions = DEFAULT_OPTIONS) -> Items:
    """Yield the pages of a Markdown file, or of all Markdown files in a folder."""
    base = None if options.base is None else checked_base(options.base)
    if not path.is_dir():
        address = base and address_of_file(base, path, path)
        links = NoteLinks.of(path, options.folder, options.mentions)
        return expect_some(_read_file(path, address, links, report), report, path.name)
    counted = None if options.folder else report  # whoever found the folder has counted what it can't list
    files = [name for name in walk_names(path, counted) if _MARKDOWN_NAME.search(name)]
    folder = options.folder if options.folder and options.folder.path == path else SourceFolder(path)
    pages: Items = read_files(files, base, folder, report, options.mentions)
    if count := processes_for(len(files)):
        pages = read_in_processes(files, count, folder, report, options._replace(base=base))
    if options.folder:  # one of several kinds in it
        return pages
    return expect_some(expect_readable(pages, report, path.name), report, path.name)


def read_files(
    names: Iterable[str], base: str | None, folder: SourceFolder, report: ReadReport, mentions: bool
) -> Iterator[Page]:
    """Yield the pages of the files of a folder, given by path in it. Files that can't be read are counted."""
    for name in names:
        file = folder.path / name
        try:
            if not file.stat().st_size:
                report.read[UNSUPPORTED_FILE] += 1
                continue
            address = None if base is None else f"{base.rstrip('/')}/{notes.quoted(name)}"
            yield from _read_file(file, address, NoteLinks(folder, name, mentions), report)
        except (BadSource, OSError) as error:
            if report.strict and isinstance(error, BadSource):
                raise
            report.skip(UNREADABLE_FILE, str(error))


def _read_file(file: Path, address: str | None, links: "NoteLinks | None", report: ReadReport) -> Iterator[Page]:
    if (content := read_list_file(file, report)) is not None:
        yield parse(decoded(content), address, report, file.name, links)


class NoteLinks(NamedTuple):
    """What wiki links and tags in a file of a folder lead to."""

    folder: SourceFolder
    file: str  # its path in the folder
    mentions: bool = False  # whether names of notes that aren't linked are links, too
    url: str = ""  # its address
    root: str | None = None  # the address of the folder, if that of the file is under it

    @classmethod
    def of(cls, file: Path, folder: SourceFolder | None, mentions: bool) -> "NoteLinks | None":
        return None if folder is None else cls(folder, file.relative_to(folder.path).as_posix(), mentions)

    @property
    def notes(self) -> Notes:
        """All notes of the folder, which are found when the first wiki link is."""
        return self.folder.know(Notes)

    def at(self, url: str) -> "NoteLinks":
        """These links on a page with an address."""
        own = notes.quoted(self.file)
        return self._replace(url=url, root=url.removesuffix(own) if url.endswith("/" + own) else None)

    def find(self, name: str) -> str | None:
        """The address of the note that a link names; None for a picture or the note itself."""
        path = self.notes.find(name, self.file)
        return None if path is None else self.address(path)

    def address(self, path: str) -> str:
        """The address of a path in the folder."""
        return (
            urljoin(self.url, notes.relative(path, self.file)) if self.root is None else self.root + notes.quoted(path)
        )

    def tags(self, text: str, inline: list[str]) -> dict[str, str]:
        """The tags of a note in a vault, each with its address."""
        if not (inline or "tag" in text[: notes.MAX_HEAD].lower()) or not self.notes.tagged:
            return {}
        names = (*notes.properties(text).get("tag", ()), *inline)
        return {name: self.address(f"tags/{name.strip('/').lower()}") for name in names}

    def mentioned(self, page: Page) -> dict[str, str]:
        """The names of notes that the text of a page has and that it doesn't link to, each with its address."""
        found = {self.address(path): name for path, name in self.notes.mentioned(page.text, self.file).items()}
        known = {link.url.partition("#")[0] for link in page.links}
        return {name: there for there, name in found.items() if there not in known}


def parse(
    text: str, address: str | None, report: ReadReport, name: str = "the text", links: NoteLinks | None = None
) -> Page:
    """Return one Markdown text as a page. `address` is its own, unless its front matter has another.

    Its title is the heading of level 1 that it begins with, or else that of its front matter, or else its first heading
    of level 1: further down, such a heading names a part.
    """
    source = text
    front, text = _front_matter(text.replace("\r\n", "\n"), report, name)
    url = _resolved(front.get("url", ""), address)
    if not url:
        raise BadSource(f"{name} has no address: use --base, or add a line `url: https://…` to its front matter")
    links = links and links.at(url)
    sections, texts = FolderPage(url, report), []
    page = sections.page
    page.captured, page.lang = _captured(front, report, name), front.get("lang", "")
    heading = ""
    tags: list[str] = []
    for block in read_blocks(text, links):
        texts.append(block.text)
        tags += block.tags
        for item in block.items:
            if isinstance(item, MarkdownLink):
                sections.add_link(*item)
            else:
                sections.begin_section(item.text)
                if item.level == 1:
                    heading = heading or item.text
                    page.title = item.text if len(texts) == 1 else page.title
    page.title = page.title or front.get("title", "") or heading
    page.text = "\n".join(filter(None, texts))
    if links:
        page.title = page.title or Path(name).stem.encode("utf-8", "replace").decode()
        mentioned = links.mentioned(page) if links.mentions else {}
        tagged = {f"#{tag}": there for tag, there in links.tags(source, tags).items()}
        for heading, weak in (("Tags", tagged), ("Mentions", mentioned)):
            page.links += [
                Link(there, name, len(page.headings), weight=notes.TAG_WEIGHT, boilerplate=True)
                for name, there in weak.items()
            ]
            page.headings += [heading] if weak else []
    return page


def note_address(text: str, address: str | None) -> str:
    """The address of a Markdown text: that in its front matter, or else `address`; "" if it has none."""
    front, _ = _front_matter(text.replace("\r\n", "\n"), ReadReport(), "")
    return _resolved(front.get("url", ""), address)


def _resolved(url: str, address: str | None) -> str:
    with suppress(ValueError):
        url = urljoin(address or "", url)
        return url if "://" in url else (address or "")
    return address or ""


def _front_matter(text: str, report: ReadReport, name: str) -> tuple[dict[str, str], str]:
    """Return the fields of the front matter (simple YAML or TOML), and the text after it."""
    if found := _TOML.match(text, 0, MAX_FRONT_MATTER):
        try:
            values = tomllib.loads(found[1])
        except tomllib.TOMLDecodeError as error:
            report.skip("front matter that is not valid TOML", f"{name}: {error}")
            values = {}
        return {key.lower(): str(value) for key, value in values.items()}, text[found.end() :]
    if found := _YAML.match(text, 0, MAX_FRONT_MATTER):
        fields = {entry[1].lower(): _scalar(entry[2] or "") for entry in _ENTRY.finditer(found[1])}
        if fields:
            return fields, text[found.end() :]
    return {}, text


def _scalar(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text.partition(" #")[0].rstrip()


def _captured(front: dict[str, str], report: ReadReport, name: str) -> str:
    for key in ("captured", "date"):
        value = front.get(key, "")
        if _DATE.fullmatch(value):
            return value
        if value:
            report.skip(f"front matter with a {key} that is not an ISO date", f"{name}: {value}")
    return ""


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
    tags: list[str]


def read_blocks(text: str, links: NoteLinks | None = None) -> Iterator[MarkdownBlock]:
    """Yield the blocks of a Markdown text in order. Code blocks are skipped."""
    text = _FOOTNOTE.sub(r"\g<0>\\", text)  # CommonMark would read a footnote as the definition of a link
    plain = plain_markdown.split(text)
    if plain is not None:
        yield from (_plain_block(level, content, links) for level, content in plain)
        return
    block = _BlockReader(links)
    in_row = False  # the cells of a table row make one block
    for token in _parser(wiki_links=links is not None).parse(text):
        if token.type == "heading_open":
            block.begin(_HEADING, int(token.tag[1]))
        elif token.type == "inline":
            block.add_inline(token)
        elif token.type == "html_block":
            block.add_html(token.content)
        elif token.type in ("tr_open", "tr_close"):
            in_row = token.type == "tr_open"
        if block.pieces and not in_row:
            yield block.finished()
            block = _BlockReader(links)


def _plain_block(level: int, content: str, links: NoteLinks | None) -> MarkdownBlock:
    """Read a heading (with its level) or a paragraph."""
    if not _MARKS.search(content) and "://" not in content:
        whole = " ".join(content.split())
        tags = notes.TAG.findall(content) if links and "#" in content else []
        return MarkdownBlock(whole, [MarkdownHeading(shortened(whole, MAX_TEXT), level)] if level else [], tags)
    spans = plain_markdown.spans(content, links is not None)
    if spans is None:
        block = _BlockReader(links)
        if level:
            block.begin(_HEADING, level)
        block.add_inline(_parser(wiki_links=links is not None).parseInline(content)[0])
        return block.finished()
    return _block_of_spans(level, list(_with_bare_addresses(spans)) if "://" in content else spans, links)


def _with_bare_addresses(spans: Iterable[plain_markdown.Span]) -> Iterator[plain_markdown.Span]:
    """Spans whose texts are split at bare addresses, which are links."""
    for span in spans:
        start = 0
        for at, url in _bare_addresses(span[1]) if span[0] == plain_markdown.TEXT_SPAN else ():
            yield plain_markdown.TEXT_SPAN, span[1][start:at], ""
            yield plain_markdown.LINK_SPAN, url, url
            start = at + len(url)
        yield (span[0], span[1][start:], span[2])


def _bare_addresses(text: str) -> Iterator[tuple[int, str]]:
    """The bare addresses in a text, with their places."""
    for found in _BARE_ADDRESS.finditer(text):
        url = _without_punctuation(found[0])
        if url.partition("://")[2][:1].isalnum():
            yield found.start(), url


def _block_of_spans(level: int, spans: list[plain_markdown.Span], links: NoteLinks | None) -> MarkdownBlock:
    """What `_BlockReader` makes of spans, in half the time."""
    pieces: list[str] = []
    found: list[tuple[int, str]] = []  # the piece of a link, and its address
    tags: list[str] = []
    for kind, text, other in spans:
        at = len(pieces)
        if kind == plain_markdown.WIKI_SPAN:
            there = links.find(text) if links else None
            pieces.append((other or text.strip().rpartition("/")[2]).replace("*", "") if there else other)
            if there:
                found.append((at, there))
            continue
        pieces.append(" " if kind == plain_markdown.BREAK_SPAN else text)
        if links and "#" in text and kind != plain_markdown.CODE_SPAN:
            tags += notes.TAG.findall(text)
        if kind == plain_markdown.LINK_SPAN:
            found.append((at, other))
    whole = " ".join("".join(pieces).split())
    items: list[MarkdownLink | MarkdownHeading] = [MarkdownHeading(shortened(whole, MAX_TEXT), level)] if level else []
    for number, (at, url) in enumerate(found):
        after = found[number + 1][0] if number + 1 < len(found) else len(pieces)
        context = shortened("".join(pieces[at + 1 : after]).lstrip(_BEFORE_CONTEXT), MAX_CONTEXT).rstrip(" |")
        items.append(MarkdownLink(url, shortened(pieces[at], MAX_TEXT), context))
    return MarkdownBlock(whole, items, tags)


@cache
def _parser(wiki_links: bool = False) -> "MarkdownIt":
    from markdown_it import MarkdownIt  # importing it takes 0.2 s

    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    parser.core.ruler.at("inline", _parse_inline)
    if wiki_links:
        parser.inline.ruler.before("link", "wiki_link", _wiki_link)
    # Keep addresses as they are written: `web_link` decides which of them lead to web pages.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    return parser


def _wiki_link(state: "StateInline", silent: bool) -> bool:
    """Read a wiki link where the parser is, if there is one."""
    found = notes.WIKI_LINK.match(state.src, state.pos)
    if found and not silent:
        token = state.push("wiki_link", "", 0)
        token.meta = {"name": found[1], "text": found[2] or ""}
    state.pos = found.end() if found else state.pos
    return found is not None


def _parse_inline(state: "StateCore") -> None:
    """Parse the links and marks of paragraphs, in bounded time."""
    from markdown_it.token import Token

    made: list[Token] = []
    for token in state.tokens:
        made.append(token)
        if token.type != "inline":
            continue
        token.content, *others = _PARTS.findall(token.content) or [""]
        made += [token.copy(content=part, children=[]) for part in others]
        for inline in made[-1 - len(others) :]:
            part, children = inline.content, inline.children
            assert children is not None
            if not _MARKUP.search(part) or part.count("[") - part.count("]") > MAX_OPEN_BRACKETS:
                children.append(Token("text", "", 0, content=part))  # a third of all lines are plain text
            else:
                state.md.inline.parse(part, state.md, state.env, children)
    state.tokens = made


_HEADING, _LINK = 0, 1  # a heading comes before the links inside it


class _BlockReader:
    """Collect the text of one block in pieces, and which pieces are links and headings."""

    def __init__(self, links: NoteLinks | None = None) -> None:
        self.links = links
        self.tags: list[str] = []
        self.pieces: list[str] = []
        self.alts: dict[int, str] = {}  # the texts of images, keyed by the empty pieces in their places
        # Of the open link and the open heading: the first piece, and its address or level.
        self.open: dict[int, tuple[int, str | int]] = {}
        # Of those that are closed: the first piece, the kind, the piece after the last, the address or level.
        self.spans: list[tuple[int, int, int, str | int]] = []
        self.hidden = False

    def begin(self, kind: int, value: str | int) -> None:
        self.end(kind)
        self.open[kind] = len(self.pieces), value

    def end(self, kind: int) -> None:
        if kind in self.open:
            start, value = self.open.pop(kind)
            self.spans.append((start, kind, len(self.pieces), value))

    def add_link(self, url: str, text: str) -> None:
        self.begin(_LINK, url)
        self.pieces.append(text)
        self.end(_LINK)

    def add_inline(self, token: "Token") -> None:
        """Read the inline tokens of a paragraph, heading or table cell."""
        for child in token.children or ():
            match child.type:
                case "text" | "code_inline" if not self.hidden:
                    self.add_text(child.content, bare_addresses=child.type == "text")
                case "softbreak" | "hardbreak":
                    self.pieces.append(" ")
                case "link_open":
                    self.begin(_LINK, str(child.attrs["href"]))
                case "wiki_link" if self.links and _LINK not in self.open:
                    name, text = child.meta["name"], child.meta["text"]
                    if there := self.links.find(name):
                        self.add_link(there, (text or name.strip().rpartition("/")[2]).replace("*", ""))
                    else:
                        self.pieces.append(text)
                case "link_close":
                    self.end(_LINK)
                case "image":
                    self.add_image(_alternative_text(child))
                case "html_inline":
                    if found := _HIDDEN.match(child.content):
                        self.hidden = not found[1]
                    self.add_html(child.content)
        self.pieces.append(" ")

    def add_text(self, text: str, bare_addresses: bool) -> None:
        """Add text. A bare address in it is a link, unless a link is open."""
        if self.links and bare_addresses and "#" in text:
            self.tags += notes.TAG.findall(text)
        start = 0
        for at, url in _bare_addresses(text) if bare_addresses and _LINK not in self.open else ():
            self.pieces.append(text[start:at])
            self.add_link(url, url)
            start = at + len(url)
        self.pieces.append(text[start:])

    def add_html(self, source: str) -> None:
        """Read a piece of HTML: its text, links, images and headings."""
        for parts in tokens(source):
            take = iter(parts)
            self.pieces.append(unescape(next(take) or ""))
            for href, _, label, raw, name, given, text in zip(*[take] * 7, strict=True):
                if href is not None:
                    self.add_link(unescape(href), unescape(label or ""))
                elif name is not None:
                    self.add_tag(name.lower(), attributes(given or ""))
                elif raw is not None:
                    self.pieces.append(" ")
                self.pieces.append(unescape(text or ""))

    def add_tag(self, name: str, given: dict[str, str]) -> None:
        """Read one HTML tag with its attributes."""
        if name in ("a", "/a"):
            self.end(_LINK)
            if name == "a" and given.get("href", "").strip():
                self.begin(_LINK, given["href"].strip())
        elif name == "img":
            self.add_image(given.get("alt", ""))
        elif _HEADING_TAG.fullmatch(name):
            self.end(_HEADING)
            if name[0] == "h":
                self.begin(_HEADING, int(name[1]))
            self.pieces.append(" ")
        elif not _TAGS_INSIDE_WORDS.fullmatch(name):
            self.pieces.append(" ")

    def add_image(self, text: str) -> None:
        """Keep an image's text for a link or heading without other text."""
        self.alts[len(self.pieces)] = text[:MAX_TEXT]
        self.pieces.append("")

    def text_between(self, start: int, end: int) -> str:
        """Return the text of some pieces, or of the images among them unless there is other text."""
        text = shortened("".join(self.pieces[start:end]), MAX_TEXT)
        if text or not self.alts:
            return text
        return shortened(" ".join(self.alts[i] for i in range(start, end) if i in self.alts), MAX_TEXT)

    def finished(self) -> MarkdownBlock:
        """Return the block."""
        self.end(_LINK)
        self.end(_HEADING)
        self.spans.sort()
        items: list[MarkdownLink | MarkdownHeading] = []
        next_starts = [start for start, *_ in self.spans[1:]] + [len(self.pieces)]
        for (start, _, end, value), next_start in zip(self.spans, next_starts, strict=False):
            text = self.text_between(start, end)
            if isinstance(value, int):
                items.append(MarkdownHeading(text, value))
            else:
                context = "".join(self.pieces[end:next_start]).lstrip(_BEFORE_CONTEXT)
                items.append(MarkdownLink(value, text, shortened(context, MAX_CONTEXT).rstrip(" |")))
        text = " ".join("".join(self.pieces).split())
        return MarkdownBlock(text or self.text_between(0, len(self.pieces)), items, self.tags)


def _alternative_text(image: "Token") -> str:
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


SOURCE = SourceKind(
    "markdown",
    "Markdown files",
    lambda path, head: content_suffix(path) in MARKDOWN_SUFFIXES,
    read_markdown,
    reads_folders=True,
    unit=lambda file, folder: (folder, "markdown"),
    suffixes=MARKDOWN_SUFFIXES,
    order=70,
)
