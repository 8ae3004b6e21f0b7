"""The running text of a page: paragraphs, the links in them, and the headings above them."""

import re
from html import unescape
from itertools import accumulate

from cocite.sources.html.blocks import LinkGroup
from cocite.sources.html.tokens import attribute_text, attributes
from cocite.sources.records import Link

MAX_LINKS = 1_000_000
MAX_ANCHOR, MAX_CONTEXT, MAX_HEADING, MAX_BOLD_HEADING = 500, 120, 300, 100  # characters
SUMMARY_LEVEL = 7  # of a heading in `<summary>` or `<legend>`, below `<h6>`
BREAK = "\x1f"  # marks a line break in text; `str.split` treats it as white space
_BEFORE, _AFTER = 40, 80  # characters of the words around a link
_WINDOW = 300  # characters searched on each side of a link: indented source is mostly white space

has_words = re.compile(r"[^\W\d_]{2}|[\u2e80-\uffdc]").search
_BEFORE_CONTEXT = " -–—:,;.|·•)]}"
_AFTER_HEADING = re.compile(r"(?:\s*+(?:\[[^\[\]]*+\]|[¶#§🔗]))++$")  # `[edit]`, and signs that link to the heading

Span = tuple[int, int, Link]  # the first piece of text that belongs to a link, the piece after the last, and the link


def text_outside_links(pieces: list[str], spans: list[Span], first_piece: int = 0) -> str:
    """Return the text of pieces without the links in them. `first_piece` is the number of the first piece."""
    start = 0
    rest: list[str] = []
    for first, end, _ in spans:
        if first >= first_piece:
            rest += pieces[start : first - first_piece]
            start = end - first_piece
    rest += pieces[start:]
    return "".join(rest)


def set_contexts(pieces: list[str], spans: list[Span], first_piece: int = 0) -> None:
    """Give every link of a paragraph the words after it if it begins a line, or else the words around it."""
    outside = text_outside_links(pieces, spans, first_piece)
    if not has_words(outside):
        return
    text = "".join(pieces)
    if len(text) > 4 * len(outside):  # a row of links: the few words between them don't describe them
        return
    offsets = list(accumulate(map(len, pieces), initial=0))
    next_link = len(text)
    for first, last, link in reversed(spans):
        start, end = offsets[first - first_piece], offsets[last - first_piece]
        if not link.context:
            link.context = _context(text, start, end, next_link)
        next_link = start


