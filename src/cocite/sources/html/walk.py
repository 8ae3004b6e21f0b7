"""Read the tags of a page in one pass, and group its links.

The pass keeps a stack of the elements that matter (divisions, sections, lists, tables), closed as a browser closes
them. What a reader sees as one group:

- A heading begins a group. So do `<summary>`, `<legend>`, a rule, and a line in bold type.
- Paragraphs and the list after them are one group. Words after a list begin the next.
- A list with its sub-lists is one group, unless headings divide it or a term (`<dt>`) has at least two links under it.
- A table is one group. A cell with `MIN_GROUP_LINKS` links, as in tables used for layout, is a group of its own.
- Navigation, page header, footer and side bar are groups of their own, and boilerplate.
- The end of a division with `MIN_GROUP_LINKS` links ends a group.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from html import unescape

from cocite.sources.html.blocks import is_boilerplate
from cocite.sources.html.elements import DIVISION, KINDS, OpenElements
from cocite.sources.html.text import BREAK, has_words, heading_text
from cocite.sources.html.tokens import attributes, raw_content

MAX_HEAD_ELEMENTS = 1000
_WANTED = re.compile(r"canonical|robots|refresh", re.IGNORECASE)


class PageWalk(OpenElements):
    """The pass over all tags. `read` runs it; the other methods handle one kind of tag each."""

    __slots__ = ("drawings", "head", "title")

    def __init__(self) -> None:
        super().__init__()
        self.head: list[tuple[str, dict[str, str]]] = []  # attributes of <html>, <base>, <link> and <meta>
        self.title: str | None = None
        self.drawings = 0  # open <svg>

    def read(self, chunks: Iterable[list[str | None]]) -> None:
        """Read all tokens of a page."""
        for parts in chunks:
            self.read_some(parts)
        self.finish()

    def read_some(self, parts: list[str | None]) -> None:
        """Read one list of tokens."""
        take = iter(parts)
        pieces = self.pieces
        handler_for = HANDLERS.get
        text = next(take)
        if text:
            self.words = True
            pieces.append(unescape(text))
        for href, further, label, raw, name, source, text in zip(*[take] * 7, strict=True):
            if name is not None:
                handler = handler_for(name)
                if handler is None and not name.islower():
                    handler = handler_for(name.lower())
                if handler is not None:
                    handler(self, source or "")
            elif href is not None:
                self.plain_link(href, further or "", label or "")
            elif raw is not None:
                self.raw(raw)
            if text:
                if not text.isspace():
                    if "&" in text:
                        text = unescape(text)
                    if self.link is None:
                        if self.after_list and has_words(text):
                            self.begin(self.heading)
                        self.words = True
                    pieces.append(text)
                elif pieces[-1] is not BREAK:  # white space at the beginning of a line is dropped
                    pieces.append(text)

    def finish(self) -> None:
        """Close all open elements at the end of the input."""
        for element in self.stack:
            if element.name == "noscript":  # never closed: keep the rest of the page
                element.kind = DIVISION
        self.close_to(0)
        self.end_heading()
        self.end_link()
        self.flush()

    def item(self, _source: str) -> None:
        """`<li>`, `<dd>`: end the item before, and begin one."""
        if self.open_heading is not None:
            self.end_heading()
        stack = self.stack
        while stack and stack[-1].kind == DIVISION and self.list_depth:
            self.close_to(len(stack) - 1)
        if self.link is not None and self.link_depth >= len(stack):
            self.end_link()
        self.flush()

    def begin_term(self, source: str) -> None:
        """`<dt>`."""
        self.item(source)
        self.end_term()
        self.term = ("", len(self.links))

    def begin_description(self, source: str) -> None:
        """`<dd>`: the words between `<dt>` and this are the term."""
        text = heading_text(self.pieces[self.unit :])
        self.item(source)
        if self.term is not None and not self.term[0]:
            own = all(link.url.startswith("#") for link in self.links[self.term[1] :])
            self.term = (text, self.term[1]) if own and text else None

    def row(self, _source: str) -> None:
        """`<tr>`: the head cell of the row before no longer applies once that row's last cell has ended."""
        table = self.table
        if table is not None:
            if table.row_heading or table.head_cell:
                table.special = table.row_ended = True
            if not table.started:
                table.started = True
                table.group, table.heading = self.group, self.heading  # a heading in the table before its rows

    def cell(self, source: str) -> None:
        """`<td>`."""
        if self.table is None:
            self.flush()
            return
        self.end_cell()
        if source and is_boilerplate(source):
            self.table.special = self.table.region_cell = True
            self.enter_boilerplate()
            self.begin("")

    def head_cell(self, source: str) -> None:
        """`<th>`."""
        self.cell(source)
        if self.table is not None:
            self.table.special = self.table.head_cell = True

    def caption(self, _source: str) -> None:
        """`</caption>`: the heading of the table."""
        text = heading_text(self.pieces[self.unit :])
        self.flush()
        if self.table is not None and text:
            self.table.heading = self.heading = text
            self.groups[self.table.group] = self.groups[self.table.group]._replace(heading=self.heading)

    def rule(self, _source: str) -> None:
        """`<hr>`."""
        self.line()
        if not self.list_depth and self.links and self.links[-1].block == self.group:
            self.begin(self.heading)

    def raw(self, raw: str) -> None:
        """An element without tags inside: the title of the page, or of a drawing in a link."""
        if raw[:5].lower() != "title" or self.hidden:
            return
        text = " ".join(raw_content(raw).split())
        if self.drawings:
            self.set_alternative(text)
        elif self.title is None:
            self.title = text

    def drawing(self, _source: str) -> None:
        """`<svg>`."""
        self.drawings += 1

    def end_drawing(self, _source: str) -> None:
        """`</svg>`."""
        self.drawings = max(0, self.drawings - 1)

    def root(self, source: str) -> None:
        """`<html>`."""
        if len(self.head) < MAX_HEAD_ELEMENTS:
            self.head.append(("html", attributes(source)))

    def base(self, source: str) -> None:
        """`<base>`."""
        if not self.hidden and len(self.head) < MAX_HEAD_ELEMENTS:
            self.head.append(("base", attributes(source)))

    def about(self, source: str) -> None:
        """`<link>`, `<meta>`."""
        if not self.hidden and len(self.head) < MAX_HEAD_ELEMENTS and _WANTED.search(source):
            self.head.append(("about", attributes(source)))


