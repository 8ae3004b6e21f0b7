"""Which addresses a crawl may connect to: web addresses, and no machines of the private network.

The check is made when a connection is opened (`guarded`), on the IP address that the name was resolved to. So it also
covers names that point into the private network, names that change their address, redirects and robots.txt.
"""

import ipaddress
from collections.abc import Callable
from typing import Any

import can_ada

MAX_ADDRESS = 2_000  # characters; longer ones are mostly traps, such as a path that repeats itself

# The ports that browsers refuse (WHATWG Fetch, "bad port"): mail, shells and file servers could misread a request for a
# page as commands.
# fmt: off
BAD_PORTS = frozenset([
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530,
    531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190,
    5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])
# fmt: on

REFUSED_PRIVATE = "refused: private or local address (--allow-private fetches it)"
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_DOCUMENTATION = ipaddress.IPv6Network("3fff::/20")  # global to Python before 3.13


class Refused(Exception):
    """An address that must not be fetched, by its host or by robots.txt. `reason` goes into the report."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


def web_address(text: str, base: str = "") -> str | None:
    """Return the absolute http(s) address to request, without fragment, user name and password, or None."""
    try:
        url = can_ada.parse(base) + text if base else can_ada.parse(text)
    except (ValueError, TypeError):  # TypeError: not valid Unicode
        return None
    if url.protocol not in ("http:", "https:") or not url.hostname:
        return None
    url.hash = url.username = url.password = ""
    href = str(url.href)
    return href if len(href) <= MAX_ADDRESS else None


def is_public(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Return whether an IP address is on the public internet, also for an IPv4 address inside an IPv6 one."""
    if isinstance(ip, ipaddress.IPv6Address):
        hidden = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            hidden = ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)
        if hidden is not None:
            return is_public(hidden)
        if ip not in _GLOBAL_UNICAST or ip in _DOCUMENTATION:
            return False
    return ip.is_global and not ip.is_multicast


def refusal(host: str, port: int, allow_private: bool) -> str | None:
    """Return why a connection to this IP address and port is refused, or None if it is allowed."""
    if port in BAD_PORTS:
        return "refused: port for other services than web pages"
    if allow_private:
        return None
    try:
        public = is_public(ipaddress.ip_address(host))
    except ValueError:
        return "refused: not an IP address"  # a name would be looked up again, without this check
    return None if public else REFUSED_PRIVATE


def guarded(connect: Callable[..., Any], allow_private: bool) -> Callable[..., Any]:
    """Wrap Twisted's `reactor.connectTCP` so that it raises `Refused` for an address that is not allowed."""

    def connect_tcp(host: str, port: int, *args: Any, **options: Any) -> Any:
        reason = refusal(host, port, allow_private)
        if reason:
            raise Refused(reason, f"{host} port {port}")
        return connect(host, port, *args, **options)

    return connect_tcp
