"""From an address in any spelling to its page, and from a page to its address."""

from __future__ import annotations

import numpy as np

from cocite.errors import BadAddress, UnknownPage
from cocite.graph.mapped import Mapped
from cocite.kernels.addresses.canonical import rule_tables
from cocite.kernels.addresses.find import Desk
from cocite.kernels.codec import look_up, name_codec
from cocite.pages import address as rules
from cocite.pages.key import APART, from_key, key, shown

FEW = 1000
"""Look-ups that are keyed in Python, before the loop that is three times as fast is worth its compilation."""


class Finding(Mapped):
    """The names of a store's pages."""

    def find(self, address: str) -> int:
        """The page of an address in any spelling; aliases lead to their page. Raises UnknownPage, BadAddress."""
        page = self.get(address)
        if page is None:
            if "://" in address or not address.strip():
                rules.parse_query(address)  # no address at all is another fault, and says so
            nearest = self.nearest(address)
            hint = f"; did you mean {', '.join(nearest[:3])}?" if nearest else ""
            raise UnknownPage(f"{address[:200]!r} is not in this store{hint}", nearest)
        return page

    def get(self, address: str) -> int | None:
        """The page of an address in any spelling, None if the store does not have it."""
        text = address.strip()
        if ":" not in text and "." in text.partition("/")[0]:
            text = "https://" + text
        try:
            if text[:8].lower().startswith(("http://", "https://")):
                page = self._find_spelled(text)
            else:
                page = self._find_canonical(rules.parse_query(address).canonical)
        except BadAddress:
            page = -1
        if page < 0 and "://" not in address:
            page = self._find_canonical("name:" + address.removeprefix("name:"))
        return None if page < 0 else self.lead(page)

    def _find_spelled(self, text: str) -> int:
        """The page of an address as links spell it, -1 if there is none."""
        if self._asked < FEW:
            self._asked += 1
        else:
            page = self._desk().find(text)
            if page >= -1:
                return page
        return self._find_canonical(rules.parse(text).canonical)  # which also tells what is wrong

    def _desk(self) -> Desk:
        desk: Desk | None = getattr(self._scratch, "desk", None)
        if desk is None:
            desk = self._scratch.desk = Desk(self.names, rule_tables())
        return desk

    def _find_canonical(self, canonical: str) -> int:
        return self._find_key(key(canonical).encode("utf-8", "surrogatepass"))  # half a character is in no name

    def _find_key(self, text: bytes) -> int:
        page = int(look_up.find(self.names, np.frombuffer(text, np.uint8), self._buffer()))
        if page < -1:
            raise self.damaged()
        return page

    def lead(self, page: int) -> int:
        """Where an alias leads; other pages lead to themselves."""
        aliases = self.array("alias.page")
        if len(aliases):
            at = int(look_up.find_position(aliases, page))
            if at >= 0:
                return self._stored_page("alias.target", at)
        return page

    def canonical(self, page: int) -> str:
        """The canonical address of a page, or `name:` and its opaque name."""
        buffer, names = self._buffer(), self.names
        length = name_codec.decode_name(
            names.words, names.block, names.table, names.shared_table, self._page(page), buffer
        )
        if length <= 0:
            raise self.damaged()
        return from_key(buffer[:length].tobytes().decode("utf-8", "replace"))

    def address(self, page: int) -> str:
        """The address of a page as its own record, or the first link to it, spells it."""
        spelling = int(self.array("name.spelling")[self._page(page)])
        if spelling == APART:
            return self._texts("shown")[page]
        return shown(self.canonical(page), spelling)

    def pages_under(self, prefix: str) -> range:
        """The pages at and below an address: `example.com/blog` has `example.com/blog/1`, not `example.com/blogger`.

        A bare host has its subdomains too.
        """
        return self.pages_below(rules.parse_query(prefix).canonical)

    def pages_below(self, canonical: str) -> range:
        """As `pages_under`, for a canonical address."""
        low = key(canonical).encode("utf-8", "surrogatepass")
        high = low + b"\x04"
        if low.endswith(b")") and not canonical.startswith("name:"):
            high = low[:-1] + (b"-" if b"," in low else b"*")  # with its ports; beyond `,` with its subdomains
        return range(self._lower_bound(low), self._lower_bound(high))

    def place_of(self, canonical: str) -> int:
        """How many pages come before a canonical address, which may be unknown, in the order of keys."""
        return self._lower_bound(key(canonical).encode("utf-8", "surrogatepass"))

    def _lower_bound(self, bound: bytes) -> int:
        names = self.names
        at = name_codec.lower_bound(
            names.words, names.block, names.table, names.shared_table, self.pages,
            np.frombuffer(bound, np.uint8), self._buffer(),
        )  # fmt: skip
        if at < 0:
            raise self.damaged()
        return int(at)

    def nearest(self, address: str, most: int = 5) -> list[str]:
        """Known addresses close to an unknown one, the likeliest first; see nearest.py."""
        from cocite.graph.nearest import nearest

        return nearest(self, address, most)
