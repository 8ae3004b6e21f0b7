"""Inline Markdown → plain text and links, in one pass and linear time.

The rules are CommonMark's, with GitHub's bare addresses; emphasis is only taken away. No construct is scanned twice:
brackets live on a stack, every other search ends at the next mark that could begin the same construct anew, or is
remembered as vain.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from cocite.sources.markdown.html import HtmlScanner, Inline
from cocite.sources.markdown.text import ESCAPED, LONGEST_TEXT, entities, label, unescaped, without_tail

MAX_PARENTHESES = 8
"""CommonMark asks for 32, but every level lets the scans of two destinations overlap once more."""
MAX_LABEL = 999

_CODE = re.compile(r"`+")
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\x00-\x20<>]*+)>")
_BARE = re.compile(r"https?://[^\s<>\[\]`|]++", re.IGNORECASE)
_DESTINATION = re.compile(r"[()\\\x00-\x20]")
_POINTED = re.compile(r"<((?:[^<>\n\\]++|\\.)*+)>")
_TITLE = re.compile(r"\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+'|\((?:[^()\\]++|\\.)*+\)", re.DOTALL)
_SPACE = re.compile(r"[ \t\n]*+")
_LABEL = re.compile(r"\[((?:[^\[\]\\]++|\\.)*+)\]", re.DOTALL)


@dataclass(slots=True)
class _Opener:
    piece: int  # where its mark stands in the output
    start: int  # where its text begins in the input
    image: bool
    inner: bool = False  # whether brackets follow inside


def scan(text: str, references: Mapping[str, str], only_html: bool = False) -> Inline:
    """The plain text and the links of one paragraph; `references` maps labels (see `label`) to destinations."""
    return HtmlScanner(text).run() if only_html else _Scanner(text, references).run()


class _Scanner(HtmlScanner):
    special = re.compile(r"[\\`*_~\[\]<&\n]|!\[|https?://", re.IGNORECASE)

    def __init__(self, text: str, references: Mapping[str, str]) -> None:
        super().__init__(text)
        self.references = references
        self.stack: list[_Opener] = []
        self.active = 0  # brackets below this place in the stack enclose a link already
        self.emphasis: dict[str, list[tuple[int, int]]] = {"*": [], "_": [], "~": []}  # pieces and lengths of openers
        self.code: dict[int, list[int]] | None = None  # places of runs of backticks, by length
        self.steps |= {"\\": self.backslash, "`": self.backtick, "*": self.mark, "_": self.mark, "~": self.mark}
        self.steps |= {"[": self.open_bracket, "!": self.open_bracket, "]": self.close_bracket}
        self.steps |= {"h": self.bare_address, "H": self.bare_address}

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
        found = _AUTOLINK.match(self.text, place)
        if not found:
            return super().pointed(place)
        self.out.append(found[1])
        if not self.anchor:
            self.add(found[1], len(self.out) - 1)
        return found.end()

    def unclosed(self, place: int) -> int:
        return self.literal("<", place + 1)

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
