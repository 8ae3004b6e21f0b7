"""In-lists of a layer. Most of them only grow at their ends, since new pages have the highest numbers.

A list of bits can be copied as it is, and links be written behind it: a popular page's list of a million links is
neither decoded nor encoded for one more.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.graph.arrays import distinct, find_in
from cocite.graph.build.sort_links import starts_of
from cocite.graph.huffman import Code
from cocite.graph.store import Graph
from cocite.kernels.codec.layer_rows import append_links, bits_of_lists, merge_sources

SOURCE_MASK = np.uint64(0xFFFFFFFF)


class LinkCode(NamedTuple):
    """A code of links, as kernels take it."""

    codes: NDArray[np.uint32]
    lengths: NDArray[np.uint8]


def changed_in_lists(old: Graph, added: NDArray[np.uint64], dropped: NDArray[np.uint64]) -> dict[str, NDArray[Any]]:
    """The whole in-lists of all pages that got or lost a link, as arrays of a layer.

    The links are (target << 32 | source), ascending. A list is read only where a link went or has come between others.
    """
    pages = distinct(np.concatenate([added, dropped]) >> np.uint64(32)).astype(np.int64)
    inside = np.concatenate([dropped, added[added & SOURCE_MASK < np.uint64(old.pages)]]) >> np.uint64(32)
    is_old = pages < old.pages
    anew = is_old & (find_in(distinct(inside), pages.astype(np.uint64)) >= 0)
    read, sources, _ = old.links.read_some(old.into, pages[anew], attributes=False)
    sizes = np.zeros(int(is_old.sum()), np.int64)
    sizes[anew[is_old]] = np.diff(read)
    merged, ends = np.empty(len(sources) + len(added), np.uint32), np.zeros(len(pages) + 1, np.int64)
    count = merge_sources(pages, starts_of(sizes), sources, added, dropped, ends, merged)
    return in_lists(old, pages, is_old & ~anew, ends, merged[:count])


def in_lists(
    graph: Graph, pages: NDArray[np.int64], kept: NDArray[np.bool_], starts: NDArray[np.int64], links: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    """In-lists as arrays of a layer: where `kept`, the list that the page has, and behind it links that come."""
    owners, into, found = pages.astype(np.uint32), graph.links.bits_into, Code.from_lengths(graph.array("in.code"))
    bits = int(bits_of_lists(into, owners[kept]))
    if bits < 0:
        raise graph.damaged()
    words, ends = np.zeros((bits >> 6) + len(links) + 2, np.uint64), np.zeros(len(pages) + 1, np.int64)
    code = LinkCode(found.codes, found.lengths)
    bits = int(append_links(into, owners, kept, links, starts, code, words, ends[1:])) if len(pages) else 0
    degrees = np.diff(starts)
    degrees[kept] += graph.arrays.of_pages("in.degree", pages[kept])
    return {
        "in.page": owners,
        "in.start": ends.astype(np.uint64) if len(pages) else np.zeros(0, np.uint64),
        "in.degree": degrees.astype(np.uint32),
        "in.words": words[: ((bits + 63) >> 6) + 1] if len(pages) else words[:0],
    }
