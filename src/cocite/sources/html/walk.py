"""Read the tags of a page in one pass, and divide its links into sections.

The pass keeps a stack of the elements that matter (divisions, sections, lists, tables), closed as a browser closes
them, in constant time for each tag however deep they are nested. What a reader sees as one section:

- A heading begins a section. So do `<summary>`, `<legend>`, a rule, and a line in bold type.
- Paragraphs and the list after them are one section. Words after a list begin the next.
- A list with its sub-lists is one section, unless headings divide it or a term (`<dt>`) has two or more links under it.
- A table is one section. A cell with `MIN_GROUP_LINKS` links, as in tables used for layout, is a section of its own.
- Navigation, page header, footer and side bar are sections of their own, and boilerplate.
- The end of a division with `MIN_GROUP_LINKS` links ends a section.

While a page is read, a section is a *group*: `blocks.py` merges groups that belong together, and numbers the sections.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial
from html import unescape

from cocite.sources.html.blocks import LinkGroup, is_boilerplate
from cocite.sources.html.running_text import BREAK, MAX_HEADING, Element, RunningText, clip, has_words, heading_text
from cocite.sources.html.tokens import attributes, raw_content

MIN_GROUP_LINKS = 5  # links in a division or a table cell that make it a group
MAX_DEPTH = 100_000
MAX_HEAD_ELEMENTS = 1000
MAX_REGROUPED_DEPTH = 16
"""Nested tables, or terms. The links of deeper ones stay as they are: each level would go over them again."""

_DIVISION, _SECTION, _REGION, _LIST, _TABLE, _HIDDEN = range(6)
ELEMENT_KINDS = {
    "div": _DIVISION,
    **dict.fromkeys(("section", "article", "main", "details", "fieldset"), _SECTION),
    **dict.fromkeys(("nav", "aside", "header", "footer"), _REGION),
    **dict.fromkeys(("ul", "ol", "dl", "menu", "dir"), _LIST),
    "table": _TABLE,
    **dict.fromkeys(("template", "noscript"), _HIDDEN),
}
_WANTED = re.compile(r"canonical|robots|refresh", re.IGNORECASE)


class Table:
    """An open table and its open cell. `links` is the number of links before the cell, `depth` the stack's height."""

    def __init__(self, page: "PageWalk") -> None:
        self.depth, self.links = len(page.stack), len(page.links)
        self.group, self.heading = page.group, page.heading
        self.outer, self.bold_groups = page.table, page.bold_groups
        self.level: int = 1 + (self.outer.level if self.outer is not None else 0)
        self.needs_reset = self.region_cell = self.head_cell = self.row_ended = self.started = False
        self.row_heading = ""


