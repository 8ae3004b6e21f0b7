"""Markdown's blocks: a text → its paragraphs, headings and pieces of HTML in order, and its reference definitions.

CommonMark's container algorithm, without what says nothing about links: code is left out, lists and quotations are
only tracked to know where their paragraphs end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from cocite.sources.markdown.text import TAG, label, unescaped

MAX_DEPTH = 64
"""Lists and quotations in each other; what is deeper is read as text. A bound, because a blank line visits them all."""

QUOTE = 0  # a container; a list item is the positive number of columns to its content

_SPACES = re.compile(r" *+")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_HEADING = re.compile(r"(#{1,6})(?: |$)")
_UNDERLINE = re.compile(r"(?:=+|-+) *$")
_BREAK = re.compile(r"(?:(?:\* *+){3,}+|(?:- *+){3,}+|(?:_ *+){3,}+)$")
_ITEM = re.compile(r"([-+*]|(\d{1,9})[.)])( +|$)")
_TABLE = re.compile(r"[|: ]*-[-|: ]*")
_RAW = re.compile(r"<(script|pre|style|textarea)(?=[\s>]|$)", re.IGNORECASE)
_HTML = re.compile(
    r"</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl"
    r"|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main"
    r"|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title"
    r"|tr|track|ul)(?=[\s/>]|$)",
    re.IGNORECASE,
)
_TITLES = r"\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+'|\((?:[^()\\]++|\\.)*+\)"
_DEFINITION = re.compile(
    r"\[(?!\^)((?:[^\[\]\\]++|\\.){1,999}+)\]: *+\n? *+(?:<((?:[^<>\n\\]++|\\.)*+)>|([^\s<]\S*+))"
    rf"(?:(?: ++\n? *+| *+\n *+)(?:{_TITLES}))? *+(?:\n|\Z)",
    re.DOTALL,
)


class Leaf(NamedTuple):
    """A paragraph (level 0), a heading (its level), or HTML."""

    text: str
    level: int = 0
    html: bool = False


@dataclass
class Blocks:
    """What a Markdown text consists of."""

    leaves: list[Leaf] = field(default_factory=list)
    references: dict[str, str] = field(default_factory=dict)


def blocks(text: str) -> Blocks:
    """The leaves and reference definitions of a Markdown text."""
    parser = _Parser()
    for line in text.split("\n"):
        parser.line(line.rstrip("\r").expandtabs(4))
    parser.close_paragraph()
    parser.close_html()
    return parser.made


class _Parser:
    def __init__(self) -> None:
        self.made = Blocks()
        self.containers: list[int] = []
        self.paragraph: list[str] = []
        self.fence = ""  # the mark that opened the code we are in
        self.html: list[str] = []
        self.html_end = ""  # what ends the HTML we are in; empty for a blank line

    def line(self, line: str) -> None:
        matched, place = self.match(line)
        rest = line[place:]
        if matched < len(self.containers) and (self.fence or self.html):
            self.fence = ""
            self.close_html()
        if self.fence:
            self.code(rest)
        elif self.html:
            self.more_html(rest)
        elif not rest.strip():
            self.close_paragraph()
            if matched < len(self.containers) and QUOTE in self.containers[matched:]:
                del self.containers[matched:]
        else:
            self.open(rest, matched)

    def match(self, line: str) -> tuple[int, int]:
        """How many of the open containers go on in this line, and where their content begins."""
        place = 0
        blank = not line.strip()
        for number, container in enumerate(self.containers):
            indent = _indent(line, place)
            if container == QUOTE:
                if indent > 3 or line[place + indent : place + indent + 1] != ">":
                    return number, place
                place += indent + 1
                place += line[place : place + 1] == " "
                blank = not line[place:].strip()
            elif not blank:
                if indent < container:
                    return number, place
                place += container
        return len(self.containers), place

    def code(self, rest: str) -> None:
        mark = rest.strip()
        if _indent(rest, 0) < 4 and len(mark) >= len(self.fence) and not mark.strip(self.fence[0]):
            self.fence = ""

    def open(self, rest: str, matched: int) -> None:
        """A line that is not blank, not code and not HTML: begin what it begins, or go on with the paragraph."""
        while True:
            indent = _indent(rest, 0)
            text = rest[indent:]
            if indent >= 4:
                if not self.paragraph:  # indented code
                    del self.containers[matched:]
                    return
                break
            whole = matched == len(self.containers)
            if self.paragraph and whole and _UNDERLINE.match(text):
                above = self.without_definitions("\n".join(self.paragraph))
                self.paragraph = [] if above else [text]
                if above:
                    self.heading(above, 1 if text[0] == "=" else 2)
                return
            if self.leaf(text, matched):
                return
            inner = self.container(text, indent, matched)
            if inner is None:
                break
            matched, rest = len(self.containers), inner
            if not rest.strip():
                return
        if not self.paragraph:  # otherwise a lazy continuation keeps the containers open
            del self.containers[matched:]
        self.paragraph.append(text.rstrip())

    def leaf(self, text: str, matched: int) -> bool:
        """Whether the line is, or begins, something other than a paragraph or a container."""
        if fence := _FENCE.match(text):
            self.leave(matched)
            self.fence = fence[1] or fence[2]
        elif heading := _HEADING.match(text):
            self.leave(matched)
            self.heading(_without_closing(text[heading.end() :]), len(heading[1]))
        elif _BREAK.match(text):
            self.leave(matched)
        elif text[0] == "<" and (end := _html_end(text, bool(self.paragraph))) is not None:
            self.leave(matched)
            self.html_end = end
            self.more_html(text)
        else:
            return False
        return True

    def container(self, text: str, indent: int, matched: int) -> str | None:
        """What is inside the container that the line opens; None if it opens none."""
        if matched >= MAX_DEPTH:
            return None
        if text[0] == ">":
            self.leave(matched)
            self.containers.append(QUOTE)
            return text[2:] if text[1:2] == " " else text[1:]
        item = _ITEM.match(text)
        if not item:
            return None
        empty = not text[item.end() :]
        if self.paragraph and matched == len(self.containers) and (empty or item[2] not in (None, "1")):
            return None  # such an item cannot interrupt a paragraph
        self.leave(matched)
        space = len(item[3])
        space = space if 1 <= space <= 4 and not empty else 1
        self.containers.append(indent + len(item[1]) + space)
        return text[len(item[1]) + space :]

    def leave(self, matched: int) -> None:
        self.close_paragraph()
        del self.containers[matched:]

    def more_html(self, rest: str) -> None:
        if not self.html_end and not rest.strip():
            self.close_html()
            return
        self.html.append(rest)
        if self.html_end and self.html_end in rest.lower():
            self.close_html()

    def close_html(self) -> None:
        if self.html:
            self.made.leaves.append(Leaf("\n".join(self.html), html=True))
            self.html = []

    def heading(self, text: str, level: int) -> None:
        self.made.leaves.append(Leaf(text, level))

    def close_paragraph(self) -> None:
        if not self.paragraph:
            return
        lines, self.paragraph = self.paragraph, []
        if len(lines) > 1 and "|" in lines[0] and _TABLE.fullmatch(lines[1]):
            self.made.leaves.extend(Leaf(row) for row in [lines[0], *lines[2:]])
            return
        if text := self.without_definitions("\n".join(lines)):
            self.made.leaves.append(Leaf(text))

    def without_definitions(self, text: str) -> str:
        """A paragraph without the reference definitions it begins with, which are kept."""
        place = 0
        while text.startswith("[", place) and (found := _DEFINITION.match(text, place)):
            place = found.end()
            if found[1].strip():
                self.made.references.setdefault(label(found[1]), unescaped(found[2] or found[3] or ""))
        return text[place:]


def _indent(line: str, place: int) -> int:
    found = _SPACES.match(line, place)
    return found.end() - place if found else 0


def _without_closing(text: str) -> str:
    """An ATX heading's text without the marks that may close it."""
    text = text.strip()
    bare = text.rstrip("#")
    return bare.rstrip() if not bare or bare.endswith(" ") else text


def _html_end(text: str, in_paragraph: bool) -> str | None:
    """What ends the HTML that this line begins, empty for a blank line; None if it begins none."""
    if raw := _RAW.match(text):
        return f"</{raw[1].lower()}>"
    if text.startswith("<!--"):
        return "-->"
    if text.startswith("<?"):
        return "?>"
    if text.startswith("<!") and text[2:3].isalpha():
        return ">"
    if _HTML.match(text) or (not in_paragraph and (tag := TAG.match(text)) and not text[tag.end() :].strip()):
        return ""
    return None
