"""Links, sections and plain text of wikitext, the markup of MediaWiki.

Own code, since mwparserfromhell takes ten times as long: 1.2 MB/s against 12.7 MB/s of made-up articles on one core.

One pass over the marks finds links, headings, and the spans of templates and footnotes. Marks that don't match are
text, as in MediaWiki. Every step takes time in proportion to the text, however deep templates are nested.
"""

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import NamedTuple

MAX_TEXT = 1000  # characters of a link's text
MAX_TARGET = 4000  # characters of a title with marks around it that are looked at

_TOKEN = re.compile(
    r"""\[\[([^\[\]{}|<>\n]++)(?:\|([^\[\]{}|<>\n]*+))?\]\]   # 1, 2: a link without marks inside
    | \[((?:https?:)?//[^\s\[\]<>"{}|]++)([^\[\]\n]*+)\]        # 3, 4: a link to another site
    | \{(\{[^{}\[\]<]*+\}\})                                    # 5: a template without marks inside
    | \[(\[) | \](\]) | \{(\{++) | \}(\}++)                      # 6 to 9
    | <(/?)[rR][eE][fF]\b([^<>]*+)>                             # 10, 11
    | =(?<![^\n]=)(?=([^\n]*+))                                 # 12: perhaps a heading; links in it come next
    """,
    re.VERBOSE,
)
"""Every alternative begins with a character of its own: so `re` skips other text quickly, in half of the time."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_RAW = re.compile(
    r"<(/?)(nowiki|pre|math|chem|syntaxhighlight|source|score|timeline|graph|templatedata|hiero)\b([^<>]*+)>",
    re.IGNORECASE,
)
_SHOWN_RAW = ("nowiki", "pre")
_TRAIL = re.compile(r"[a-zà-öø-ÿа-яё]+")  # letters after a link that belong to its text: [[bus]]es
_MARKUP = re.compile(r"[\[{<&\n\t]|  |''")
_INNER_LINK = re.compile(r"\[\[(?:[^\[\]|]*+\|)?([^\[\]|]*+)\]\]")
_SIMPLE_TEMPLATE = re.compile(r"\{\{[^{}]*+\}\}")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*+>")
_QUOTES = re.compile(r"'{2,}")
_TABLE = re.compile(r"^(?:[ \t]*(?:\{\||\|\}|\|-|\|\+)[^\n]*|[|!](?:[^|\[\]\n]*+\|(?!\|))?)|\|\||!!", re.MULTILINE)
_LINE_BREAK = re.compile(r"\n[\s*#:;]*+")  # with the marks of lists, and empty lines
_SWITCH = re.compile(r"__[A-Z]++__")
_SPACES = re.compile(r"  ++")


class WikiLink(NamedTuple):
    """A link as it is written: the title or address that it leads to, and its text."""

    target: str
    text: str
    section: int
    external: bool  # an address, not a title
    hidden: bool  # in a template or a footnote


class WikiText(NamedTuple):
    """What a wikitext has. Section 0 is what comes before the first heading."""

    links: list[WikiLink]
    headings: list[str]  # of every section
    text: str


def parse(
    source: str,
    plain: bool = True,
    silent: Callable[[str], bool] = lambda title: False,
    unwanted: Callable[[str], bool] = lambda heading: False,
) -> WikiText:
    """Read a wikitext.

    `plain` is whether its text is wanted. Links to titles that are `silent` aren't text, and neither are the sections
    whose headings are `unwanted`.
    """
    source = _without_raw(_COMMENT.sub("", source) if "<!--" in source else source)
    reader = _Reader(source, silent)
    reader.read()
    return reader.result(plain, unwanted)


class _Reader:
    def __init__(self, source: str, silent: Callable[[str], bool]) -> None:
        self.source, self.silent = source, silent
        self.links: list[tuple[int, int, str, str, bool]] = []  # start, end, target, text, external
        self.headings: list[tuple[int, int, str]] = []  # start, end, text
        self.hidden: list[tuple[int, int]] = []  # spans of templates and footnotes
        self.dropped: list[tuple[int, int]] = []  # spans that are no text, though links in them count
        self.nested = False  # whether links aren't in order of their starts

    def read(self) -> None:
        """Find everything in one pass."""
        stack: list[tuple[str, int, int]] = []  # mark, start, and its length, or the links before it
        braces, footnote = 0, -1
        links = self.links
        for token in _TOKEN.finditer(self.source):
            kind, start = token.lastindex, token.start()
            match kind:
                case 1 | 2:
                    links.append((start, token.end(), token[1], token[2] or "", False))
                case 4:
                    links.append((start, token.end(), token[3], token[4], True))
                case 5:
                    self.hidden.append((start, token.end()))
                case 6:
                    stack.append(("[", start, len(links)))
                case 7:
                    if stack and stack[-1][0] == "[":
                        _, opened, before = stack.pop()
                        self.end_link(opened, token.end(), before)
                case 8:
                    stack.append(("{", start, token.end() - start))
                    braces += 1
                case 9:
                    length, end = token.end() - start, start
                    while braces and length > 1:
                        mark, opened, count = stack.pop()
                        if mark == "[":  # never closed: text
                            continue
                        taken = 3 if count > 2 and length > 2 else 2
                        end += taken
                        length -= taken
                        self.hidden.append((opened + count - taken, end))
                        if count - taken > 1:
                            stack.append(("{", opened, count - taken))
                        else:
                            braces -= 1
                case 11:
                    if token[10]:
                        if footnote >= 0:
                            self.hidden.append((footnote, token.end()))
                        footnote = -1
                    elif token[11].endswith("/"):
                        self.dropped.append(token.span())
                    elif footnote < 0:
                        footnote = start
                case 12:
                    line = f"={token[12]}".rstrip()
                    level = min(len(line) - len(line.lstrip("=")), len(line) - len(line.rstrip("=")), 6)
                    if level and line.strip("= \t"):
                        self.headings.append((start, start + len(line), line[level:-level].strip()))

    def end_link(self, start: int, end: int, links_before: int) -> None:
        """A link with marks inside has ended.

        Links may be inside each other, thousands deep: only the beginning of each is looked at. What a silent one has
        isn't kept.
        """
        limit = min(end - 2, start + 2 + MAX_TARGET)
        pipe = self.source.find("|", start + 2, limit)
        target, text = self.source[start + 2 : limit if pipe < 0 else pipe], ""
        if self.silent(target):
            self.dropped.append((start, end))
        elif len(self.links) > links_before or any(mark in target for mark in "[]{}<>\n") or len(target) == MAX_TARGET:
            return  # of links inside each other, the inner one counts
        elif pipe >= 0:
            text = self.source[pipe + 1 : end - 2]
        self.links.append((start, end, target, text, False))
        self.nested = True

    def result(self, plain: bool, unwanted: Callable[[str], bool]) -> WikiText:
        """Put links into their sections."""
        if self.nested:
            self.links.sort()
        hidden = _union(self.hidden)
        headings = list(_outside(hidden, self.headings))
        links, shown = list[WikiLink](), list[tuple[int, int, str]]()
        section, span, spans = 0, 0, len(hidden)
        for start, end, target, text, external in self.links:
            while section < len(headings) and headings[section][0] < start:
                section += 1
            while span < spans and hidden[span][1] <= start:
                span += 1
            label = label_of(text if external or text.strip() else target)
            if not external and (trail := _TRAIL.match(self.source, end)):
                label += trail[0]
                end = trail.end()
            links.append(WikiLink(target, label, section, external, span < spans and hidden[span][0] <= start))
            silent = ":" in target and self.silent(target)
            shown.append((start, end, "" if silent else label))
        ends = [start for start, _, _ in headings[1:]] + [len(self.source)]
        for (start, _, heading), end in zip(headings, ends, strict=False):
            if unwanted(heading):
                self.dropped.append((start, end))
        text = self.plain_text(hidden, headings, shown) if plain else ""
        return WikiText(links, ["", *(label_of(heading) for _, _, heading in headings)], text)

    def plain_text(
        self, hidden: list[tuple[int, int]], headings: list[tuple[int, int, str]], links: list[tuple[int, int, str]]
    ) -> str:
        """The text without marks, templates, footnotes and tables' attributes."""
        gaps = [(start, end, "") for start, end in _union([*hidden, *self.dropped])]
        edits = [*gaps, *links, *((start, end, f"{text}\n") for start, end, text in headings)]
        edits.sort(key=lambda edit: (edit[0], -edit[1]))  # of those that begin together, the longest first
        pieces, at = list[str](), 0
        for start, end, shown in edits:
            if start >= at:
                pieces += self.source[at:start], shown
                at = end
        pieces.append(self.source[at:])
        return plain("".join(pieces))