class PageWalk(RunningText):
    """The pass over all tags. `read` runs it; the methods after it handle one kind of tag each."""

    __slots__ = ("drawings", "head", "hidden", "open_articles", "places", "table", "title")

    def __init__(self) -> None:
        super().__init__()
        self.head: list[tuple[str, dict[str, str]]] = []  # attributes of <html>, <base>, <link> and <meta>
        self.title: str | None = None
        self.places: dict[str, list[int]] = {name: [] for name in ELEMENT_KINDS}  # positions in the stack, by name
        self.table: Table | None = None
        self.open_articles = self.hidden = self.drawings = (
            0  # open <main> or <article>; <template> or <noscript>; <svg>
        )

    def read(self, chunks: Iterable[list[str | None]]) -> None:
        """Read all tokens of a page."""
        for parts in chunks:
            self.read_some(parts)
        for element in self.stack:
            if element.name == "noscript":  # never closed: keep the rest of the page
                element.kind = _DIVISION
        self.close_to(0)
        self.end_heading()
        self.end_link()
        self.flush()

    def read_some(self, parts: list[str | None]) -> None:
        """Read one list of tokens."""
        take, pieces, handler_for = iter(parts), self.pieces, HANDLERS.get
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
                            self.begin_group(self.heading)
                        self.words = True
                    pieces.append(text)
                elif pieces[-1] is not BREAK:  # white space at the beginning of a line is dropped
                    pieces.append(text)

    def open(self, source: str, name: str, kind: int) -> None:
        """Begin an element that delimits groups."""
        if len(self.stack) >= MAX_DEPTH:
            return
        region = kind == _REGION or (bool(source) and kind != _HIDDEN and is_boilerplate(source))
        if name == "header" and self.open_articles:
            region = False
        if region or kind in (_LIST, _TABLE):
            self.end_heading()
            self.flush()
        else:
            self.line()
        self.places[name].append(len(self.stack))
        self.stack.append(Element(name, kind, region, self))
        if region:
            self.enter_boilerplate()
            self.list_depth = 0
            label = attributes(source).get("aria-label", "") if source else ""
            self.begin_group(clip(" ".join(label.split()), MAX_HEADING))
        if kind in (_LIST, _TABLE) and self.groups[self.group].entry:  # a heading above a list isn't an entry
            self.groups[self.group] = self.groups[self.group]._replace(entry=0)
        if kind == _LIST:
            self.list_depth += 1
            self.term = None
        elif kind == _TABLE:
            self.begin_group(self.heading)
            self.list_depth = 0
            self.table = Table(self)
        elif kind == _HIDDEN:
            self.hidden += 1
        elif kind == _SECTION:
            self.open_articles += name in ("main", "article")
            if not self.list_depth and name != "article":
                self.begin_group(self.heading)

    def close(self, _source: str, name: str) -> None:
        """End tag: close the innermost element of its name in this table cell, and all elements inside it."""
        places = self.places[name]
        if places and places[-1] >= (self.table.depth - (name == "table") if self.table is not None else 0):
            self.close_to(places[-1])

    def close_to(self, depth: int) -> None:
        """Close elements until the stack has this height. A link or heading ends with the element around it."""
        while len(self.stack) > depth:
            if self.open_heading is not None and self.open_heading[3] >= len(self.stack):
                self.end_heading()
            if self.link is not None and self.link_depth >= len(self.stack):
                self.end_link()
            element = self.stack.pop()
            self.places[element.name].pop()
            _CLOSERS[element.kind](self, element)
            if element.region:  # boilerplate ends
                self.flush()
                self.leave_boilerplate()
                self.end_inner(element, element.name == "aside")

    def end_inner(self, element: Element, continues: bool = False) -> None:
        """Return to the list, cell or group around an element. After a side bar, the group before it continues."""
        self.list_depth = element.list_depth
        self.heading = element.heading
        if self.list_depth or self.table is not None or continues:
            self.group = element.group
        else:
            self.begin_group(element.heading)

    def close_division(self, element: Element) -> None:
        """A division with enough links ends a group, and its heading no longer applies."""
        self.line()
        enough = len(self.links) - element.links >= MIN_GROUP_LINKS
        if enough and not self.list_depth and (self.links[-1].block == self.group or self.heading != element.heading):
            self.begin_group(element.heading)

    def close_section(self, element: Element) -> None:
        """A heading in a section applies to that section only."""
        self.line()
        self.open_articles -= element.name in ("main", "article")
        if not self.list_depth:
            self.heading = element.heading
            if not self.groups[self.group].entry:
                self.begin_group(element.heading)

    def close_list(self, element: Element) -> None:
        """End a list. Words after the outermost list begin another group."""
        self.end_heading()
        self.flush()
        self.end_term()
        self.term = element.term
        self.list_depth -= 1
        if not self.list_depth:
            self.heading = element.heading
            if self.group == element.group:
                self.after_list = True
            else:
                self.begin_group(element.heading)

    def close_table(self, element: Element) -> None:
        """End a table. The table, cell or list around it continues."""
        self.end_cell()
        assert self.table is not None
        self.table = self.table.outer
        self.end_inner(element)

    def close_hidden(self, element: Element) -> None:
        """Forget the content of a template or `<noscript>`, which browsers don't show."""
        self.hidden -= 1
        if self.link is not None and len(self.links) > element.links and self.link is self.links[-1]:
            self.link = None
        kept = element.pieces
        del self.pieces[kept:]
        self.unit, self.line_from = min(self.unit, kept), min(self.line_from, kept)
        for made in (self.spans, self.bold, self.cuts):
            while made and made[-1][1] > kept:
                made.pop()
        del self.links[element.links :]
        self.heading, self.group = element.heading, element.group

    def item(self, _source: str) -> None:
        """`<li>`, `<dd>`: end the item before, and begin one."""
        if self.open_heading is not None:
            self.end_heading()
        stack = self.stack
        while stack and stack[-1].kind == _DIVISION and self.list_depth:
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

    def end_term(self) -> None:
        """A term without a link, and with at least two links under it, is the heading of a group."""
        if self.term is None or not self.term[0]:
            return
        heading, first = self.term
        self.term = None
        if len(self.links) - first >= 2 and self.list_depth <= MAX_REGROUPED_DEPTH:
            self.regroup(first, self.group, heading)

    def regroup(self, first: int, group: int, heading: str) -> None:
        """Move the links of a group from number `first` on to a new group."""
        self.groups.append(LinkGroup(heading, self.boilerplate > 0))
        for link in self.links[first:]:
            if link.block == group:
                link.block = len(self.groups) - 1

    def row(self, _source: str) -> None:
        """`<tr>`: the head cell of the row before no longer applies once that row's last cell has ended."""
        table = self.table
        if table is not None:
            if table.row_heading or table.head_cell:
                table.needs_reset = table.row_ended = True
            if not table.started:
                table.started = True
                table.group, table.heading = self.group, self.heading  # a heading in the table before its rows

    def cell(self, source: str, head: bool = False) -> None:
        """`<td>`, `<th>`."""
        if self.table is None:
            self.flush()
            return
        self.end_cell()
        if source and is_boilerplate(source):
            self.table.needs_reset = self.table.region_cell = True
            self.enter_boilerplate()
            self.begin_group("")
        if head:
            self.table.needs_reset = self.table.head_cell = True

    def end_cell(self) -> None:
        """End the open cell, if any. Enough links in a cell are a group, fewer belong to the table."""
        table = self.table
        assert table is not None
        if self.open_heading is not None:
            self.end_heading()
        if len(self.stack) > table.depth:
            self.close_to(table.depth)
        if self.link is not None and self.link_depth >= table.depth:
            self.end_link()
        if table.head_cell and table.links == len(self.links):
            table.row_heading = heading_text(self.pieces[self.unit :])
        self.flush()
        enough = len(self.links) - table.links >= MIN_GROUP_LINKS
        has_bold = self.bold_groups != table.bold_groups
        if enough and table.level <= MAX_REGROUPED_DEPTH:
            self.regroup(table.links, table.group, table.row_heading or table.heading)
        elif has_bold:
            self.ungroup(table)
        if table.needs_reset or enough or has_bold or self.group != table.group:
            self.group, self.heading, table.bold_groups = table.group, table.heading, self.bold_groups
        if table.needs_reset:
            if table.row_ended:
                table.row_heading = ""
            if table.region_cell:
                self.leave_boilerplate()
            table.needs_reset = table.head_cell = table.region_cell = table.row_ended = False
        table.links = len(self.links)
        self.after_list = False
        self.bold_from = -1

    def ungroup(self, table: Table) -> None:
        """Move links under a line in bold type back to the table: above a few links it isn't a heading."""
        boilerplate = self.groups[table.group].boilerplate
        for link in self.links[table.links : table.links + MIN_GROUP_LINKS]:
            number = link.block or 0
            group = self.groups[number]
            if group.bold and number > table.group and group.boilerplate == boilerplate:
                link.block = table.group

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
            self.begin_group(self.heading)

    def raw(self, raw: str) -> None:
        """An element without tags inside: the title of the page, or of a drawing in a link."""
        if raw[:5].lower() != "title" or self.hidden:
            return
        text = " ".join(raw_content(raw).split())
        if self.drawings:
            self.set_alternative(text)
        elif self.title is None:
            self.title = text

    def drawing(self, _source: str, step: int) -> None:
        """`<svg>`, `</svg>`."""
        self.drawings = max(0, self.drawings + step)

    def head_element(self, source: str, name: str) -> None:
        """`<html>`, `<base>`, and `<link>` or `<meta>`, called about."""
        wanted = name == "html" or (not self.hidden and (name == "base" or _WANTED.search(source)))
        if wanted and len(self.head) < MAX_HEAD_ELEMENTS:
            self.head.append((name, attributes(source)))


