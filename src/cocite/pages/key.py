"""The sort key of a page, and the flags that rebuild its shown spelling from its canonical one.

Keys sort the pages of a site together: the labels of the host are reversed, and the marks that end a part of the path
sort before every other character, so that all pages under an address are one range. ␁ ␂ ␃ ␄ are the bytes 1 to 4:

    nytimes.com                      com,nytimes)
    blog.example.com:8080/a/b?c=1/2  com,example,blog):8080␃a␃b␂c=1/2
    example.com/a#!/b                com,example)␃a␁!/b
    10.0.0.1/a                       10.0.0.1)␃a     IP addresses are not reversed
    name:42                          ␃"42            chr(32 + number of digits): 9 sorts before 10
    name:Ada Lovelace                ␄Ada Lovelace

Canonical addresses never contain these bytes (control characters are encoded), so a key can be reversed. The pages
under `p` (p itself, p#!…, p?…, p/…) have the keys from key(p) up to, not including, key(p) + ␄.
"""

import re

HTTP = 0x01  # http:// instead of https://
WWW = 0x02  # www. before the host
SLASH = 0x04  # a slash after the path
BARE = 0x08  # no scheme, as in an edge list
INDEX = 0x70  # which of INDEX_ENDINGS follows the path
APART = 0x80  # the flags can't rebuild the spelling: it is stored separately
UNUSABLE = 0xFF  # not a page

# The index names that flags can rebuild, by number. Other spellings are stored separately.
_INDEX_NAMES = ["index.html", "index.htm", "index.php", "default.aspx", "Default.aspx", "default.htm", "index.shtml"]
_INDEX_FLAG = {name: number << 4 for number, name in enumerate(_INDEX_NAMES, 1)}
INDEX_ENDINGS = ("", *(f"/{name}" for name in _INDEX_NAMES))

_HOST_END = re.compile(r"[/?#:]")
_MARK = re.compile(r"[?#]")
_IN_KEY = str.maketrans("\x01\x02\x03", "#?/")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,39}")


def host(canonical: str) -> str:
    """Return the host of a canonical address. An opaque name is its own host."""
    if canonical.startswith("name:"):
        return canonical
    end = _HOST_END.search(canonical, canonical.find("]") + 1 if canonical.startswith("[") else 0)
    return canonical[: end.start()] if end else canonical


def key(canonical: str) -> str:
    """Return the sort key of a canonical address."""
    if canonical.startswith("name:"):
        name = canonical[5:]
        return f"\x03{chr(32 + len(name))}{name}" if _NUMBER.fullmatch(name) else "\x04" + name
    area = host(canonical)
    tail = canonical[len(area) :]
    labels = area.split(".")
    if not labels[-1].isdigit() and not area.startswith("["):
        area = ",".join(reversed(labels))
    mark = _MARK.search(tail)
    if mark is None:
        return area + ")" + tail.replace("/", "\x03")
    path, rest = tail[: mark.start()].replace("/", "\x03"), tail[mark.start() :]
    if mark[0] == "?":
        rest = "\x02" + rest[1:]
    return area + ")" + path + rest.replace("#", "\x01", 1)


def from_key(key: str) -> str:
    """Return the canonical address of a key."""
    if key.startswith(("\x03", "\x04")):
        return "name:" + key[2 if key[0] == "\x03" else 1 :]
    host, _, tail = key.partition(")")
    if "." not in host:
        host = ".".join(reversed(host.split(",")))
    return host + tail.translate(_IN_KEY)


def shown(canonical: str, flags: int) -> str:
    """Return the spelling that flags describe. APART and UNUSABLE describe none."""
    if canonical.startswith("name:"):
        return canonical[5:]
    head = "" if flags & BARE else "http://" if flags & HTTP else "https://"
    if flags & WWW:
        head += "www."
    ending = "/" if flags & SLASH else INDEX_ENDINGS[(flags & INDEX) >> 4]
    mark = _MARK.search(canonical) if ending else None
    if mark is None:
        return head + canonical + ending
    return head + canonical[: mark.start()] + ending + canonical[mark.start() :]


def spelling_flags(canonical: str, spelling: str) -> int | None:
    """Return the flags that let `shown` rebuild a spelling exactly, or None."""
    if canonical.startswith("name:"):
        return BARE if spelling == canonical[5:] else None
    if spelling.startswith("https://"):
        flags, rest = 0, spelling[8:]
    elif spelling.startswith("http://"):
        flags, rest = HTTP, spelling[7:]
    else:
        flags, rest = BARE, spelling
    if rest.startswith("www.") and not canonical.startswith("www."):
        flags, rest = flags | WWW, rest[4:]
    if rest == canonical:
        return flags
    path = _MARK.split(rest, maxsplit=1)[0]
    flags |= SLASH if path.endswith("/") else _INDEX_FLAG.get(path[path.rfind("/") + 1 :], 0)
    return flags if shown(canonical, flags) == spelling else None
