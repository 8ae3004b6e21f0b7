"""The running part of a page: its text in blocks, the links in it, the headings over it."""

from __future__ import annotations

from html import unescape

from cocite.sources.html_blocks import Group
from cocite.sources.html_context import BREAK, MAX_CONTEXT, Span, clip, has_words, outside, set_contexts
from cocite.sources.html_headings import heading_text, is_bold_heading
from cocite.sources.html_tokens import attribute_text, attributes
from cocite.sources.records import Link

MAX_LINKS = 1_000_000
MAX_ANCHOR = 500
SUMMARY = 7
"""The level of a summary's or legend's heading, below `<h6>`."""


class Frame:
    """An open element that delimits groups, and what to go back to when it closes."""

    __slots__ = (
        "flushes",
        "group",
        "heading",
        "kind",
        "links",
        "list_depth",
        "name",
        "pieces",
        "region",
        "term",
        "texts",
    )

    def __init__(self, name: str, kind: int, region: bool, lines: Lines) -> None:
        self.name, self.kind, self.region = name, kind, region
        self.heading, self.group = lines.heading, lines.group
        self.list_depth, self.term = lines.list_depth, lines.term
        self.links, self.texts = len(lines.links), len(lines.texts)
        self.pieces, self.flushes = len(lines.pieces), lines.flushes


