"""What counts as one page: turn any spelling of an address into one canonical spelling, and one to show.

`parse("HTTP://www.Example.com:80/a/index.html?utm_source=x#top")` gives the canonical `example.com/a` and, to show,
`http://www.example.com/a/index.html`. The rules are the tables of `rules.py`. Sort keys, and the flags that rebuild the
shown spelling, are in `key.py`. `kernels/addresses` does the same for plain addresses in compiled loops.

Edge lists have two other forms: `name:42` is an opaque name, shown as `42`, and `host:nytimes.com/a` is an address
without a scheme, shown as it is.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import can_ada

from cocite.errors import BadAddress
from cocite.pages import rules

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d+(?:[/?#]|$))")  # not host:port
_HOST_END = re.compile(r"[/?#\\]")
_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")
_LABELS = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_ODD_IN_PATH = re.compile(r"[^A-Za-z0-9_.~!$&()*+,:;=@/-]")
_ODD_IN_QUERY = re.compile(r"[^A-Za-z0-9_.~!$&()*+,:;=@/?-]")
_SELF = frozenset({".", "%2e", "%2E"})
_PARENT = frozenset(one + other for one in _SELF for other in _SELF)
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_ESCAPES = re.compile(r"(%[0-9A-Fa-f]?)?((?:%[0-9A-Fa-f]{2})+)")
_DECODED = {f"%{ord(character):02X}": character for character in rules.UNRESERVED}
_UNSAFE = re.compile("[" + re.escape(rules.ENCODED) + "\x00-\x1f\x7f-\U0010ffff]")


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
        if len(address) == 5:
            raise BadAddress("empty name: give every page a name")
        if _NOT_TEXT.search(address):
            raise BadAddress("name with NUL or an incomplete character: save the source as UTF-8")
        return Address(address, address[5:])
    if address.startswith("host:"):
        page = _parse_web("https://" + address[5:])
        spelling = page.shown.removeprefix("https://")
        added_slash = spelling.endswith("/") and not _HOST_END.search(address)
        return Address(page.canonical, spelling[:-1] if added_slash else spelling)
    return _parse_web("https:" + address if address.startswith("//") else address)


def canonical(address: str) -> str:
    """Return the canonical spelling of an absolute address."""
    return parse(address).canonical


def parse_query(text: str) -> Address:
    """Parse what a person types: `nytimes.com`, `www.nytimes.com/x`, a complete address, or an opaque name."""
    text = text.strip()
    if not text:
        raise BadAddress("no address given: give a page such as nytimes.com")
    if _SCHEME.match(text) or text.startswith("//"):
        return parse(text)
    host = _HOST_END.split(text, maxsplit=1)[0]
    if "." in host or host.startswith(("localhost", "[")):
        try:
            return parse("https://" + text)
        except BadAddress:
            if "/" in text or len(text) > rules.MAX_ADDRESS:
                raise
    return parse("name:" + text)


def chop(canonical: str) -> Iterator[str]:
    """A canonical address without its fragment, its query string, then one path element after another."""
    while not canonical.startswith("name:") and any(mark in canonical for mark in "#?/"):
        mark = next(mark for mark in "#?/" if mark in canonical)
        canonical = canonical[: canonical.rindex(mark) if mark == "/" else canonical.index(mark)]
        yield canonical


def _parse_web(address: str) -> Address:
    try:
        url = can_ada.parse(address)
    except (ValueError, TypeError):
        if not _SCHEME.match(address.strip()):
            raise BadAddress(f"not an absolute address: begin {_short(address)} with https://") from None
        raise BadAddress(f"invalid address: check the host and the port of {_short(address)}") from None
    scheme = url.protocol
    if scheme != "https:" and scheme != "http:":
        kind = scheme[:-1] if scheme[:-1] in rules.OTHER_SCHEMES else "other"
        raise BadAddress(f"{kind} address, not a web page: begin it with https:// instead of {_short(address)}")
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


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


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
        count, only = rules.CASELESS[host]
        parts = path.split("/", count + 1)
        if not only or parts[1] in only:
            names = [_ESCAPE.sub(lambda escape: escape[0].upper(), part.lower()) for part in parts[: count + 1]]
            path = "/".join(names + parts[count + 1 :])
    return path, given


def _without_dots(path: str) -> str:
    """Resolve dot segments. can_ada 3.0 leaves them in `/a/.b/..`, where another name begins with a dot."""
    parts, given = list[str](), path[1:].split("/")
    for part in given:
        if part in _PARENT:
            del parts[-1:]
        elif part not in _SELF:
            parts.append(part)
    return "/" + "/".join([*parts, ""] if given[-1] in _PARENT | _SELF else parts)


def _without_index(path: str) -> str:
    while True:
        path = path.rstrip("/")
        before, _, last = path.rpartition("/")
        if last not in rules.INDEX_NAMES and last.lower() not in rules.INDEX_NAMES_ANY_CASE:
            return path
        path = before


def _query(search: str) -> tuple[str, str]:
    """Return the canonical query and the given query, both without dropped parameters, with their `?` or empty."""
    given = _without_dropped(search[1:]) if len(search) > 1 else ""
    if not given:
        return "", ""
    return "?" + (_escapes(given) if _ODD_IN_QUERY.search(given) else given), "?" + given


def _fragment(fragment: str) -> str:
    """Return a fragment that is part of a page's address, `#!…`. Its parameters follow the same rules."""
    if not fragment.startswith("#!"):
        return ""
    place, _, query = fragment.partition("?")
    query = _without_dropped(query)
    found = _escapes(f"{place}?{query}" if query else place)
    return found if len(found) > 2 else ""


def _without_dropped(query: str) -> str:
    """Remove the parameters that don't distinguish pages. Keep the order of the others."""
    if all(_stays(part) for part in query.split("&")):
        return query
    # Semicolons separate parameters for some servers, but not in `&amp;`, left over from HTML.
    parts = [re.split("(?<!^amp);", part) for part in query.split("&") if part]
    names = {_name(piece) for part in parts for piece in part}
    together = set[str]().union(*(one | other for one, other in rules.DROPPED_TOGETHER.items() if one <= names))
    kept = (";".join(piece for piece in part if not _drop(piece, together)) for part in parts)
    return "&".join(part for part in kept if part)


def _stays(part: str) -> bool:
    """Return whether a parameter certainly stays. This quick check halves the time."""
    name = part.partition("=")[0].lower()
    return not (name in rules.SUSPECT or name.startswith(rules.PREFIXES) or ";" in part or "%" in name or not part)


def _name(piece: str) -> str:
    return _escapes(piece.partition("=")[0]).lower().removeprefix("amp;")


def _drop(piece: str, together: set[str]) -> bool:
    name = _name(piece)
    is_random = name in rules.IF_RANDOM and rules.RANDOM.fullmatch(piece.partition("=")[2])
    return bool(is_random) or name in together or name in rules.DROPPED_NAMES or name.startswith(rules.PREFIXES)


def _escapes(text: str) -> str:
    """Normalise percent-encoding. Broken escapes stay, and nothing is decoded twice."""
    text = _ESCAPES.sub(_escape_run, text)
    return _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), text)


def _escape_run(run: re.Match[str]) -> str:
    if run[1]:  # decoding after a broken escape could complete it: `%%34%31` must not become `%41`
        return run[1] + run[2].upper()
    return _ESCAPE.sub(lambda escape: _DECODED.get(escape[0].upper(), escape[0].upper()), run[2])
