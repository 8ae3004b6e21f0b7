"""Read plain Markdown fast: headings, paragraphs, lists, fenced code; links, wiki links, emphasis and code in them.

That is most of what people write, and markdown-it takes ten times as long for it. Whatever else a text has is left to
markdown-it: `split` returns None for a text with other blocks, and `spans` for a block with other marks. For the rest,
both agree with CommonMark; a test compares them with markdown-it.
"""

import re

from cocite.sources.wikis.notes import WIKI_LINK

TEXT_SPAN, CODE_SPAN, LINK_SPAN, WIKI_SPAN, BREAK_SPAN = range(5)
Span = tuple[int, str, str]  # kind; text, or the name of a note; address, or what a wiki link shows
Block = tuple[int, str]  # level of a heading, or 0; inline Markdown

MAX_LIST_DEPTH = 15
MAX_BLOCK = 20_000  # characters; markdown-it gets longer ones in parts

_TABS = re.compile(r"[ \t]*\t")
_HEADING = re.compile(r"(#{1,6})[ \t]+([^ \t].*)")
_ITEM = re.compile(r"(?:[-+*]|(\d{1,9})[.)])( {1,3})(?=[^ \t])")
_FENCE = re.compile(r"(`{3,}|~{3,})([^`]*)")
_RULE = re.compile(r"-{3,}|\*{3,}|_{3,}")
_OTHER_BLOCK = re.compile(
    r"[><]|#{1,6}(?:[ \t]|$)|`{3}|~{3}|=+$|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|[-*_][-*_ \t]*$|[-:|][-:| \t]*$"
)
"""How quotations, HTML, rules, tables, items within items, indented headings and code begin."""

_AFTER, _BEFORE = r"(?:(?<=[\s(\"',.:;?—–-])|(?<!.))", r"(?=[\s)\"',.:;?—–-]|\Z)"
_INSIDE = r"(?=[^\W_])[^\n\\`~*_\[\]<&!]++(?<=[^\W_])"
_SPAN = re.compile(
    r"(?P<text>[^\n\\`~*_\[<&!]++|(?<=[^\W_])_(?=[^\W_])|(?<=[ \n])\*(?=[ \n])|(?<!~)~(?!~)"
    r"|!(?!\[)|<(?![A-Za-z/!?])|&(?![A-Za-z#]))"
    r"|(?P<break>\n)"
    rf"|(?P<wiki>{WIKI_LINK.pattern})"
    r"|(?<!!)\[(?P<shown>[^\n\\`~*_\[\]<&!]*+)\](?:\((?P<url>[^\s()<>\\&]*+)\)|(?![(\[]))"
    r"|(?<!`)`(?P<code>[^`\n]++)`(?!`)"
    rf"|{_AFTER}\*\*(?P<strong>{_INSIDE})\*\*{_BEFORE}"
    rf"|{_AFTER}(?P<mark>[*_])(?P<emphasis>{_INSIDE})(?P=mark){_BEFORE}"
)


def split(text: str) -> list[Block] | None:
    """The headings, paragraphs and items of a text, without its code; None if it has blocks of other kinds."""
    if "]:" in text or "\r" in text or "\0" in text:  # definitions of links; what markdown-it replaces
        return None
    blocks: list[Block] = []
    open_lines: list[str] = []  # of the paragraph or item that is being read
    offsets: list[int] = []  # where the content of the open lists begins
    fence = ""

    def end() -> None:
        if open_lines:
            blocks.append((0, "\n".join(open_lines)))
            open_lines.clear()

    for line in text.split("\n"):
        content = line.strip(" \t")
        if fence:
            if content.startswith(fence) and not content.strip(fence[0]) and len(line) - len(line.lstrip(" ")) < 4:
                fence = ""
            continue
        if not content:
            end()
            continue
        indent = _indent(line)
        if not indent:
            if heading := _HEADING.match(content):
                end()
                offsets.clear()
                shorter = heading[2].rstrip("#")  # these may end the heading, after a space
                blocks.append((len(heading[1]), shorter if shorter[-1:] in ("", " ", "\t") else heading[2]))
                continue
            if opening := _FENCE.fullmatch(content):
                end()
                offsets.clear()
                fence = opening[1]
                continue
            if not open_lines and _RULE.fullmatch(content):
                offsets.clear()
                continue
        item = _ITEM.match(content)
        if item is None:
            if _OTHER_BLOCK.match(content):
                return None
            if not open_lines:
                while offsets and indent < offsets[-1]:
                    offsets.pop()
                if indent - (offsets[-1] if offsets else 0) >= 4:
                    return None  # code
            open_lines.append(content)
            continue
        interrupts = bool(open_lines) and not (offsets and indent < offsets[-1])
        while offsets and indent < offsets[-1]:
            offsets.pop()
        if (
            indent - (offsets[-1] if offsets else 0) >= 4
            or (interrupts and item[1] is not None and int(item[1]) != 1)
            or _OTHER_BLOCK.match(content, item.end())
            or len(offsets) >= MAX_LIST_DEPTH
        ):
            return None
        end()
        offsets.append(indent + item.end())
        open_lines.append(content[item.end() :])
    end()
    return None if any(len(content) > MAX_BLOCK for _, content in blocks) else blocks


def _indent(line: str) -> int:
    """The column where a line begins; a tab goes to the next multiple of 4."""
    if line[0] not in " \t":
        return 0
    found = _TABS.match(line)
    if found:
        line = found[0].expandtabs(4) + line[found.end() :]
    return len(line) - len(line.lstrip(" "))


def spans(text: str, wiki_links: bool) -> list[Span] | None:
    """The texts, links and code of a block in order; None if it has marks of other kinds."""
    found: list[Span] = []
    pending = ""  # neighbouring texts are one: an address may have a _
    at = 0
    while at < len(text):
        span = _SPAN.match(text, at)
        if span is None:
            return None
        at, kind = span.end(), span.lastgroup
        if kind == "text" or kind == "shown":  # in brackets, without an address
            pending += span[0]
            continue
        if pending:
            found.append((TEXT_SPAN, pending, ""))
            pending = ""
        if kind == "break":
            found.append((BREAK_SPAN, "", ""))
        elif kind == "url":
            found.append((LINK_SPAN, span["shown"], span["url"]))
        elif kind == "code":
            found.append((CODE_SPAN, span["code"], ""))
        elif kind == "wiki":
            link = WIKI_LINK.match(span[0])
            if not wiki_links or link is None:
                return None
            found.append((WIKI_SPAN, link[1], link[2] or ""))
        else:  # strong or emphasis
            found.append((TEXT_SPAN, span[span.lastgroup or 0], ""))
    if pending:
        found.append((TEXT_SPAN, pending, ""))
    return found
