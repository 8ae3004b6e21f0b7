"""What a name in an edge list is, decided one by one: the slow truth of `edge_list.addresses`."""

from __future__ import annotations

import re

from cocite.pages.site import is_under_icann

_BARE_ADDRESS = re.compile(r"((?:[a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]{0,62})(?:[/?#][!-~]*)?")


def guess(name: str) -> str:
    """Return a name as `address.parse` expects it: an address, `host:…` or `name:…`."""
    if "://" in name:
        return name
    found = _BARE_ADDRESS.fullmatch(name)
    return ("host:" if found and is_under_icann(found[1]) else "name:") + name