Handler = Callable[[PageWalk, str], None]


def _opens(name: str, kind: int) -> Handler:
    return lambda walk, source: walk.open(name, kind, source)


def _closes(name: str) -> Handler:
    return lambda walk, _source: walk.close(name)


def _heads(level: int) -> Handler:
    return lambda walk, _source: walk.begin_heading(level)


HANDLERS: dict[str, Handler] = {
    "a": PageWalk.begin_link,
    "/a": PageWalk.end_link,
    "area": PageWalk.area,
    "img": PageWalk.image,
    "br": PageWalk.line_break,
    "hr": PageWalk.rule,
    "b": PageWalk.begin_bold,
    "strong": PageWalk.begin_bold,
    "/b": PageWalk.end_bold,
    "/strong": PageWalk.end_bold,
    "li": PageWalk.item,
    "dt": PageWalk.begin_term,
    "dd": PageWalk.begin_description,
    "tr": PageWalk.row,
    "td": PageWalk.cell,
    "th": PageWalk.head_cell,
    "/caption": PageWalk.caption,
    "svg": PageWalk.drawing,
    "/svg": PageWalk.end_drawing,
    "html": PageWalk.root,
    "base": PageWalk.base,
    "link": PageWalk.about,
    "meta": PageWalk.about,
}
"""Handlers by tag, in lower and upper case. Other tags are ignored."""

for _name, _kind in KINDS.items():
    HANDLERS[_name], HANDLERS["/" + _name] = _opens(_name, _kind), _closes(_name)
for _level, _name in enumerate(("h1", "h2", "h3", "h4", "h5", "h6", "summary", "legend"), 1):
    HANDLERS[_name], HANDLERS["/" + _name] = _heads(_level), PageWalk.end_heading
for _name in ("p", "blockquote", "form", "center", "pre", "address", "figure", "figcaption"):
    HANDLERS[_name] = HANDLERS["/" + _name] = PageWalk.line
for _name in list(HANDLERS):
    HANDLERS[_name.upper()] = HANDLERS[_name]
