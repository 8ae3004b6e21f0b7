"""Which open elements delimit groups of links: divisions, sections, lists, tables, navigation.

The elements are closed as a browser would close them, in constant time for each tag however deep they are nested.
"""

from __future__ import annotations

from cocite.sources.html.blocks import Group, is_boilerplate
from cocite.sources.html.context import clip
from cocite.sources.html.headings import MAX_HEADING, heading_text
from cocite.sources.html.lines import Frame, Lines
from cocite.sources.html.tokens import attributes

CROWD = 5
"""So many links are a group where a division or a cell holds them."""

MAX_DEPTH = 100_000
MAX_REGROUPED_DEPTH = 16
"""Tables in tables and terms in terms, deeper than any page needs them, would have their links gone over each time."""

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
    """An open table. `depth` is the height of the stack inside it, `links` counts those before the open cell."""

    __slots__ = (
        *("bold_groups", "depth", "group", "heading", "level", "links", "outer", "row_heading"),
        *("special", "head_cell", "region_cell", "row_ended", "started"),
    )

    def __init__(self, frames: Frames) -> None:
        self.depth, self.links = len(frames.stack), len(frames.links)
        self.group, self.heading = frames.group, frames.heading
        self.outer, self.bold_groups = frames.table, frames.bold_groups
        self.level: int = 1 + (self.outer.level if self.outer is not None else 0)
        self.special = self.region_cell = self.head_cell = self.row_ended = self.started = False
        self.row_heading = ""


class Frames(Lines):
    """The open elements that delimit groups."""

    __slots__ = ("contents", "hidden", "places", "table")

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, list[int]] = {name: [] for name in KINDS}  # where in the stack elements of a name are
        self.table: Table | None = None
        self.contents = self.hidden = 0  # open <main> or <article>; <template> or <noscript>

    def open(self, name: str, kind: int, source: str) -> None:
        """An element that delimits groups begins."""
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
        self.stack.append(Frame(name, kind, region, self))
        if region:
            self.enter_boilerplate()
            self.list_depth = 0
            label = attributes(source).get("aria-label", "") if source else ""
            self.begin(clip(" ".join(label.split()), MAX_HEADING))
        self.opened(name, kind)

    def opened(self, name: str, kind: int) -> None:
        """What the kind of a new element asks for."""
        if kind in (LIST, TABLE) and self.groups[self.group].entry:  # the heading of a list is no entry of one
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
        """An end tag closes the innermost element of its name in this cell, and all that is open inside."""
        places = self.places[name]
        if places and places[-1] >= (self.table.depth - (name == "table") if self.table is not None else 0):
            self.close_to(places[-1])

    def close_to(self, depth: int) -> None:
        """Close elements until the stack is this high; a link or heading ends with the element that it began in."""
        while len(self.stack) > depth:
            if self.open_heading is not None and self.open_heading[3] >= len(self.stack):
                self.end_heading()
            if self.link is not None and self.link_depth >= len(self.stack):
                self.end_link()
            frame = self.stack.pop()
            self.places[frame.name].pop()
            _CLOSERS[frame.kind](self, frame)
            if frame.region:
                self.close_region(frame)

    def close_division(self, frame: Frame) -> None:
        """A division with a crowd of links ends a group, and the heading in it holds no longer."""
        self.line()
        crowd = len(self.links) - frame.links >= CROWD
        if crowd and not self.list_depth and (self.links[-1].block == self.group or self.heading != frame.heading):
            self.begin(frame.heading)

    def close_section(self, frame: Frame) -> None:
        """Headings in a section hold for the section."""
        self.line()
        self.contents -= frame.name in ("main", "article")
        if self.list_depth:
            return
        self.heading = frame.heading
        if not self.groups[self.group].entry:
            self.begin(frame.heading)

    def close_region(self, frame: Frame) -> None:
        """Navigation and the like: what follows is content again, and after a side bar it goes on as before."""
        self.flush()
        self.leave_boilerplate()
        self.list_depth = frame.list_depth
        self.heading = frame.heading
        if self.list_depth or self.table is not None or frame.name == "aside":
            self.group = frame.group
        else:
            self.begin(frame.heading)

    def close_list(self, frame: Frame) -> None:
        """The outermost list ends; words that follow are another group."""
        self.end_heading()
        self.flush()
        self.end_term()
        self.term = frame.term
        self.list_depth -= 1
        if not self.list_depth:
            self.heading = frame.heading
            if self.group == frame.group:
                self.after_list = True
            else:
                self.begin(frame.heading)

    def close_table(self, frame: Frame) -> None:
        """A table ends; the table, cell or list around it goes on."""
        self.end_cell()
        assert self.table is not None
        self.table = self.table.outer
        self.list_depth = frame.list_depth
        self.heading = frame.heading
        if self.list_depth or self.table is not None:
            self.group = frame.group
        else:
            self.begin(frame.heading)

    def close_hidden(self, frame: Frame) -> None:
        """Nothing in a template or in `<noscript>` is shown by a browser: forget it."""
        self.hidden -= 1
        if self.link is not None and len(self.links) > frame.links and self.link is self.links[-1]:
            self.link = None
        kept = frame.pieces
        del self.pieces[kept:]
        self.unit, self.line_from = min(self.unit, kept), min(self.line_from, kept)
        for made in (self.spans, self.bold, self.cuts):
            while made and made[-1][1] > kept:
                made.pop()
        del self.links[frame.links :]
        self.heading, self.group = frame.heading, frame.group

    def end_term(self) -> None:
        """A term without a link of its own and with two links or more under it is the heading of a group."""
        if self.term is None or not self.term[0]:
            return
        heading, first = self.term
        self.term = None
        if len(self.links) - first >= 2 and self.list_depth <= MAX_REGROUPED_DEPTH:
            self.regroup(first, self.group, heading)

    def regroup(self, first: int, group: int, heading: str) -> None:
        """Links from number `first` on that are in this group become a group of their own."""
        self.groups.append(Group(heading, self.boilerplate > 0))
        for link in self.links[first:]:
            if link.block == group:
                link.block = len(self.groups) - 1

    def end_cell(self) -> None:
        """The open cell, if any, ends."""
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
            or links - table.links >= CROWD
        ):
            self.settle_cell(table, links)
        table.links = links
        self.after_list = False
        self.bold_from = -1

    def settle_cell(self, table: Table, links: int) -> None:
        """A crowd of links in a cell is a group, fewer belong to the table."""
        if links - table.links >= CROWD and table.level <= MAX_REGROUPED_DEPTH:
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
        """A line in bold type over a few links in a cell is no heading: they belong to the table."""
        boilerplate = self.groups[table.group].boilerplate
        for link in self.links[table.links : table.links + CROWD]:
            number = link.block or 0
            group = self.groups[number]
            if group.bold and number > table.group and group.boilerplate == boilerplate:
                link.block = table.group


_CLOSERS = {
    DIVISION: Frames.close_division,
    SECTION: Frames.close_section,
    REGION: lambda _frames, _frame: None,  # closed as any element with a region's name
    LIST: Frames.close_list,
    TABLE: Frames.close_table,
    HIDDEN: Frames.close_hidden,
}