class Lines:
    """Text, links and headings as they come. A *block of text* is the smallest item, paragraph, cell or line."""

    __slots__ = (
        "after_list",
        "boilerplate",
        "bold",
        "bold_from",
        "bold_groups",
        "flushes",
        "group",
        "groups",
        "heading",
        "keep_text",
        "line_from",
        "link",
        "link_depth",
        "link_from",
        "link_instead",
        "link_parts",
        "link_title",
        "links",
        "list_depth",
        "open_heading",
        "pieces",
        "spans",
        "stack",
        "term",
        "texts",
        "words",
    )

    def __init__(self, keep_text: bool = True) -> None:
        self.links: list[Link] = []  # `block` is the group's number until blocks are numbered
        self.groups = [Group("")]
        self.group = self.bold_groups = 0
        self.heading = ""
        self.after_list = False  # words would begin a new group
        self.stack: list[Frame] = []
        self.list_depth = 0
        self.term: tuple[str, int] | None = None  # the present <dt>: its words, and the number of links before it
        self.boilerplate = 0  # how many open elements say so
        self.texts: list[str] = []
        self.keep_text = keep_text
        self.flushes = 0
        # the present block of text: its pieces, and which of them are links or in bold type
        self.pieces: list[str] = []
        self.line_from = 0  # the first piece after the last <br>
        self.words = False  # whether one of them, outside plain links, is more than white space
        self.spans: list[Span] = []
        self.bold: list[tuple[int, int]] = []
        self.bold_from = -1
        # the open link: its first piece, the height of the stack where it began, its text in earlier blocks of text,
        # a heading in it, and words in its stead
        self.link: Link | None = None
        self.link_from = self.link_depth = 0
        self.link_parts: list[str] = []
        self.link_title = ""
        self.link_instead = ""
        # the open heading: its level, first piece, first link and the height of the stack
        self.open_heading: tuple[int, int, int, int] | None = None

    # ----------------------------------------------------------------------------------------------------------- text
    def flush(self) -> None:
        """The present block of text ends."""
        pieces = self.pieces
        if not pieces:
            self.spans.clear()
            return
        self.flushes += 1
        if self.line_from:
            if self.bold:
                self.split_off_bold_line()
            self.line_from = 0
        if self.link is not None:
            self.settle_link()
        if self.words:
            self.words = False
            if self.spans:
                if not self.boilerplate:
                    set_contexts(pieces, self.spans)
            elif self.bold or self.bold_from >= 0:
                self.bold_line()
        if self.keep_text and not self.boilerplate:
            self.texts += pieces
            self.texts.append(BREAK)
        pieces.clear()
        if self.spans:
            self.spans.clear()
        if self.bold:
            self.bold.clear()

    def settle_link(self) -> None:
        """The block of text ends within a link, which goes on in the next."""
        assert self.link is not None
        self.link_parts += self.pieces[self.link_from :]
        self.link_parts.append(BREAK)
        self.spans.append((self.link_from, len(self.pieces), self.link))
        self.link_from = 0

    def line(self, _source: str = "") -> None:
        """A line or paragraph begins or ends; within an item or a heading the block of text goes on."""
        if self.list_depth or self.open_heading is not None:
            self.pieces.append(BREAK)
        else:
            self.flush()

    def line_break(self, _source: str) -> None:
        """`<br>`: what stands before it in bold type may be a heading."""
        if self.bold:
            if self.line_from:
                self.split_off_bold_line()
            if not self.spans:
                self.line()
                return
        self.pieces.append(BREAK)
        self.line_from = len(self.pieces)
        self.bold.clear()

    def split_off_bold_line(self) -> None:
        """If the present line is a heading in bold type, the lines before it end as a block of text of their own."""
        start = self.line_from
        if self.link is not None or self.list_depth or self.open_heading is not None:
            return
        if self.spans and self.spans[-1][1] > start:
            return
        line = self.pieces[start:]
        bold = [(first - start, end - start) for first, end in self.bold if first >= start]
        if self.bold_from < 0 and is_bold_heading(line, bold):
            del self.pieces[start:]
            self.bold.clear()
            self.line_from = 0
            self.flush()
            self.pieces += line
            self.bold += bold
            self.words = True

    def begin(self, heading: str, entry: int = 0, bold: bool = False) -> None:
        """A group begins under this heading; the heading of an entry holds for the entry only."""
        self.groups.append(Group(heading, self.boilerplate > 0, entry, self.heading, bold))
        self.group = len(self.groups) - 1
        self.after_list = False
        self.bold_groups += bold
        if not entry:
            self.heading = heading

    def begin_bold(self, _source: str) -> None:
        """`<b>`, `<strong>`."""
        if self.bold_from < 0:
            self.bold_from = len(self.pieces)

    def end_bold(self, _source: str) -> None:
        """`</b>`, `</strong>`."""
        if self.bold_from >= 0:
            self.bold.append((self.bold_from, len(self.pieces)))
            self.bold_from = -1

    def bold_line(self) -> None:
        """A block of text with words in bold type may be a heading."""
        if self.bold_from >= 0:
            self.bold.append((self.bold_from, len(self.pieces)))
            self.bold_from = 0
        if not self.list_depth and is_bold_heading(self.pieces, self.bold):
            self.begin(" ".join("".join(self.pieces).split()), bold=True)

    # ---------------------------------------------------------------------------------------------------------- links
    def plain_link(self, href: str, further: str, text: str) -> None:
        """`<a href="…">text</a>`: what `begin_link` and `end_link` do, at once."""
        if self.link is not None:
            self.end_link()
        if "&" in href:
            href = attribute_text(href)
        if "&" in text:
            text = unescape(text)
        link = Link(href, " ".join(text.split()), self.group)
        if further:
            named = attributes(further)
            if "rel" in named:
                link.rel = " ".join(named["rel"].lower().split())
            if not link.text:
                link.text = " ".join((named.get("aria-label") or named.get("title") or "").split())
        if len(text) > MAX_ANCHOR:
            link.text = clip(link.text, MAX_ANCHOR)
        links, pieces = self.links, self.pieces
        if len(links) < MAX_LINKS:
            links.append(link)
            self.spans.append((len(pieces), len(pieces) + 1, link))
        pieces.append(text)

    def begin_link(self, source: str) -> None:
        """`<a>`: a link if it has an address."""
        if self.link is not None:
            self.end_link()
        named = attributes(source)
        href = named.get("href")
        if href is None or len(self.links) >= MAX_LINKS:
            return
        rel = named.get("rel")
        self.link = Link(href, "", self.group, "", " ".join(rel.lower().split()) if rel else "")
        self.links.append(self.link)
        self.link_from = len(self.pieces)
        self.link_depth = len(self.stack)
        self.link_instead = named.get("aria-label") or named.get("title") or ""

    def end_link(self, _source: str = "") -> None:
        """`</a>`, or where the open link cannot go on."""
        link = self.link
        if link is None:
            return
        text = "".join(self.pieces[self.link_from :])
        if self.link_parts:
            text = "".join(self.link_parts) + text
            self.link_parts.clear()
        text = " ".join(text.split())
        if self.link_title:  # a link round a heading and more: the heading names it, the rest describes it
            link.context = clip(text.replace(self.link_title, "", 1).strip(), MAX_CONTEXT)
            text, self.link_title = self.link_title, ""
        link.text = clip(text or " ".join(self.link_instead.split()), MAX_ANCHOR)
        self.spans.append((self.link_from, len(self.pieces), link))
        self.link = None

    def image(self, source: str) -> None:
        """`<img>`: its alternative text stands for the text of the link that it is in, if the link has none."""
        if self.link is not None:
            self.stand_in(attributes(source).get("alt", ""))

    def stand_in(self, text: str) -> None:
        """Words of an image in the open link; the first image's words go before the link's own title."""
        if text.strip() and self.link_instead[:1] != BREAK:
            self.link_instead = BREAK + text

    def area(self, source: str) -> None:
        """`<area>`: a link in an image map."""
        named = attributes(source)
        if "href" in named and len(self.links) < MAX_LINKS:
            text = named.get("alt") or named.get("aria-label") or named.get("title") or ""
            rel = " ".join(named.get("rel", "").lower().split())
            self.links.append(Link(named["href"], clip(" ".join(text.split()), MAX_ANCHOR), self.group, "", rel))

    # ------------------------------------------------------------------------------------------------------- headings
    def begin_heading(self, level: int) -> None:
        """`<h1>` … `<h6>`, `<summary>`, `<legend>`."""
        first = len(self.links) - (self.link is not None)
        if self.open_heading is not None and self.open_heading[0] >= SUMMARY:  # a summary that is a heading, and more
            first = self.open_heading[2]
        else:
            self.end_heading()
        self.line()
        self.open_heading = (level, len(self.pieces), first, len(self.stack))

    def end_heading(self, _source: str = "") -> None:
        """The heading is complete: it begins a group, unless it is the linked title of one item of a list."""
        if self.open_heading is None:
            return
        level, start, first, _ = self.open_heading
        self.open_heading = None
        self.bold.clear()
        self.bold_from = -1
        heading = heading_text(self.pieces[start:])
        if self.link is not None:
            self.link_title = heading
            is_entry = True
        else:
            links_away = any(not link.url.startswith("#") for link in self.links[first:])
            is_entry = links_away and not has_words(outside(self.pieces, self.spans, start))
        if heading and not (is_entry and self.list_depth):
            self.begin(heading, entry=level if is_entry else 0)
            for link in self.links[first:]:
                link.block = self.group
        self.line()