_CLOSERS = {
    _DIVISION: PageWalk.close_division,
    _SECTION: PageWalk.close_section,
    _REGION: lambda _page, _element: None,  # it ends as boilerplate
    _LIST: PageWalk.close_list,
    _TABLE: PageWalk.close_table,
    _HIDDEN: PageWalk.close_hidden,
}
HANDLERS: dict[str, Callable[[PageWalk, str], None]] = {
    "a": PageWalk.begin_link,
    "/a": PageWalk.end_link,
    "area": PageWalk.area,
    "img": PageWalk.image,
    "br": PageWalk.line_break,
    "hr": PageWalk.rule,
    **dict.fromkeys(("b", "strong"), PageWalk.begin_bold),
    **dict.fromkeys(("/b", "/strong"), PageWalk.end_bold),
    "li": PageWalk.item,
    "dt": PageWalk.begin_term,
    "dd": PageWalk.begin_description,
    "tr": PageWalk.row,
    "td": PageWalk.cell,
    "th": partial(PageWalk.cell, head=True),
    "/caption": PageWalk.caption,
    "svg": partial(PageWalk.drawing, step=1),
    "/svg": partial(PageWalk.drawing, step=-1),
    "html": partial(PageWalk.head_element, name="html"),
    "base": partial(PageWalk.head_element, name="base"),
    **dict.fromkeys(("link", "meta"), partial(PageWalk.head_element, name="about")),
}
"""Handlers by tag, in lower and upper case. Other tags are ignored."""

for _name, _kind in ELEMENT_KINDS.items():
    HANDLERS[_name] = lambda walk, source, name=_name, kind=_kind: walk.open(source, name, kind)  # type: ignore[misc]
    HANDLERS["/" + _name] = lambda walk, source, name=_name: walk.close(source, name)  # type: ignore[misc]
for _level, _name in enumerate(("h1", "h2", "h3", "h4", "h5", "h6", "summary", "legend"), 1):
    HANDLERS[_name], HANDLERS["/" + _name] = partial(PageWalk.begin_heading, level=_level), PageWalk.end_heading
for _name in ("p", "blockquote", "form", "center", "pre", "address", "figure", "figcaption"):
    HANDLERS[_name] = HANDLERS["/" + _name] = PageWalk.line
HANDLERS |= {name.upper(): handler for name, handler in HANDLERS.items()}
