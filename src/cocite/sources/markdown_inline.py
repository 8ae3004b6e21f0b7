"""Inline Markdown → plain text and links, in one pass and linear time.

The rules are CommonMark's, with GitHub's bare addresses; emphasis is only taken away. No construct is scanned twice:
brackets live on a stack, every other search ends at the next mark that could begin the same construct anew, or is
remembered as vain.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

from cocite.sources.markdown_text import (
    ENTITY,
    ESCAPED,
    TAG,
    attributes,
    entities,
    label,
    shortened,
    unescaped,
    without_tail,
)

LONGEST_TEXT = 1000
LONGEST_CONTEXT = 120
MAX_PARENTHESES = 8
"""CommonMark asks for 32, but every level lets the scans of two destinations overlap once more."""
MAX_LABEL = 999

_SPECIAL = re.compile(r"[\\`*_~\[\]<&\n]|!\[|https?://", re.IGNORECASE)
_SPECIAL_HTML = re.compile(r"[<&\n]")
_CODE = re.compile(r"`+")
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\x00-\x20<>]*+)>")
_BARE = re.compile(r"https?://[^\s<>\[\]`|]++", re.IGNORECASE)
_DESTINATION = re.compile(r"[()\\\x00-\x20]")
_POINTED = re.compile(r"<((?:[^<>\n\\]++|\\.)*+)>")
_TITLE = re.compile(r"\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+'|\((?:[^()\\]++|\\.)*+\)", re.DOTALL)
_SPACE = re.compile(r"[ \t\n]*+")
_LABEL = re.compile(r"\[((?:[^\[\]\\]++|\\.)*+)\]", re.DOTALL)
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
class _Opener:
    piece: int  # where its mark stands in the output
    start: int  # where its text begins in the input
    image: bool
    inner: bool = False  # whether brackets follow inside


@dataclass(slots=True)
class _Found:
    url: str
    text: str
    start: int  # output pieces that are the link's text
    end: int
    bare: bool = False


def scan(text: str, references: Mapping[str, str], only_html: bool = False) -> Inline:
    """The plain text and the links of one paragraph; `references` maps labels (see `label`) to destinations."""
    return _Scanner(text, references, only_html).run()


class _Scanner:
    def __init__(self, text: str, references: Mapping[str, str], only_html: bool) -> None:
        self.text = text
        self.references = references
        self.only_html = only_html
        self.special = _SPECIAL_HTML if only_html else _SPECIAL
        self.out: list[str] = []
        self.alts: dict[int, str] = {}  # pieces that stand for images
        self.stack: list[_Opener] = []
        self.active = 0  # brackets below this place in the stack enclose a link already
        self.emphasis: dict[str, list[tuple[int, int]]] = {"*": [], "_": [], "~": []}
        self.links: list[_Found] = []
        self.headings: list[tuple[int, InlineHeading]] = []
        self.anchor: tuple[str, int] | None = None
        self.heading: tuple[int, int] | None = None  # its level, and the piece it begins with
        self.code: dict[int, list[int]] | None = None
        self.vain: set[str] = set()  # ends that do not come any more
        self.steps = {
            "\\": self.backslash,
            "`": self.backtick,
            "*": self.mark,
            "_": self.mark,
            "~": self.mark,
            "[": self.open_bracket,
            "!": self.open_bracket,
            "]": self.close_bracket,
            "<": self.pointed,
            "&": self.ampersand,
            "\n": self.line_end,
            "h": self.bare_address,
            "H": self.bare_address,
        }

    def run(self) -> Inline:
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

    # One method for every mark: given its place, it writes to the output and says where to go on.

    def backslash(self, place: int) -> int:
        following = self.text[place + 1 : place + 2]
        if following == "\n":
            return self.literal(" ", place + 2)
        if following and ESCAPED.match(self.text, place):
            return self.literal(following, place + 2)
        return self.literal("\\", place + 1)

    def backtick(self, place: int) -> int:
        if self.code is None:
            self.code = {}
            for found in _CODE.finditer(self.text):
                self.code.setdefault(len(found[0]), []).append(found.start())
        run = _CODE.match(self.text, place)
        assert run is not None
        ends = self.code.get(len(run[0]), [])
        index = bisect_right(ends, place)
        if index == len(ends):
            return self.literal(run[0], run.end())
        return self.literal(self.text[run.end() : ends[index]].strip(), ends[index] + len(run[0]))

    def mark(self, place: int) -> int:
        """Emphasis: marks that pair up vanish, others stay."""
        mark = self.text[place]
        end = place + 1
        while self.text[end : end + 1] == mark:
            end += 1
        before, after = self.text[place - 1 : place] if place else " ", self.text[end : end + 1] or " "
        opens, closes = not after.isspace(), not before.isspace()
        if mark == "_":  # not inside of words
            opens, closes = opens and not before.isalnum(), closes and not after.isalnum()
        left = end - place
        openers = self.emphasis[mark]
        while closes and left and openers:
            piece, count = openers.pop()
            paired = min(count, left)
            left -= paired
            self.out[piece] = mark * (count - paired)
            if count > paired:
                openers.append((piece, count - paired))
        if left and opens:
            openers.append((len(self.out), left))
        return self.literal(mark * left, end)

    def open_bracket(self, place: int) -> int:
        image = self.text[place] == "!"
        end = place + 1 + image
        if self.stack:
            self.stack[-1].inner = True
        self.stack.append(_Opener(len(self.out), end, image))
        return self.literal(self.text[place:end], end)

    def close_bracket(self, place: int) -> int:
        if not self.stack:
            return self.literal("]", place + 1)
        opener = self.stack.pop()
        usable = opener.image or len(self.stack) >= self.active
        self.active = min(self.active, len(self.stack))
        target = self.target(opener, place) if usable else None
        if target is None:
            return self.literal("]", place + 1)
        url, end = target
        if opener.image:
            self.end_image(opener)
        else:
            while self.links and self.links[-1].bare and self.links[-1].start > opener.piece:
                self.links.pop()
            self.out[opener.piece] = ""
            self.add(url, opener.piece + 1)
            self.active = len(self.stack)
        return end

    def target(self, opener: _Opener, place: int) -> tuple[str, int] | None:
        """Destination and end of the link whose text ends at `place`."""
        following = self.text[place + 1 : place + 2]
        if following == "(" and (inline := self.inline_target(place + 2)):
            return inline
        own = self.text[opener.start : place] if not opener.inner and place - opener.start <= MAX_LABEL else ""
        end = place + 1
        if following == "[" and (found := _LABEL.match(self.text, place + 1, place + MAX_LABEL)):
            end = found.end()
            own = found[1] if found[1].strip() else own
        url = self.references.get(label(own)) if own and self.references else None
        return None if url is None else (url, end)

    def inline_target(self, place: int) -> tuple[str, int] | None:
        place = self.space(place)
        if found := _POINTED.match(self.text, place):
            url, place = found[1], found.end()
        else:
            start, place = place, self.destination_end(place)
            if place < 0:
                return None
            url = self.text[start:place]
        after = self.space(place)
        if after > place and (title := _TITLE.match(self.text, after)):
            after = self.space(title.end())
        if self.text[after : after + 1] != ")":
            return None
        return unescaped(url), after + 1

    def destination_end(self, place: int) -> int:
        """Where a destination without pointed brackets ends; -1 if its parentheses go too deep or are not closed."""
        depth = 0
        while found := _DESTINATION.search(self.text, place):
            mark, place = found[0], found.end()
            if mark == "\\":
                place += 1
            elif mark == "(":
                depth += 1
                if depth > MAX_PARENTHESES:
                    return -1
            elif mark == ")" and depth:
                depth -= 1
            else:
                return -1 if depth else found.start()
        return -1  # at least the link's own parenthesis is missing

    def space(self, place: int) -> int:
        found = _SPACE.match(self.text, place)
        return found.end() if found else place

    def end_image(self, opener: _Opener) -> None:
        """An image is one piece of output, empty; its text counts only where there is no other."""
        alt = self.plain(opener.piece + 1, len(self.out), LONGEST_TEXT)
        while self.links and self.links[-1].start > opener.piece:
            self.links.pop()
        for openers in self.emphasis.values():
            while openers and openers[-1][0] >= opener.piece:
                openers.pop()
        while self.alts and next(reversed(self.alts)) > opener.piece:
            self.alts.popitem()
        del self.out[opener.piece :]
        self.alts[opener.piece] = alt
        self.out.append("")

    def pointed(self, place: int) -> int:
        text = self.text
        if not self.only_html and (found := _AUTOLINK.match(text, place)):
            self.out.append(found[1])
            if not self.anchor:
                self.add(found[1], len(self.out) - 1)
            return found.end()
        if text.startswith("<!--", place):
            end = self.find("-->", place + 4)
            if end < 0 and self.only_html:
                return len(text)
            return end + 3 if end >= 0 else self.literal("<", place + 1)
        found = TAG.match(text, place)
        if not found:
            return self.literal("<", place + 1)
        return self.tag(found[2].lower(), bool(found[1]), found[3], found.end())

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
        elif name not in ("b", "i", "em", "strong", "code", "span", "sub", "sup", "u", "s", "kbd", "font", "small"):
            self.out.append(" ")
        return end

    def ampersand(self, place: int) -> int:
        found = ENTITY.match(self.text, place)
        if found:
            return self.literal(html.unescape(found[0]), found.end())
        return self.literal("&", place + 1)

    def line_end(self, place: int) -> int:
        return self.literal(" ", place + 1)

    def bare_address(self, place: int) -> int:
        found = _BARE.match(self.text, place)
        if not found or (place and self.text[place - 1].isalnum()):
            return self.literal(self.text[place], place + 1)
        url = without_tail(found[0])
        if not url.partition("://")[2][:1].isalnum():
            return self.literal(self.text[place], place + 1)
        self.out.append(entities(url))
        if not self.anchor:
            self.add(entities(url), len(self.out) - 1, bare=True)
        return place + len(url)

    # What has been found

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
        self.links.append(_Found(url, text, start, len(self.out), bare))

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
        items: list[tuple[int, int, _Found | InlineHeading]] = [(place, 0, heading) for place, heading in self.headings]
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
