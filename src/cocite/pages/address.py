"""What counts as one page: turn any spelling of an address into one canonical spelling, and one to show.

`parse("HTTP://www.Example.com:80/a/index.html?utm_source=x#top")` gives the canonical `example.com/a` and, to show,
`http://www.example.com/a/index.html`. The rules are the tables of `rules.py`. Sort keys, and the flags that rebuild the
shown spelling, are in `key.py`. `kernels/addresses` does the same for plain
addresses in compiled loops.

Edge lists have two other forms: `name:42` is an opaque name, shown as `42`, and `host:nytimes.com/a` is an address
without a scheme, shown as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import can_ada

from cocite.errors import BadAddress
from cocite.pages import rules
from cocite.pages.key import from_key, key, shown, spelling_flags

__all__ = ["Address", "canonical", "from_key", "key", "parse", "parse_query", "shown", "spelling_flags"]


class Address(NamedTuple):
    """One page: its canonical spelling, and the spelling that was read, without sessions and secrets."""

    canonical: str
    shown: str


def parse(address: str) -> Address:
    """Return the page of an absolute address.

    Raise BadAddress if it is invalid. The message up to the first `: ` is one of a few reasons, for counting.
    """
    if len(address) > rules.MAX_ADDRESS:
        raise BadAddress(f"address longer than {rules.MAX_ADDRESS:,} characters: give a shorter one")
    if address.startswith("name:"):
        return _parse_name(address)
    if address.startswith("host:"):
        return _parse_bare(address[5:])
    return _parse_web("https:" + address if address.startswith("//") else address)


def canonical(address: str) -> str:
    """Return the canonical spelling of an absolute address."""
    return parse(address).canonical


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d+(?:[/?#]|$))")  # not host:port
_HOST_PART = re.compile(r"[^/?#\\]+")


def parse_query(text: str) -> Address:
    """Parse what a person types: `nytimes.com`, `www.nytimes.com/x`, a complete address, or an opaque name."""
    text = text.strip()
    if not text:
        raise BadAddress("no address given: give a page such as nytimes.com")
    if _SCHEME.match(text) or text.startswith("//"):
        return parse(text)
    host = _HOST_PART.match(text)
    if host and ("." in host[0] or host[0].startswith(("localhost", "["))):
        try:
            return parse("https://" + text)
        except BadAddress:
            if "/" in text or len(text) > rules.MAX_ADDRESS:
                raise
    return parse("name:" + text)


_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")


def _parse_name(address: str) -> Address:
    name = address[5:]
    if not name:
        raise BadAddress("empty name: give every page a name")
    if _NOT_TEXT.search(name):
        raise BadAddress("name with NUL or an incomplete character: save the source as UTF-8")
    return Address(address, name)


def _parse_bare(text: str) -> Address:
    page = _parse_web("https://" + text)
    spelling = page.shown.removeprefix("https://")
    if spelling.endswith("/") and not any(mark in text for mark in "/?#\\"):
        spelling = spelling[:-1]
    return Address(page.canonical, spelling)


def _parse_web(address: str) -> Address:
    try:
        url = can_ada.parse(address)
    except (ValueError, TypeError):
        raise BadAddress(_why_invalid(address)) from None
    scheme = url.protocol
    if scheme != "https:" and scheme != "http:":
        raise BadAddress(_why_not_a_page(address, scheme[:-1]))
    host, given_host, is_ip = _host(url.hostname)
    if is_ip and given_host not in address:  # browsers read 530 as 0.0.2.18
        raise BadAddress(f"number instead of a host: give the host of {_short(address)}, or its full IP address")
    port = given_port = f":{url.port}" if url.has_port() else ""
    if port and port[1:] in rules.PORTS:
        port = ""
    elif port and host == "name":  # its canonical form would be that of an opaque name
        raise BadAddress("host 'name' with a port: give its full name, such as name.example.org")
    path, given_path = _path(url.pathname, host)
    query, given_query = _query(url.search)
    fragment = _fragment(url.hash)
    path = path.rstrip("/") if query or fragment else _without_index(path)
    found = f"{host}{port}{path}{query}{fragment}"
    if len(found) > rules.MAX_ADDRESS:
        raise BadAddress(f"address longer than {rules.MAX_ADDRESS:,} characters once encoded: give a shorter one")
    return Address(found, f"{scheme}//{given_host}{given_port}{given_path}{given_query}{fragment}")


def _why_invalid(address: str) -> str:
    if not _SCHEME.match(address.strip()):
        return f"not an absolute address: begin {_short(address)} with https://"
    return f"invalid address: check the host and the port of {_short(address)}"


def _why_not_a_page(address: str, scheme: str) -> str:
    kind = scheme if scheme in rules.OTHER_SCHEMES else "other"
    return f"{kind} address, not a web page: give one that begins with https:// instead of {_short(address)}"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


_LABELS = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")


@lru_cache(maxsize=1 << 14)
def _host(hostname: str) -> tuple[str, str, bool]:
    """Return the canonical host, the given host, and whether it is an IPv4 address. Cached, because hosts repeat."""
    given = hostname.removesuffix(".")
    if given.startswith("["):
        return given, given, False
    if len(given) > 253 or not _LABELS.fullmatch(given):
        raise BadAddress(f"invalid host name: check the spelling of {_short(hostname)}")
    host = given
    while host.startswith("www.") and "." in host[4:]:
        host = host[4:]
    return host, given, host.rpartition(".")[2].isdigit()


_ODD_IN_PATH = re.compile(r"[^A-Za-z0-9_.~!$&()*+,:;=@/-]")
_ODD_IN_QUERY = re.compile(r"[^A-Za-z0-9_.~!$&()*+,:;=@/?-]")


def _path(path: str, host: str) -> tuple[str, str]:
    """Return the canonical path, still with index name and trailing slash, and the given path without session ids."""
    if "/." in path:
        path = _without_dots(path)
    given = path
    if _ODD_IN_PATH.search(path):
        path = _escapes(path)
    if ";" in path or "S(" in path or "s(" in path:
        path, given = rules.SESSION_IN_PATH.sub("", path), rules.SESSION_IN_PATH.sub("", given) or "/"
    if host in rules.CASELESS:
        path = _lower_names(path, *rules.CASELESS[host])
    return path, given


def _without_dots(path: str) -> str:
    """Resolve dot segments. can_ada 3.0 leaves them in `/a/.b/..`, where another name begins with a dot."""
    parts: list[str] = []
    for part in path[1:].split("/"):
        if part in _PARENT and parts:
            parts.pop()
        if part not in _PARENT and part not in _SELF:
            parts.append(part)
    if part in _PARENT or part in _SELF:
        parts.append("")
    return "/" + "/".join(parts)


_SELF = frozenset({".", "%2e", "%2E"})
_PARENT = frozenset(one + other for one in _SELF for other in _SELF)


def _lower_names(path: str, count: int, only: frozenset[str]) -> str:
    parts = path.split("/", count + 1)
    if only and parts[1] not in only:
        return path
    for i in range(1, min(count + 1, len(parts))):
        parts[i] = _ESCAPE.sub(lambda escape: escape[0].upper(), parts[i].lower())
    return "/".join(parts)


def _without_index(path: str) -> str:
    while True:
        path = path.rstrip("/")
        before, _, last = path.rpartition("/")
        if last not in rules.INDEX_NAMES and last.lower() not in rules.INDEX_NAMES_ANY_CASE:
            return path
        path = before


def _query(search: str) -> tuple[str, str]:
    """Return the canonical query and the given query, both without dropped parameters, with their `?` or empty."""
    if len(search) < 2:
        return "", ""
    given = _without_dropped(search[1:])
    if not given:
        return "", ""
    query = _escapes(given) if _ODD_IN_QUERY.search(given) else given
    return "?" + query, "?" + given


def _fragment(fragment: str) -> str:
    """Return a fragment that is part of a page's address, `#!…`. Its parameters follow the same rules."""
    if not fragment.startswith("#!"):
        return ""
    place, mark, query = fragment.partition("?")
    query = _without_dropped(query) if mark else ""
    found = _escapes(f"{place}?{query}" if query else place)
    return found if len(found) > 2 else ""


