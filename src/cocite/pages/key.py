"""A page's sort key, and how its shown spelling is rebuilt from its canonical one.

The key puts a site's pages next to each other: the host's labels are reversed, and the marks that end a path's part sort
before every other character, so that all pages under one address are one range.

    nytimes.com                     com,nytimes)
    blog.example.com:8080/a/b?c=1/2 com,example,blog):8080␁a␁b␂c=1/2      (␁ ␂ ␃ are the bytes 1, 2, 3)
    example.com/a#!/b               com,example)␁a␃!/b
    10.0.0.1/a                      10.0.0.1)␁a                            IP addresses are not reversed
    name:42                         ␃"42                                  space + number of digits: 9 sorts before 10
    name:Ada Lovelace               ␄Ada Lovelace

No canonical address holds these bytes (all control characters are encoded), so the key can be turned back. Pages under
`p` (p itself, p/…, p?…, p#!…) are the keys from key(p) up to, not including, key(p) + ␄.
"""

from __future__ import annotations

import re

HTTP = 0x01  # http:// instead of https://
WWW = 0x02  # www. before the host
SLASH = 0x04  # a slash after the path
BARE = 0x08  # no scheme, as in an edge list
INDEX = 0x70  # which of INDEX_ENDINGS follows the path
APART = 0x80  # none of this gives the spelling: it is stored apart
UNUSABLE = 0xFF  # not a page

# The index names that a flag can restore; others are stored apart.
INDEX_ENDINGS = (
    "",
    "/index.html",
    "/index.htm",
    "/index.php",
    "/default.aspx",
    "/Default.aspx",
    "/default.htm",
    "/index.shtml",
)
_INDEX_FLAG = {ending[1:]: number << 4 for number, ending in enumerate(INDEX_ENDINGS)}

_PARTS = re.compile(r"(\[[^\]]*\]|[^/?#:]*)(:\d+)?([^?#]*)(\?[^#]*)?(#.*)?", re.DOTALL)
_IN_KEY = str.maketrans("\x01\x02\x03", "#?/")
_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,39})", re.ASCII)


def key(canonical: str) -> str:
    """The sort key of a canonical address."""
    if canonical.startswith("name:"):
        name = canonical[5:]
        return f"\x03{chr(32 + len(name))}{name}" if _NUMBER.fullmatch(name) else "\x04" + name
    host, port, path, query, fragment = _PARTS.fullmatch(canonical).groups("")  # type: ignore[union-attr]
    labels = host.split(".")
    if not labels[-1].isdigit() and host[0] != "[":
        labels.reverse()
        host = ",".join(labels)
    tail = path.replace("/", "\x03")
    if query:
        tail += "\x02" + query[1:]
    if fragment:
        tail += "\x01" + fragment[1:]
    return f"{host}){port}{tail}"


def from_key(key: str) -> str:
    """The canonical address of a key."""
    if key[0] == "\x03":
        return "name:" + key[2:]
    if key[0] == "\x04":
        return "name:" + key[1:]
    host, _, tail = key.partition(")")
    if "." not in host:
        labels = host.split(",")
        labels.reverse()
        host = ".".join(labels)
    return host + tail.translate(_IN_KEY)


def shown(canonical: str, flags: int) -> str:
    """The spelling that `flags` stand for; not for APART and UNUSABLE."""
    if canonical.startswith("name:"):
        return canonical[5:]
    head = "" if flags & BARE else "http://" if flags & HTTP else "https://"
    if flags & WWW:
        head += "www."
    ending = "/" if flags & SLASH else INDEX_ENDINGS[(flags & INDEX) >> 4]
    if not ending:
        return head + canonical
    mark = _MARK.search(canonical)
    if mark is None:
        return head + canonical + ending
    return head + canonical[: mark.start()] + ending + canonical[mark.start() :]


_MARK = re.compile(r"[?#]")


def spelling_flags(canonical: str, spelling: str) -> int | None:
    """The flags from which `shown` rebuilds a spelling exactly; None if there are none."""
    if canonical.startswith("name:"):
        return BARE if spelling == canonical[5:] else None
    flags = 0
    if spelling.startswith("http://"):
        flags, rest = HTTP, spelling[7:]
    elif spelling.startswith("https://"):
        rest = spelling[8:]
    else:
        flags, rest = BARE, spelling
    if rest.startswith("www.") and not canonical.startswith("www."):
        flags, rest = flags | WWW, rest[4:]
    if rest == canonical:
        return flags
    mark = _MARK.search(rest)
    path = rest if mark is None else rest[: mark.start()]
    flags |= SLASH if path.endswith("/") else _INDEX_FLAG.get(path[path.rfind("/") + 1 :], 0)
    return flags if shown(canonical, flags) == spelling else None
