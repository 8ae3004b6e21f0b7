"""The open elements that delimit groups of links: divisions, sections, lists, tables, navigation.

Elements are closed as a browser closes them, in constant time for each tag however deep they are nested.
"""

from __future__ import annotations

from cocite.sources.html.blocks import Group, is_boilerplate
from cocite.sources.html.running_text import Element, RunningText
from cocite.sources.html.text import MAX_HEADING, clip, heading_text
from cocite.sources.html.tokens import attributes

MIN_GROUP_LINKS = 5
"""Links in a division or a table cell that make it a group."""
MAX_DEPTH = 100_000
MAX_REGROUPED_DEPTH = 16
"""Nested tables, or terms. The links of deeper ones stay as they are: each level would go over them again."""

DIVISION, SECTION, REGION, LIST, TABLE, HIDDEN = range(6)
KINDS = {
    "div": DIVISION,
    **dict.fromkeys(("section", "article", "main", "details", "fieldset"), SECTION),
    **dict.fromkeys(("nav", "aside", "header", "footer"), REGION),
    **dict.fromkeys(("ul", "ol", "dl", "menu", "dir"), LIST),
    "table": TABLE,
    **dict.fromkeys(("template", "noscript"), HIDDEN),
}


class Table:
    """An open table: the height of the stack inside it, the number of links before the open cell, and more."""

    __slots__ = (
        *("bold_groups", "depth", "group", "heading", "level", "links", "outer", "row_heading"),
        *("special", "head_cell", "region_cell", "row_ended", "started"),
    )

    def __init__(self, page: OpenElements) -> None:
        self.depth, self.links = len(page.stack), len(page.links)
        self.group, self.heading = page.group, page.heading
        self.outer, self.bold_groups = page.table, page.bold_groups
        self.level: int = 1 + (self.outer.level if self.outer is not None else 0)
        self.special = self.region_cell = self.head_cell = self.row_ended = self.started = False
        self.row_heading = ""


class OpenElements(RunningText):
    """The open elements that delimit groups."""

    __slots__ = ("contents", "hidden", "places", "table")

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, list[int]] = {name: [] for name in KINDS}  # positions in the stack, by name
        self.table: Table | None = None
        self.contents = self.hidden = 0  # open <main> or <article>; <template> or <noscript>

    def open(self, name: str, kind: int, source: str) -> None:
        """Begin an element that delimits groups."""
        if len(self.stack) >= MAX_DEPTH:
            return
        region = kind == REGION or (bool(source) and kind != HIDDEN and is_boilerplate(source))
        if name == "header" and self.contents:
            region = False
        if region or kind in (LIST, TABLE):
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
            self.begin(clip(" ".join(label.split()), MAX_HEADING))
        self.opened(name, kind)

    def opened(self, name: str, kind: int) -> None:
        """Update the state for a new element of a kind."""
        if kind in (LIST, TABLE) and self.groups[self.group].entry:  # a heading above a list isn't an entry
            self.groups[self.group] = self.groups[self.group]._replace(entry=0)
        if kind == LIST:
            self.list_depth += 1
            self.term = None
        elif kind == TABLE:
            self.begin(self.heading)
            self.list_depth = 0
            self.table = Table(self)
        elif kind == HIDDEN:
            self.hidden += 1
        elif kind == SECTION:
            self.contents += name in ("main", "article")
            if not self.list_depth and name != "article":
                self.begin(self.heading)

    def close(self, name: str, _source: str = "") -> None:
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
            if element.region:
                self.close_region(element)

    def close_division(self, element: Element) -> None:
        """A division with enough links ends a group, and its heading no longer applies."""
        self.line()
        enough = len(self.links) - element.links >= MIN_GROUP_LINKS
        if enough and not self.list_depth and (self.links[-1].block == self.group or self.heading != element.heading):
            self.begin(element.heading)

    def close_section(self, element: Element) -> None:
        """A heading in a section applies to that section only."""
        self.line()
        self.contents -= element.name in ("main", "article")
        if self.list_depth:
            return
        self.heading = element.heading
        if not self.groups[self.group].entry:
            self.begin(element.heading)

    def close_region(self, element: Element) -> None:
        """End boilerplate. After a side bar, the group before it continues."""
        self.flush()
        self.leave_boilerplate()
        self.list_depth = element.list_depth
        self.heading = element.heading
        if self.list_depth or self.table is not None or element.name == "aside":
            self.group = element.group
        else:
            self.begin(element.heading)

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
                self.begin(element.heading)

    def close_table(self, element: Element) -> None:
        """End a table. The table, cell or list around it continues."""
        self.end_cell()
        assert self.table is not None
        self.table = self.table.outer
        self.list_depth = element.list_depth
        self.heading = element.heading
        if self.list_depth or self.table is not None:
            self.group = element.group
        else:
            self.begin(element.heading)

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
        self.groups.append(Group(heading, self.boilerplate > 0))
        for link in self.links[first:]:
            if link.block == group:
                link.block = len(self.groups) - 1

    def end_cell(self) -> None:
        """End the open cell, if any."""
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
        links = len(self.links)
        if (
            table.special
            or self.group != table.group
            or self.bold_groups != table.bold_groups
            or links - table.links >= MIN_GROUP_LINKS
        ):
            self.group_cell(table, links)
        table.links = links
        self.after_list = False
        self.bold_from = -1

    def group_cell(self, table: Table, links: int) -> None:
        """Enough links in a cell are a group. Fewer belong to the table."""
        if links - table.links >= MIN_GROUP_LINKS and table.level <= MAX_REGROUPED_DEPTH:
            self.regroup(table.links, table.group, table.row_heading or table.heading)
        elif self.bold_groups != table.bold_groups:
            self.ungroup(table)
        if table.special:
            if table.row_ended:
                table.row_heading = ""
            if table.region_cell:
                self.leave_boilerplate()
            table.special = table.head_cell = table.region_cell = table.row_ended = False
        self.group, self.heading = table.group, table.heading
        table.bold_groups = self.bold_groups

    def ungroup(self, table: Table) -> None:
        """Move links under a line in bold type back to the table: above a few links it isn't a heading."""
        boilerplate = self.groups[table.group].boilerplate
        for link in self.links[table.links : table.links + MIN_GROUP_LINKS]:
            number = link.block or 0
            group = self.groups[number]
            if group.bold and number > table.group and group.boilerplate == boilerplate:
                link.block = table.group


_CLOSERS = {
    DIVISION: OpenElements.close_division,
    SECTION: OpenElements.close_section,
    REGION: lambda _page, _element: None,  # `close_region` follows
    LIST: OpenElements.close_list,
    TABLE: OpenElements.close_table,
    HIDDEN: OpenElements.close_hidden,
}