def _without_dropped(query: str) -> str:
    """Remove the parameters that don't distinguish pages. Keep the order of the others."""
    if all(_stays(part) for part in query.split("&")):
        return query
    parts = [_split(part) for part in query.split("&") if part]
    names = {_name(piece) for part in parts for piece in part}
    together: set[str] = set()
    for trigger, companions in rules.TOGETHER.items():
        if trigger <= names:
            together |= trigger | companions
    kept = (";".join(piece for piece in part if not _drop(piece, together)) for part in parts)
    return "&".join(part for part in kept if part)


def _stays(part: str) -> bool:
    """Return whether a parameter certainly stays. This quick check halves the time."""
    name = part.partition("=")[0].lower()
    return not (name in rules.SUSPECT or name.startswith(rules.PREFIXES) or ";" in part or "%" in name or not part)


def _split(part: str) -> list[str]:
    """Split at semicolons, which separate parameters for some servers, but not in `&amp;`, left over from HTML."""
    if part.startswith("amp;"):
        first, *others = part[4:].split(";")
        return ["amp;" + first, *others]
    return part.split(";")


def _name(piece: str) -> str:
    name = piece.partition("=")[0]
    if "%" in name:
        name = _escapes(name)
    return name.lower().removeprefix("amp;")


def _drop(piece: str, together: set[str]) -> bool:
    name = _name(piece)
    if name in together or name in rules.NAMES or name.startswith(rules.PREFIXES):
        return True
    return name in rules.IF_RANDOM and rules.RANDOM.fullmatch(piece.partition("=")[2]) is not None


_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_ESCAPES = re.compile(r"(%[0-9A-Fa-f]?)?((?:%[0-9A-Fa-f]{2})+)")
_UNSAFE = re.compile("[" + re.escape(rules.ENCODED) + "\x00-\x1f\x7f-\U0010ffff]")


def _escapes(text: str) -> str:
    """Normalise percent-encoding. Broken escapes stay, and nothing is decoded twice."""
    text = _ESCAPES.sub(_escape_run, text)
    return _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), text)


def _escape_run(run: re.Match[str]) -> str:
    if run[1]:  # decoding after a broken escape could complete it: `%%34%31` must not become `%41`
        return run[1] + run[2].upper()
    return _ESCAPE.sub(_one_escape, run[2])


def _one_escape(escape: re.Match[str]) -> str:
    character = chr(int(escape[0][1:], 16))
    return character if character in rules.DECODED else escape[0].upper()
