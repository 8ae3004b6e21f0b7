"""The slow truth for `cocite.sources.html.page`: the same rules, read off a browser's tree, one node after the other.

Written for reading, not for speed or strange input: it recurses, and the tree builder behind it can be made to blow up.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field

import can_ada
from resiliparse.parse.html import DOMNode, HTMLTree, NodeType

from cocite.sources.html.blocks import has_boilerplate_name

CROWD = 5
ENTRY_LINKS = 4
LISTS = {"ul", "ol", "dl", "menu", "dir"}
SECTIONS = {"section", "article", "main", "details", "fieldset"}
REGIONS = {"nav", "aside", "header", "footer"}
HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6, "summary": 7, "legend": 8}
LINES = {"p", "blockquote", "form", "center", "pre", "address", "figure", "figcaption"}
UNSEEN = {
    "script",
    "style",
    "template",
    "noscript",
    "textarea",
    "title",
    "xmp",
    "iframe",
    "noembed",
    "noframes",
    "select",
}


@dataclass
class SlowLink:
    href: str
    rel: str
    group: int
    text: str = ""
    alt: str = ""
    instead: str = ""
    title: str = ""


@dataclass
class SlowGroup:
    heading: str
    boilerplate: bool
    entry: int = 0
    above: str = ""
    bold: bool = False


@dataclass
class Piece:
    text: str
    link: SlowLink | None
    bold: bool


def fold(text: str) -> str:
    return " ".join(text.split())


def words(text: str) -> bool:
    return re.search(r"[^\W\d_]{2}|[\u2e80-\uffdc]", text) is not None


def bold_heading(pieces: list[Piece]) -> bool:
    heading = fold("".join(piece.text for piece in pieces))
    plain = "".join(piece.text for piece in pieces if not piece.bold).strip(" \t\n\r\f:\xa0\x1f")
    short = len(heading) <= 100 and words(heading) and heading[-1] not in ".,;"
    return short and any(piece.bold for piece in pieces) and not plain


def heading_text(pieces: list[Piece]) -> str:
    text = re.sub(r"(\s*(\[[^\[\]]*\]|[¶#§🔗]))+$", "", fold("".join(piece.text for piece in pieces)))
    return text if len(text) <= 300 else text[: text[:301].rfind(" ")]


def attributes_of(node: DOMNode) -> dict[str, str]:
    return {name: node.getattr(name) or "" for name in node.attrs}


@dataclass
class SlowWalk:
    links: list[SlowLink] = field(default_factory=list)
    groups: list[SlowGroup] = field(default_factory=lambda: [SlowGroup("", False)])
    group: int = 0
    heading: str = ""
    boilerplate: int = 0
    after_list: bool = False
    items: int = 0  # lists around us, up to the next table or region
    cells: int = 0  # tables around us
    contents: int = 0
    in_heading: bool = False
    summary: list[int] | None = None  # an open <summary>: its first link, and whether a heading in it took its place
    link: SlowLink | None = None
    bold: bool = False
    unit: list[Piece] = field(default_factory=list)
    unit_links: bool = False  # a link is or ended in the unit
    line_at: int = 0  # where the present line begins in the unit
    line_links: bool = False  # a link is or ended in the line
    texts: list[str] = field(default_factory=list)

    # text
    def flush(self) -> None:
        self.split_line()
        text = "".join(piece.text for piece in self.unit)
        if not self.unit_links and not self.items and bold_heading(self.unit):
            self.begin(fold(text), bold=True)
        if not self.boilerplate:
            self.texts.append(text)
        self.unit.clear()
        self.line_at = 0
        self.unit_links = self.line_links = self.link is not None

    def split_line(self) -> None:
        last = self.unit[self.line_at :]
        inside = self.line_links or self.items or self.in_heading or self.link is not None or self.bold
        if self.line_at and not inside and bold_heading(last):
            del self.unit[self.line_at :]
            self.line_at = 0
            self.flush()
            self.unit += last

    def line_break(self) -> None:
        if any(piece.bold for piece in self.unit) and not self.bold:
            self.split_line()
            if not self.unit_links:
                self.line()
                return
        self.unit.append(Piece("\x1f", self.link, self.bold))
        self.line_at = len(self.unit)
        self.line_links = self.link is not None

    def line(self) -> None:
        if self.items or self.in_heading:
            self.unit.append(Piece("\x1f", self.link, self.bold))
        else:
            self.flush()

    def begin(self, heading: str, entry: int = 0, bold: bool = False) -> None:
        self.groups.append(SlowGroup(heading, self.boilerplate > 0, entry, self.heading, bold))
        self.group = len(self.groups) - 1
        self.after_list = False
        if not entry:
            self.heading = heading

    def add(self, text: str) -> None:
        if self.after_list and self.link is None and words(text):
            self.begin(self.heading)
        self.unit.append(Piece(text, self.link, self.bold))

    # tree
    def visit(self, node: DOMNode) -> None:
        for child in node.child_nodes:
            if child.type == NodeType.TEXT:
                self.add(child.value or "")
            elif child.type == NodeType.ELEMENT:
                self.element(child, child.tag.lower())

    def element(self, node: DOMNode, tag: str) -> None:
        if tag in UNSEEN:
            if tag in ("template", "noscript"):
                self.line()
            if tag == "title" and self.link is not None and not self.link.alt:  # of a drawing in a link
                self.link.alt = fold(node.text or "")
            return
        attributes = attributes_of(node)
        if tag == "header" and self.contents:
            region = False
        else:
            region = tag in REGIONS or has_boilerplate_name(attributes)
        if tag == "a" and "href" in attributes:
            self.read_link(node, attributes)
        elif tag == "area" and "href" in attributes:
            instead = fold(attributes.get("alt") or attributes.get("aria-label") or attributes.get("title") or "")
            self.links.append(
                SlowLink(attributes["href"], fold(attributes.get("rel", "").lower()), self.group, instead)
            )
        elif tag == "img":
            if self.link is not None and not self.link.alt:
                self.link.alt = fold(attributes.get("alt", ""))
        elif tag in HEADINGS:
            self.read_heading(node, HEADINGS[tag])
        elif tag in LISTS or tag in SECTIONS or tag in REGIONS or tag in ("div", "table"):
            self.read_container(node, tag, region, attributes)
        elif tag == "br":
            self.line_break()
        elif tag == "hr":
            self.line()
            if not self.items and self.links and self.links[-1].group == self.group:
                self.begin(self.heading)
        elif tag in ("b", "strong"):
            before, self.bold = self.bold, True
            self.visit(node)
            self.bold = before
        elif tag in LINES:
            self.line()
            self.visit(node)
            self.line()
        elif tag == "li":
            self.flush()
            self.visit(node)
            self.flush()
        else:
            self.visit(node)

    def read_link(self, node: DOMNode, attributes: dict[str, str]) -> None:
        instead = attributes.get("aria-label") or attributes.get("title") or ""
        link = SlowLink(attributes["href"], fold(attributes.get("rel", "").lower()), self.group, instead=fold(instead))
        self.links.append(link)
        outer, self.link = self.link, link
        self.unit_links = self.line_links = True
        self.visit(node)
        self.unit_links = self.line_links = True
        self.link = outer
        link.text = link.title or fold(visible(node)) or link.alt or link.instead

    def read_heading(self, node: DOMNode, level: int) -> None:
        outer = self.summary
        first = len(self.links) - (self.link is not None)
        if outer is not None:  # a heading within a summary takes its place
            first, outer[1] = outer[0], 1
        self.summary = [first, 0] if level >= 7 else None
        mine = self.summary
        self.line()
        start = len(self.unit)
        self.in_heading = True
        self.visit(node)
        self.summary = None
        if mine is not None and mine[1]:
            return
        self.in_heading = False
        heading = heading_text(self.unit[start:])
        for piece in self.unit:
            piece.bold = False
        if self.link is not None:
            self.link.title = heading
            entry = True
        else:
            own = "".join(piece.text for piece in self.unit[start:] if piece.link is None)
            entry = any(not link.href.startswith("#") for link in self.links[first:]) and not words(own)
        if heading and not (entry and self.items):
            self.begin(heading, entry=level if entry else 0)
            for link in self.links[first:]:
                link.group = self.group
        self.line()

    def read_container(self, node: DOMNode, tag: str, region: bool, attributes: dict[str, str]) -> None:
        if region or tag in LISTS or tag == "table":
            self.flush()
        else:
            self.line()
        items, heading, group, links = self.items, self.heading, self.group, len(self.links)
        if region:
            self.boilerplate += 1
            self.items = 0
            self.begin(fold(attributes.get("aria-label", "")))
        if (tag in LISTS or tag == "table") and self.groups[self.group].entry:
            self.groups[self.group].entry = 0
        if tag in LISTS:
            self.items += 1
            self.read_list(node, tag)
            self.flush()
            self.items -= 1
            if not self.items:
                self.heading = heading
                if self.group == group:
                    self.after_list = True
                else:
                    self.begin(heading)
        elif tag == "table":
            self.read_table(node)
            self.items, self.heading = items, heading
            if self.items or self.cells:
                self.group = group
            else:
                self.begin(heading)
        elif tag in SECTIONS:
            self.contents += tag in ("main", "article")
            if not self.items and tag != "article":
                self.begin(self.heading)
            self.visit(node)
            self.line()
            self.contents -= tag in ("main", "article")
            if not self.items:
                self.heading = heading
                if not self.groups[self.group].entry:
                    self.begin(heading)
        else:
            self.visit(node)
            self.line()
            crowd = tag not in REGIONS and not self.items and len(self.links) - links >= CROWD
            if crowd and (self.links[-1].group == self.group or self.heading != heading):
                self.begin(heading)
        if region:
            self.flush()
            self.boilerplate -= 1
            self.items, self.heading = items, heading
            if self.items or self.cells or tag == "aside":
                self.group = group
            else:
                self.begin(heading)

    def read_list(self, node: DOMNode, tag: str) -> None:
        term: tuple[str, int] | None = None

        def settle() -> None:
            if term is not None and term[0] and len(self.links) - term[1] >= 2:
                self.regroup(term[1], self.group, term[0])

        for child in flat(node, {"dt", "dd"}) if tag == "dl" else [node]:
            kind = child.tag if child.type == NodeType.ELEMENT else ""
            if kind == "dt":
                self.flush()
                settle()
                term = ("", len(self.links))
                self.visit(child)
                own = all(link.href.startswith("#") for link in self.links[term[1] :])
                text = heading_text(self.unit)
                term = (text, term[1]) if own and text else None
            elif kind == "dd":
                self.flush()
                self.visit(child)
            elif child is node:
                self.visit(node)
            elif kind:
                self.element(child, kind)
            elif child.type == NodeType.TEXT:
                self.add(child.value or "")
        self.flush()
        settle()

    def read_table(self, node: DOMNode) -> None:
        self.begin(self.heading)
        self.items = 0
        self.cells += 1
        group, heading, row = self.group, self.heading, ""
        for part in flat(node, {"tr", "td", "th", "caption"}):
            kind = part.tag if part.type == NodeType.ELEMENT else ""
            if kind == "caption":
                self.visit(part)
                caption = heading_text(self.unit)
                self.flush()
                if caption:
                    heading = self.heading = self.groups[group].heading = caption
            elif kind == "tr":
                row = ""
            elif kind in ("td", "th"):
                first = len(self.links)
                region = has_boilerplate_name(attributes_of(part))
                if region:
                    self.boilerplate += 1
                    self.begin("")
                self.visit(part)
                text = heading_text(self.unit)
                self.flush()
                count = len(self.links) - first
                if count >= CROWD:
                    self.regroup(first, group, row or heading)
                else:
                    for link in self.links[first:]:
                        made = self.groups[link.group]
                        same = made.boilerplate == self.groups[group].boilerplate
                        if made.bold and link.group > group and same:
                            link.group = group
                if kind == "th" and not count:
                    row = text
                self.boilerplate -= region
                self.group, self.heading, self.after_list, self.bold = group, heading, False, False
            elif part.type == NodeType.TEXT:
                self.add(part.value or "")
            elif kind:
                self.element(part, kind)
        self.flush()
        self.cells -= 1

    def regroup(self, first: int, group: int, heading: str) -> None:
        self.groups.append(SlowGroup(heading, self.boilerplate > 0))
        for link in self.links[first:]:
            if link.group == group:
                link.group = len(self.groups) - 1

    def blocks(self) -> tuple[list[int], list[str]]:
        order: list[int] = []
        for link in self.links:
            if link.group not in order:
                order.append(link.group)
        block: dict[int, int] = {}
        headings: list[str] = []
        run: tuple[int, str, bool] | None = None
        for number in order:
            group = self.groups[number]
            count = sum(link.group == number for link in self.links)
            entry = (group.entry, group.above, group.boilerplate) if group.entry and count <= ENTRY_LINKS else None
            if entry is not None and entry == run:
                headings[-1] = group.above
            else:
                headings.append(group.heading)
            run = entry
            block[number] = len(headings) - 1
        return [block[link.group] for link in self.links], headings


def flat(node: DOMNode, until: set[str]) -> list[DOMNode]:
    """The children of a node; row groups and rows are opened, so that rows come before their cells."""
    found: list[DOMNode] = []
    for child in node.child_nodes:
        if (
            child.type == NodeType.ELEMENT
            and child.tag in ("tbody", "thead", "tfoot", "tr", "div")
            and (child.tag != "div" or until == {"dt", "dd"})
        ):
            if child.tag == "tr":
                found.append(child)
            found += flat(child, until)
        else:
            found.append(child)
    return found


def visible(node: DOMNode) -> str:
    """The text that a browser shows of a node, with a space where a block begins or ends."""
    out: list[str] = []
    for child in node.child_nodes:
        if child.type == NodeType.TEXT:
            out.append(child.value or "")
        elif child.type == NodeType.ELEMENT and child.tag not in UNSEEN:
            block = child.tag in LISTS | SECTIONS | REGIONS | LINES | HEADINGS.keys() | {
                "div",
                "table",
                "td",
                "th",
                "li",
                "dt",
                "dd",
                "br",
                "tr",
            }
            out.append((" " if block else "") + visible(child) + (" " if block else ""))
    return "".join(out)


def slow_read(source: str, url: str) -> tuple[list[tuple[str, str, int, str, bool]], list[str], SlowWalk]:
    """Links as (address, text, block, rel, boilerplate) and the blocks' headings."""
    tree = HTMLTree.parse(source)
    base = can_ada.parse(url)
    declared = tree.document.query_selector("base[href]")
    if declared is not None:
        with contextlib.suppress(ValueError):
            base = base + declared.getattr("href")
    walk = SlowWalk()
    if tree.body is not None:
        walk.visit(tree.body)
    walk.flush()
    kept = []
    for link in walk.links:
        try:
            address = str(base + link.href)
        except ValueError:
            continue
        if address.startswith(("http:", "https:")):
            link.href = address
            kept.append(link)
    walk.links = kept
    blocks, headings = walk.blocks()
    rows = [
        (link.href, link.text, block, link.rel, walk.groups[link.group].boilerplate)
        for link, block in zip(walk.links, blocks, strict=True)
    ]
    return rows, headings, walk
