"""The arrays of a store as FORMAT.md lists them: their types, and which lengths follow from which.

Compiled loops trust both, so a store whose manifest says otherwise is not opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.codec.name_codec import BLOCK

NOFOLLOW, UGC, SPONSORED, ME, BOILERPLATE = 1, 2, 4, 8, 16
"""Flags of a link."""
REL = {"nofollow": NOFOLLOW, "ugc": UGC, "sponsored": SPONSORED, "me": ME}
PER_BASE = 16
"""Pages that share one 64-bit base of their lists' offsets."""
TYPES = {
    "u1": "name.code name.spelling page.kind out.code in.code",
    "u2": "page.status",
    "u4": "look_up.start look_up.page page.captured page.language page.host page.site host.page site.page host.domain "
    "alias.page alias.target near.page near.representative out.offset in.offset out.degree in.degree out.long.page "
    "in.long.page out.skip.bit in.skip.bit out.skip.before in.skip.before out.skip.attribute out.long.target "
    "out.long.place best.page best.parent sample.page sample.parent repeat.page repeat.target repeat.attribute",
    "u8": "fingerprint name.words name.block removed out.words in.words out.base in.base out.first out.long.first "
    "in.long.first out.long.link",
    "f4": "out.weight",
}
TEXTS = ("shown", "title", "headings", "text", "anchors", "contexts")
TYPE_OF = {name: np.dtype(f"<{code}") for code, names in TYPES.items() for name in names.split()} | {
    f"{column}.{part}": np.dtype(f"<{code}")
    for column in TEXTS
    for part, code in (("pages", "u4"), ("first", "u4"), ("offset", "u8"), ("data", "u1"))
}


def rows_of(ascending: NDArray[Any], first: int, count: int = 1) -> tuple[int, int]:
    """Where the rows of some pages, from a first one on, begin and end in an array of pages, which ascend.

    They are looked for in its own type: for another NumPy would copy the whole array, at every step.
    """
    ends = np.array([first, first + count - 1], ascending.dtype)
    return int(np.searchsorted(ascending, ends[0])), int(np.searchsorted(ascending, ends[1], "right"))


def contradictions(arrays: Mapping[str, NDArray[Any]], pages: int, links: int) -> Iterator[str]:
    """Names of arrays that are of another type or length than they must be."""

    def length(name: str) -> int:
        return len(arrays[name]) if name in arrays else 0

    yield from (name for name, values in arrays.items() if values.dtype != TYPE_OF.get(name, values.dtype))
    exact = dict.fromkeys(("fingerprint", "look_up.page", "name.spelling", "page.kind", "page.host"), pages)
    exact |= {"page.site": pages}
    exact |= {"name.block": -(-pages // BLOCK), "name.code": 514, "out.first": -(-pages // PER_BASE)}
    for d in ("out", "in"):
        exact |= {f"{d}.degree": pages, f"{d}.offset": pages + 1, f"{d}.base": pages // PER_BASE + 1, f"{d}.code": 513}
        exact |= {f"{d}.long.first": length(f"{d}.long.page") + 1, f"{d}.skip.before": length(f"{d}.skip.bit")}
    exact |= {"out.skip.attribute": length("out.skip.bit"), "out.long.link": length("out.long.page") + 1}
    exact |= {"out.long.place": length("out.long.target"), "host.domain": length("host.page")}
    exact |= dict.fromkeys(("repeat.target", "repeat.attribute"), length("repeat.page"))
    exact |= {"alias.target": length("alias.page"), "near.representative": length("near.page")}
    exact |= {"look_up.start": (1 << max(1, (pages // 4).bit_length())) + 1}
    exact |= {f"{column}.offset": length(f"{column}.first") for column in TEXTS}
    for column in TEXTS:
        parts = [f"{column}.{part}" for part in ("pages", "first", "offset", "data")]
        if any(name in arrays for name in parts):
            yield from (name for name in parts if name not in arrays)
    yield from (name for name, wanted in exact.items() if length(name) != wanted)
    yield from (name for name in ("page.captured", "page.status", "page.language") if length(name) not in (0, pages))
    yield from (name for name in ("out.words", "in.words", "name.words") if not length(name))
    if length("out.weight") not in (0, links):
        yield "out.weight"
    for kind in ("best", "sample"):
        if length(f"{kind}.parent") % max(1, length(f"{kind}.page")):
            yield f"{kind}.parent"
