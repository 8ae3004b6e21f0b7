"""HTML within Markdown → plain text, links and headings, in one pass and linear time.

The scanner of inline Markdown is built on this one, which alone reads pieces that are HTML only.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from cocite.sources.markdown.text import ENTITY, LONGEST_CONTEXT, LONGEST_TEXT, TAG, attributes, shortened

_WITHIN_WORDS = frozenset(("b", "i", "em", "strong", "code", "span", "sub", "sup", "u", "s", "kbd", "font", "small"))
_LEADING = " \t\n-–—:;,.|)]*•·"


@dataclass(slots=True)
class InlineLink:
    """A link as it is written; `context` is what follows it up to the next link."""

    url: str
    text: str
    context: str = ""


@dataclass(slots=True)
class InlineHeading:
    """A heading in HTML."""

    text: str
    level: int


@dataclass(slots=True)
class Inline:
    """One paragraph, heading or piece of HTML: its plain text, its links and HTML's headings in order."""

    text: str = ""
    items: list[InlineLink | InlineHeading] = field(default_factory=list)


@dataclass(slots=True)
class Found:
    """A link and the pieces of output that are its text; `bare` if it was not marked as a link."""

    url: str
    text: str
    start: int
    end: int
    bare: bool = False


class HtmlScanner:
    """Reads a text from mark to mark; a step, given the mark's place, writes output and says where to go on."""

    special = re.compile(r"[<&\n]")

    def __init__(self, text: str) -> None:
        self.text = text
        self.out: list[str] = []
        self.alts: dict[int, str] = {}  # the texts of images, by the empty pieces that stand for them
        self.links: list[Found] = []
        self.headings: list[tuple[int, InlineHeading]] = []
        self.anchor: tuple[str, int] | None = None  # the open link's address, and the piece it begins with
        self.heading: tuple[int, int] | None = None  # the open heading's level, and the piece it begins with
        self.vain: set[str] = set()  # ends that do not come any more
        self.steps: dict[str, Callable[[int], int]] = {
            "<": self.pointed,
            "&": self.ampersand,
            "\n": self.line_end,
        }

    def run(self) -> Inline:
        """The whole text."""
        place = 0
        while found := self.special.search(self.text, place):
            start = found.start()
            if start > place:
                self.out.append(self.text[place:start])
            place = self.steps[self.text[start]](start)
        self.out.append(self.text[place:])
        self.end_anchor()
        self.end_heading()
        return self.result()

    def literal(self, text: str, place: int) -> int:
        self.out.append(text)
        return place

    def pointed(self, place: int) -> int:
        """A tag or a comment."""
        if self.text.startswith("<!--", place):
            end = self.find("-->", place + 4)
            return end + 3 if end >= 0 else self.unclosed(place)
        found = TAG.match(self.text, place)
        if not found:
            return self.literal("<", place + 1)
        return self.tag(found[2].lower(), bool(found[1]), found[3], found.end())

    def unclosed(self, place: int) -> int:
        """A comment that does not end hides the rest."""
        return len(self.text)

    def tag(self, name: str, closing: bool, rest: str, end: int) -> int:
        if name == "a":
            self.end_anchor()
            href = "" if closing else attributes(rest).get("href", "").strip()
            if href:
                self.anchor = href, len(self.out)
        elif name == "img":
            self.alts[len(self.out)] = attributes(rest).get("alt", "")[:LONGEST_TEXT]
            self.out.append("")
        elif name in ("script", "style") and not closing:
            last = self.find(f"</{name}", end)
            return last if last >= 0 else len(self.text)
        elif len(name) == 2 and name[0] == "h" and name[1] in "123456":
            self.end_heading()
            if not closing:
                self.heading = int(name[1]), len(self.out)
            self.out.append("\n")
        elif name not in _WITHIN_WORDS:
            self.out.append(" ")
        return end

    def ampersand(self, place: int) -> int:
        found = ENTITY.match(self.text, place)
        if found:
            return self.literal(html.unescape(found[0]), found.end())
        return self.literal("&", place + 1)

    def line_end(self, place: int) -> int:
        return self.literal(" ", place + 1)

    def find(self, end: str, place: int) -> int:
        """Where a text that closes something comes next; a search in vain is not repeated."""
        if end in self.vain:
            return -1
        found = self.text.find(end, place)
        if found < 0:
            self.vain.add(end)
        return found

    def add(self, url: str, start: int, bare: bool = False) -> None:
        text = self.plain(start, len(self.out), LONGEST_TEXT)
        self.links.append(Found(url, text, start, len(self.out), bare))

    def plain(self, start: int, end: int, longest: int) -> str:
        """The text of some pieces; the images' texts if there is no other."""
        text = shortened("".join(self.out[start:end]), longest)
        if text or not self.alts:
            return text
        return shortened(" ".join(self.alts[i] for i in range(start, end) if i in self.alts), longest)

    def end_anchor(self) -> None:
        if self.anchor:
            url, start = self.anchor
            self.anchor = None
            self.add(url, min(start, len(self.out)))

    def end_heading(self) -> None:
        if self.heading is not None:
            level, start = self.heading
            self.heading = None
            text = self.plain(min(start, len(self.out)), len(self.out), LONGEST_TEXT)
            self.headings.append((start, InlineHeading(text, level)))

    def result(self) -> Inline:
        items: list[tuple[int, int, Found | InlineHeading]] = [(place, 0, heading) for place, heading in self.headings]
        items += [(found.start, 1, found) for found in self.links]
        items.sort(key=lambda item: item[:2])
        made = Inline(" ".join("".join(self.out).split()))
        for index, (_, _, found) in enumerate(items):
            if isinstance(found, InlineHeading):
                made.items.append(found)
                continue
            following = items[index + 1][0] if index + 1 < len(items) else len(self.out)
            context = "".join(self.out[found.end : following]).lstrip(_LEADING)
            made.items.append(InlineLink(found.url, found.text, shortened(context, LONGEST_CONTEXT).rstrip(" |")))
        if not made.text and self.alts:
            made.text = self.plain(0, len(self.out), LONGEST_TEXT)
        return made