def _context(text: str, start: int, end: int, next_link: int) -> str:
    from_here = max(0, start - _WINDOW)
    line = max(text.rfind(BREAK, from_here, start), from_here)
    before = text[line:start]
    after = text[end : end + _WINDOW]
    gap = text[end : min(next_link, end + _WINDOW)]
    if BREAK in gap[len(gap.rstrip()) :]:  # the next link begins a line of its own
        after = gap
    after = " ".join(after.split())
    if not has_words(before):
        after = after.lstrip(_BEFORE_CONTEXT)
        return clip(after, MAX_CONTEXT) if has_words(after) else ""
    before = " ".join(before.split())
    if len(before) > _BEFORE:
        before = before[-_BEFORE:].partition(" ")[2]
    own = clip(" ".join(text[start : min(end, start + _WINDOW)].split()), MAX_CONTEXT // 2)
    joint = "" if after[:1] in ",.;:!?)" else " "
    return f"{before} {own}{joint}{clip(after, _AFTER)}".strip()


def clip(text: str, length: int) -> str:
    """Cut a text to a length, between words if possible."""
    if len(text) <= length:
        return text
    cut = text[: length + 1].rfind(" ")
    return text[: cut if cut > length // 2 else length]


def heading_text(pieces: list[str]) -> str:
    """Return the text of a heading, without the signs after it."""
    return clip(_AFTER_HEADING.sub("", " ".join("".join(pieces).split())), MAX_HEADING)


def is_bold_heading(pieces: list[str], start: int, bold: list[tuple[int, int]]) -> bool:
    """Return whether the pieces from `start` on are a short line, all in bold type, that doesn't end like a
    sentence."""
    text = "".join(pieces[start:])
    heading = " ".join(text.split())
    if len(heading) > MAX_BOLD_HEADING or not has_words(heading) or heading[-1] in ".,;":
        return False
    in_bold = "".join("".join(pieces[first:end]) for first, end in bold if first >= start)
    return "".join(in_bold.split()).rstrip(":") == "".join(text.split()).rstrip(":")


class Element:
    """An open element that delimits groups, and the state to restore when it closes."""

    __slots__ = ("group", "heading", "kind", "links", "list_depth", "name", "pieces", "region", "term")

    def __init__(self, name: str, kind: int, region: bool, text: "RunningText") -> None:
        self.name, self.kind, self.region = name, kind, region
        self.heading, self.group = text.heading, text.group
        self.list_depth, self.term = text.list_depth, text.term
        self.links, self.pieces = len(text.links), len(text.pieces)


class RunningText:
    """Text, links and headings in page order. A *paragraph* is the smallest item, cell, paragraph or line."""

    __slots__ = (  # with over 30 attributes, objects with a dictionary are 5 % slower
        *("after_list", "boilerplate", "bold", "bold_from", "bold_groups", "cut_from", "cuts", "group", "groups"),
        *("heading", "line_from", "link", "link_depth", "link_from", "link_alternative", "link_title", "links"),
        *("list_depth", "open_heading", "pieces", "spans", "stack", "term", "unit", "words"),
    )

    def __init__(self) -> None:
        self.links: list[Link] = []  # `block` is the number of the group until sections are numbered
        self.groups = [LinkGroup("")]
        self.group = self.bold_groups = 0
        self.heading = ""
        self.after_list = False  # words begin a new group
        self.stack: list[Element] = []
        self.list_depth = 0
        self.term: tuple[str, int] | None = None  # the open <dt>: its words, and the number of links before it
        self.boilerplate = 0  # number of open boilerplate elements
        self.cuts: list[tuple[int, int]] = []  # ranges of pieces in boilerplate
        self.cut_from = 0
        # All text, in pieces. The open paragraph begins at `unit`, its last line at `line_from`. `words` is set if
        # it has more than plain links and white space.
        self.pieces: list[str] = [BREAK]
        self.unit = self.line_from = 1
        self.spans: list[Span] = []
        self.bold: list[tuple[int, int]] = []
        self.bold_from = -1
        self.words = False
        # The open link: its first piece, the height of the stack where it began, a heading in it, an alternative text.
        self.link: Link | None = None
        self.link_from = self.link_depth = 0
        self.link_title = self.link_alternative = ""
        # The open heading: its level, first piece, first link and the height of the stack.
        self.open_heading: tuple[int, int, int, int] | None = None

    def flush(self) -> None:
        """End the paragraph."""
        pieces = self.pieces
        if len(pieces) > self.unit:
            if self.words:
                self.words = False
                if self.spans or self.bold or self.bold_from >= 0 or self.link is not None:
                    self.end_words()
            pieces.append(BREAK)
            self.unit = len(pieces)
        if self.spans:
            self.spans.clear()
        if self.bold:
            self.bold.clear()

    def end_words(self) -> None:
        """End a paragraph with words: set the contexts of its links, or take it as a heading in bold type."""
        if self.link is not None:
            self.spans.append((max(self.link_from, self.unit), len(self.pieces), self.link))
        elif self.bold and self.line_from > self.unit:
            self.split_off_bold_line()
        if self.spans:
            if not self.boilerplate:
                set_contexts(self.pieces[self.unit :], self.spans, self.unit)
        elif self.bold or self.bold_from >= 0:
            if self.bold_from >= 0:
                self.bold.append((max(self.bold_from, self.unit), len(self.pieces)))
            if not self.list_depth and is_bold_heading(self.pieces, self.unit, self.bold):
                self.begin_group(" ".join("".join(self.pieces[self.unit :]).split()), bold=True)

    def line(self, _source: str = "") -> None:
        """Begin or end a line or paragraph. Within an item or a heading the paragraph continues."""
        if self.list_depth or self.open_heading is not None:
            self.pieces.append(BREAK)
        else:
            self.flush()

    def line_break(self, _source: str) -> None:
        """`<br>`: text before it in bold type may be a heading."""
        if self.bold:
            if self.line_from > self.unit:
                self.split_off_bold_line()
            if not self.spans:
                self.line()
                return
            self.bold.clear()
        self.pieces.append(BREAK)
        self.line_from = len(self.pieces)

    def split_off_bold_line(self) -> None:
        """If the last line is a heading in bold type, end the paragraph before it."""
        start = self.line_from
        is_open = self.link is not None or self.open_heading is not None or self.bold_from >= 0
        if is_open or self.list_depth or (self.spans and self.spans[-1][1] > start):
            return
        if is_bold_heading(self.pieces, start, self.bold):
            if not self.boilerplate:
                set_contexts(self.pieces[self.unit : start], self.spans, self.unit)
            self.spans.clear()
            self.unit = start

    def begin_group(self, heading: str, entry: int = 0, bold: bool = False) -> None:
        """Begin a group under this heading. The heading of an entry holds for the entry only."""
        self.groups.append(LinkGroup(heading, self.boilerplate > 0, entry, self.heading, bold))
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

    def enter_boilerplate(self) -> None:
        """Begin an element that is boilerplate."""
        if not self.boilerplate:
            self.cut_from = len(self.pieces)
        self.boilerplate += 1

    def leave_boilerplate(self) -> None:
        """End an element that is boilerplate."""
        self.boilerplate -= 1
        if not self.boilerplate:
            self.cuts.append((self.cut_from, len(self.pieces)))

    def main_text(self) -> list[str]:
        """Return the pieces of text outside boilerplate."""
        kept: list[str] = []
        start = 0
        for first, end in [*self.cuts, (len(self.pieces), 0)]:
            kept += self.pieces[start:first]
            start = end
        return kept

    def plain_link(self, href: str, further: str, text: str) -> None:
        """`<a href="…">text</a>`: the same as `begin_link` and `end_link`, but faster."""
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
        """`<a>`."""
        if self.link is not None:
            self.end_link()
        named = attributes(source)
        if "href" not in named or len(self.links) >= MAX_LINKS:
            return
        self.link = Link(named["href"], "", self.group, "", " ".join(named.get("rel", "").lower().split()))
        self.links.append(self.link)
        self.link_from = len(self.pieces)
        self.link_depth = len(self.stack)
        self.link_alternative = named.get("aria-label") or named.get("title") or ""

    def end_link(self, _source: str = "") -> None:
        """`</a>`, or the end of the element around the link."""
        link = self.link
        if link is None:
            return
        text = " ".join("".join(self.pieces[self.link_from :]).split())
        if self.link_title:  # a link around a heading and more: the rest is its context
            link.context = clip(text.replace(self.link_title, "", 1).strip(), MAX_CONTEXT)
            text, self.link_title = self.link_title, ""
        link.text = clip(text or " ".join(self.link_alternative.split()), MAX_ANCHOR)
        self.spans.append((max(self.link_from, self.unit), len(self.pieces), link))
        self.link = None

    def image(self, source: str) -> None:
        """`<img>`: its alternative text is used for a link without text."""
        if self.link is not None:
            self.set_alternative(attributes(source).get("alt", ""))

    def set_alternative(self, text: str) -> None:
        """Set the text to use if the open link has none. The first image comes before the title of the link."""
        if text.strip() and self.link_alternative[:1] != BREAK:
            self.link_alternative = BREAK + text

    def area(self, source: str) -> None:
        """`<area>`: a link in an image map."""
        named = attributes(source)
        if "href" in named and len(self.links) < MAX_LINKS:
            text = named.get("alt") or named.get("aria-label") or named.get("title") or ""
            rel = " ".join(named.get("rel", "").lower().split())
            self.links.append(Link(named["href"], clip(" ".join(text.split()), MAX_ANCHOR), self.group, "", rel))

    def begin_heading(self, _source: str, level: int) -> None:
        """`<h1>` … `<h6>`, `<summary>`, `<legend>`."""
        first = len(self.links) - (self.link is not None)
        if self.open_heading is not None and self.open_heading[0] >= SUMMARY_LEVEL:  # a heading inside a summary
            first = self.open_heading[2]
        else:
            self.end_heading()
        self.line()
        self.open_heading = (level, len(self.pieces), first, len(self.stack))

    def end_heading(self, _source: str = "") -> None:
        """Begin a group under the heading, unless it is the linked title of a list item."""
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
            is_entry = links_away and not has_words(text_outside_links(self.pieces[start:], self.spans, start))
        if heading and not (is_entry and self.list_depth):
            self.begin_group(heading, entry=level if is_entry else 0)
            for link in self.links[first:]:
                link.block = self.group
        self.line()
