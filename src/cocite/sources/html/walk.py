"""One pass over a page's tags: which elements delimit groups of links.

The pass keeps a stack of the elements that matter (divisions, sections, lists, tables), closed as a browser would close
them; everything else is read as it comes. What a reader sees as one group:

- a heading begins one; so do `<summary>`, `<legend>`, a rule, and a line that is all in bold type;
- paragraphs and the list that follows them are one; words after a list begin the next;
- a list with all its sub-lists is one, unless headings divide it or a term (`<dt>`) has two links or more under it;
- a table is one, but a cell with `CROWD` links or more, as in tables made for layout, is one of its own;
- navigation, page header, footer and side bar are each one at least, and boilerplate;
- the end of a division that held `CROWD` links or more ends one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from html import unescape

from cocite.sources.html.blocks import is_boilerplate
from cocite.sources.html.context import BREAK, has_words
from cocite.sources.html.frames import DIVISION, KINDS, Frames
from cocite.sources.html.headings import heading_text
from cocite.sources.html.tokens import attributes, raw_content

MAX_HEAD = 1000
_WANTED = re.compile(r"canonical|robots|refresh", re.IGNORECASE)


class Walk(Frames):
    """The pass over all tags; `read` makes it, the other methods are its steps, one for each kind of tag."""

    __slots__ = ("drawings", "head", "title")

    def __init__(self) -> None:
        super().__init__()
        self.head: list[tuple[str, dict[str, str]]] = []  # what <html>, <base>, <link> and <meta> say about the page
        self.title: str | None = None
        self.drawings = 0  # open <svg>

    def read(self, chunks: Iterable[list[str | None]]) -> None:
        """Read all tokens of a page."""
        for parts in chunks:
            self.read_some(parts)
        self.finish()

    def read_some(self, parts: list[str | None]) -> None:
        """Read a list of tokens."""
        take = iter(parts)
        pieces = self.pieces
        step_for = STEPS.get
        text = next(take)
        if text:
            self.words = True
            pieces.append(unescape(text))
        for href, further, label, raw, name, source, text in zip(*[take] * 7, strict=True):
            if name is not None:
                step = step_for(name)
                if step is None and not name.islower():
                    step = step_for(name.lower())
                if step is not None:
                    step(self, source or "")
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
                elif pieces[-1] is not BREAK:  # white space where a line begins says nothing
                    pieces.append(text)

    def finish(self) -> None:
        """The input is over: close whatever is open."""
        for frame in self.stack:
            if frame.name == "noscript":  # never closed: a slip, and no reason to lose the page
                frame.kind = DIVISION
        self.close_to(0)
        self.end_heading()
        self.end_link()
        self.flush()

    def item(self, _source: str) -> None:
        """`<li>`, `<dd>`: an item begins, the one before ends."""
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
        """`<dd>`: the words before it, since `<dt>`, are the term."""
        text = heading_text(self.pieces[self.unit :])
        self.item(source)
        if self.term is not None and not self.term[0]:
            own = all(link.url.startswith("#") for link in self.links[self.term[1] :])
            self.term = (text, self.term[1]) if own and text else None

    def row(self, _source: str) -> None:
        """`<tr>`: the head cell of the row before holds no longer, once that row's last cell has ended."""
        table = self.table
        if table is not None:
            if table.row_heading or table.head_cell:
                table.special = table.row_ended = True
            if not table.started:
                table.started = True
                table.group, table.heading = self.group, self.heading  # a heading in a table, before its rows

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
        """`</caption>`: it names the table."""
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

    # ---------------------------------------------------------------------------------------- what is not running text
    def raw(self, raw: str) -> None:
        """An element without tags inside; only titles matter, the page's and those of drawings in links."""
        if raw[:5].lower() != "title" or self.hidden:
            return
        text = " ".join(raw_content(raw).split())
        if self.drawings:
            self.stand_in(text)
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
        if len(self.head) < MAX_HEAD:
            self.head.append(("html", attributes(source)))

    def base(self, source: str) -> None:
        """`<base>`."""
        if not self.hidden and len(self.head) < MAX_HEAD:
            self.head.append(("base", attributes(source)))

    def about(self, source: str) -> None:
        """`<link>`, `<meta>`."""
        if not self.hidden and len(self.head) < MAX_HEAD and _WANTED.search(source):
            self.head.append(("about", attributes(source)))


Step = Callable[[Walk, str], None]


def _opens(name: str, kind: int) -> Step:
    return lambda walk, source: walk.open(name, kind, source)


def _closes(name: str) -> Step:
    return lambda walk, _source: walk.close(name)


def _heads(level: int) -> Step:
    return lambda walk, _source: walk.begin_heading(level)


STEPS: dict[str, Step] = {
    "a": Walk.begin_link,
    "/a": Walk.end_link,
    "area": Walk.area,
    "img": Walk.image,
    "br": Walk.line_break,
    "hr": Walk.rule,
    "b": Walk.begin_bold,
    "strong": Walk.begin_bold,
    "/b": Walk.end_bold,
    "/strong": Walk.end_bold,
    "li": Walk.item,
    "dt": Walk.begin_term,
    "dd": Walk.begin_description,
    "tr": Walk.row,
    "td": Walk.cell,
    "th": Walk.head_cell,
    "/caption": Walk.caption,
    "svg": Walk.drawing,
    "/svg": Walk.end_drawing,
    "html": Walk.root,
    "base": Walk.base,
    "link": Walk.about,
    "meta": Walk.about,
}
"""What to do for a tag; for a tag that is not here there is nothing to do."""

for _name, _kind in KINDS.items():
    STEPS[_name], STEPS["/" + _name] = _opens(_name, _kind), _closes(_name)
for _level, _name in enumerate(("h1", "h2", "h3", "h4", "h5", "h6", "summary", "legend"), 1):
    STEPS[_name], STEPS["/" + _name] = _heads(_level), Walk.end_heading
for _name in ("p", "blockquote", "form", "center", "pre", "address", "figure", "figcaption"):
    STEPS[_name] = STEPS["/" + _name] = Walk.line
for _name in list(STEPS):
    STEPS[_name.upper()] = STEPS[_name]
