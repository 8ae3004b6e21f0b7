"""HTML source → a flat list of tags and the text between them, by the WHATWG tokenizer's rules.

No tree is built: a tree builder that follows the standard can be made to blow up by strangers (45 kB of open `<b>`
took 1.4 GB and 6 s in lexbor, 100,000 nested `<div>` 20 s), while this pattern reads every character once. Every
repetition is possessive and every construct may also end with the input, so nothing is ever scanned twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from html.entities import html5

_SPACE = r"[\t\n\f\r ]"
_ENDS_NAME = r"[\t\n\f\r />]"
_VALUE = r"""(?:"[^"]*+"?+|'[^']*+'?+|[^\t\n\f\r >"'][^\t\n\f\r >]*+)?+"""
_ATTRIBUTE = rf"""[^\t\n\f\r />][^\t\n\f\r />=]*+(?:="[^"]*+"|{_SPACE}*+={_SPACE}*+{_VALUE})?+"""
_ATTRIBUTES = rf"(?:[\t\n\f\r /]*+{_ATTRIBUTE})*+[\t\n\f\r /]*+"
_TAG_END = r"(?:>|\Z)"

# A script ends at </script, except inside <!-- after a further <script ("script data double escaped").
_DOUBLE = rf"<script{_ENDS_NAME}(?:[^<\-]++|-(?!->)|<(?!/script{_ENDS_NAME}))*+(?:</script{_ENDS_NAME})?+"
_ESCAPED = rf"<!--(?:-*+>|(?:[^<\-]++|-(?!->)|<(?!/?script{_ENDS_NAME})|{_DOUBLE})*+(?:-->)?+)"
_SCRIPT = rf"script(?={_ENDS_NAME}){_ATTRIBUTES}{_TAG_END}(?:[^<]++|{_ESCAPED}|<(?!/script{_ENDS_NAME}|!--))*+"


def _raw(name: str) -> str:
    """An element whose content holds no tags: everything up to its own end tag."""
    return rf"{name}(?={_ENDS_NAME}){_ATTRIBUTES}{_TAG_END}(?:[^<]++|<(?!/{name}{_ENDS_NAME}))*+"


# Browsers know no links in a <select>, and its options are no text; it ends where another thing begins, closed or not.
_ENDS_SELECT = rf"/?(?:select|input|textarea|form|table|tr|td|div|p|a){_ENDS_NAME}"
_SELECT = rf"select(?={_ENDS_NAME}){_ATTRIBUTES}{_TAG_END}(?:[^<]++|<(?!{_ENDS_SELECT}))*+"

_RAW_NAMES = ("style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
_RAW_ELEMENTS = "|".join([_SCRIPT, _SELECT, *map(_raw, _RAW_NAMES), rf"plaintext(?={_ENDS_NAME}).*+"])
_RAW = rf"(?=[sS][cCeEtT]|[tT][eEiI]|[xX][mM]|[iI][fF]|[nN][oO]|[pP][lL])(?i:{_RAW_ELEMENTS})"  # no try for <td>, <tr>
_TAG = rf"(/?+[a-zA-Z][^\t\n\f\r />]*+)(?:>|({_ATTRIBUTES}){_TAG_END})"
_COMMENT = r"!--(?:-?>|[^-]*+(?:-(?!-!?>)[^-]*+)*+(?:--!?>)?+)"
_BOGUS = r"[!?/][^>]*+>?+"
# The end tags of cells, rows and items say nothing that the next tag does not: swallowed, a quarter of all tags.
_SILENT = rf"(?:/(?:[tT][dDrR]|[lL][iI])>{_SPACE}*+<){{0,8}}"

# A link with plain text, which most are, is one token. Attributes that say nothing to us may stand before its address.
_SAYS_NOTHING = r'(?: (?:class|id|target|style|data-[a-z-]++)="[^"]*+")*+'
_PLAIN_LINK = rf'[aA]{_SAYS_NOTHING} [hH][rR][eE][fF]="([^"]*+)"((?: [a-zA-Z-]++="[^"]*+")*+)>([^<]*+)</[aA]>'

_TOKEN = re.compile(rf"<{_SILENT}(?:{_PLAIN_LINK}|({_RAW})|{_TAG}|{_COMMENT}|{_BOGUS})", re.DOTALL)

_AT_ONCE = 2000  # tokens: few enough to stay in the processor's cache, and in memory where a page is nothing but tags

_ATTRIBUTE_PARTS = re.compile(
    rf"([^\t\n\f\r />][^\t\n\f\r />=]*+)(?:{_SPACE}*+={_SPACE}*+"
    r"""(?:"([^"]*+)"?+|'([^']*+)'?+|([^\t\n\f\r >"'][^\t\n\f\r >]*+))?+)?+"""
)
_ATTRIBUTE_REFERENCE = re.compile(r"&(?:#(?:[0-9]++|[xX][0-9a-fA-F]++);?+|[a-zA-Z][a-zA-Z0-9]*+(?:;|(?!=)))")


def tokens(source: str) -> Iterator[list[str | None]]:
    """HTML as a few long lists: a text and six parts of a token, again and again, and a last text.

    The parts, None where the token is of another kind: address, further attributes and text of a link with plain text;
    a raw element (script, title, …) as written, without `<`; the name of any other tag, `/name` for an end tag, and its
    attributes, None if it has none. Comments have nothing. A text that is the last of a list goes on in the next.
    """
    at_once = max(_AT_ONCE, len(source) // 4000)  # what is left of the source is copied each time
    while True:
        parts: list[str | None] = _TOKEN.split(source, at_once)
        if len(parts) < 7 * at_once:
            break
        rest = parts[-1] or ""
        parts[-1] = ""
        yield parts
        source = rest
    if len(parts) > 1 and parts[-2] is not None and not parts[-1] and not source.endswith(parts[-2] + ">"):
        parts[-3] = parts[-2] = None  # the input ends inside this tag: a cut address must not become a link
    yield parts


def attributes(source: str) -> dict[str, str]:
    """The attributes of a tag by lower-case name; of two with one name the first counts, as in a browser."""
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE_PARTS.findall(source):
        name = name.lower()
        if name not in found:
            value = double or single or bare
            found[name] = attribute_text(value) if "&" in value else value
    return found


def attribute_text(value: str) -> str:
    """Resolve character references as in attribute values, where `?a=1&copy=2` keeps its `&copy`."""
    return _ATTRIBUTE_REFERENCE.sub(_resolve, value)


def _resolve(match: re.Match[str]) -> str:
    reference = match[0]
    if reference[1] == "#" or reference[1:] in html5:
        return unescape(reference)
    return reference


_RAW_OPENING = re.compile(rf"[a-zA-Z]++{_ATTRIBUTES}>")


def raw_content(raw: str) -> str:
    """The text of a raw element with character references resolved; nothing if the input's end cut its tag off."""
    opening = _RAW_OPENING.match(raw)
    return unescape(raw[opening.end() :]) if opening is not None else ""