def label_of(text: str) -> str:
    """The text of a link or heading, without marks."""
    if len(text) < MAX_TEXT and not _MARKUP.search(text):
        return text.strip()
    text = _SIMPLE_TEMPLATE.sub("", text[: 4 * MAX_TEXT])
    text = _INNER_LINK.sub(r"\1", _QUOTES.sub("", unescape(_TAG.sub("", text))))
    return " ".join(text.split())[:MAX_TEXT]


def plain(text: str) -> str:
    """Text without the marks of tables, lists, emphasis and HTML."""
    if "\n|" in text or "\n!" in text or "{|" in text:
        text = _TABLE.sub(" ", text)
    text = _LINE_BREAK.sub("\n", _QUOTES.sub("", text))
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "&" in text:
        text = unescape(text)
    if "__" in text:
        text = _SWITCH.sub("", text)
    return _SPACES.sub(" ", text).strip("*#:; \n")


def _outside(spans: list[tuple[int, int]], marks: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """The marks that aren't inside one of the spans; both are in order."""
    at = 0
    for mark in marks:
        while at < len(spans) and spans[at][1] <= mark[0]:
            at += 1
        if at == len(spans) or mark[0] < spans[at][0]:
            yield mark


def _union(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, with those that overlap put together."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            if end > merged[-1][1]:
                merged[-1] = merged[-1][0], end
        else:
            merged.append((start, end))
    return merged


_MARKS = str.maketrans("[]{}<>=|'", " " * 9)


def _without_raw(source: str) -> str:
    """Take out formulas and code, and the marks of text that is to be shown as it is."""
    if not _RAW.search(source):
        return source
    unclosed: set[str] = set()  # tags that never end are text; each is found out once
    pieces, at, opened = list[str](), 0, None
    tokens = _RAW.finditer(source)
    while True:
        token = next(tokens, None)
        if token is None:
            if opened is None:
                return "".join([*pieces, source[at:]])
            unclosed.add(opened[2].lower())
            tokens, opened = _RAW.finditer(source, opened.end()), None
            continue
        name = token[2].lower()
        if opened is None:
            if token[1] or name in unclosed:
                continue
            pieces.append(source[at : token.start()])
            at = token.start()
            if token[3].endswith("/"):
                at = token.end()
            else:
                opened = token
        elif token[1] and name == opened[2].lower():
            content = source[opened.end() : token.start()]
            pieces.append(content.translate(_MARKS) if name in _SHOWN_RAW else " ")
            at, opened = token.end(), None
