"""Split HTML source into tags and the text between them, by the rules of the WHATWG tokenizer.

Our own tokenizer, because hostile pages blow up tree builders: 45 kB of open `<b>` took 1.4 GB and 6 s in lexbor, and
100,000 nested `<div>` 20 s. This pattern reads every character once: every repetition is possessive, and every
construct may also end with the input.
"""

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


# Browsers ignore links in a <select>, and its options are not text. It ends where one of these begins, closed or not.
_ENDS_SELECT = rf"/?(?:select|input|textarea|form|table|tr|td|div|p|a){_ENDS_NAME}"
_SELECT = rf"select(?={_ENDS_NAME}){_ATTRIBUTES}{_TAG_END}(?:[^<]++|<(?!{_ENDS_SELECT}))*+"

_RAW_NAMES = ("style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
# An element without tags inside: everything up to its own end tag.
_RAW_PATTERNS = (
    rf"{name}(?={_ENDS_NAME}){_ATTRIBUTES}{_TAG_END}(?:[^<]++|<(?!/{name}{_ENDS_NAME}))*+" for name in _RAW_NAMES
)
_RAW_ELEMENTS = "|".join([_SCRIPT, _SELECT, *_RAW_PATTERNS, rf"plaintext(?={_ENDS_NAME}).*+"])
_RAW = rf"(?=[sS][cCeEtT]|[tT][eEiI]|[xX][mM]|[iI][fF]|[nN][oO]|[pP][lL])(?i:{_RAW_ELEMENTS})"  # <td>, <tr> fail here
_TAG = rf"(/?+[a-zA-Z][^\t\n\f\r />]*+)(?:>|({_ATTRIBUTES}){_TAG_END})"
_COMMENT = r"!--(?:-?>|[^-]*+(?:-(?!-!?>)[^-]*+)*+(?:--!?>)?+)"
_BOGUS = r"[!?/][^>]*+>?+"
# The end tags of cells, rows and items, a quarter of all tags, are implied by the next tag: skip them here.
# Tags that only style text are skipped, too, where another tag follows at once: a third of all tags in documentation.
_STYLE = r"/?+(?:span|code|em|i|tt)(?: class=\"[^\"<>]*+\")?+>"
_IMPLIED = rf"(?:(?:/(?:[tT][dDrR]|[lL][iI])>{_SPACE}*+|{_STYLE})<){{0,8}}"

# A link with plain text, as most are, is one token. Attributes that we ignore may come before its address.
_IGNORED_ATTRIBUTES = r'(?: (?:class|id|target|style|data-[a-z-]++)="[^"]*+")*+'
_PLAIN_LINK = rf'[aA]{_IGNORED_ATTRIBUTES} [hH][rR][eE][fF]="([^"]*+)"((?: [a-zA-Z-]++="[^"]*+")*+)>([^<]*+)</[aA]>'

_TOKEN = re.compile(rf"<{_IMPLIED}(?:{_PLAIN_LINK}|({_RAW})|{_TAG}|{_COMMENT}|{_BOGUS})", re.DOTALL)

_CHUNK_TOKENS = 2000  # few enough for the processor's cache, and for memory where a page is all tags

_ATTRIBUTE_PARTS = re.compile(
    rf"([^\t\n\f\r />][^\t\n\f\r />=]*+)(?:{_SPACE}*+={_SPACE}*+"
    r"""(?:"([^"]*+)"?+|'([^']*+)'?+|([^\t\n\f\r >"'][^\t\n\f\r >]*+))?+)?+"""
)
_ATTRIBUTE_REFERENCE = re.compile(r"&(?:#(?:[0-9]++|[xX][0-9a-fA-F]++);?+|[a-zA-Z][a-zA-Z0-9]*+(?:;|(?!=)))")


def tokens(source: str) -> Iterator[list[str | None]]:
    """Yield HTML as a few long lists: a text and the six parts of a token, repeated, and a last text.

    The parts are None where the token is of another kind:

    - address, further attributes and text of a link with plain text;
    - a raw element (script, title, …) as written, without `<`;
    - the name of any other tag, `/name` for an end tag, and its attributes if it has any.

    All parts of a comment are None. The last text of a list continues in the next list.
    """
    chunk = max(_CHUNK_TOKENS, len(source) // 4000)  # each chunk copies the rest of the source
    while True:
        parts: list[str | None] = _TOKEN.split(source, chunk)
        if len(parts) < 7 * chunk:
            break
        rest = parts[-1] or ""
        parts[-1] = ""
        yield parts
        source = rest
    if len(parts) > 1 and parts[-2] is not None and not parts[-1] and not source.endswith(parts[-2] + ">"):
        parts[-3] = parts[-2] = None  # the input ends inside this tag: its address may be incomplete
    yield parts


def attributes(source: str) -> dict[str, str]:
    """Return the attributes of a tag by lower-case name. Of two with the same name the first counts, as in a
    browser."""
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE_PARTS.findall(source):
        name = name.lower()
        if name not in found:
            value = double or single or bare
            found[name] = attribute_text(value) if "&" in value else value
    return found


def attribute_text(value: str) -> str:
    """Resolve the character references of an attribute value, where `?a=1&copy=2` keeps its `&copy`."""
    return _ATTRIBUTE_REFERENCE.sub(
        lambda found: unescape(found[0]) if found[0][1] == "#" or found[0][1:] in html5 else found[0], value
    )


_RAW_OPENING = re.compile(rf"[a-zA-Z]++{_ATTRIBUTES}>")


def raw_content(raw: str) -> str:
    """Return the text of a raw element, or "" if the input ends inside its tag."""
    opening = _RAW_OPENING.match(raw)
    return unescape(raw[opening.end() :]) if opening is not None else ""
