"""Links that pages repeat: written, read, and damaged."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.graph.encode import count_symbols, encode
from cocite.graph.huffman import Code
from cocite.kernels.codec.link_codec import DAMAGED, link_table
from cocite.kernels.codec.list_bounds import packed
from cocite.kernels.codec.lists import Lists
from cocite.kernels.codec.repeats import read_some_repeats
from tests.graph.webs import examples

PAGES = 40
links = st.tuples(st.integers(0, PAGES - 1), st.integers(1, 12), st.sampled_from([0, 1, 16]))
webs = st.lists(st.lists(links, max_size=12), min_size=PAGES, max_size=PAGES)


def lists_of(repeats: list[list[tuple[int, int, int]]]) -> Lists:
    """Repeated links (target, section + 1, flags) of each page, as a store keeps them; each page has as many others."""
    flat = [link for some in repeats for link in some]
    targets = np.array([target for target, _, _ in flat], np.uint32)
    attributes = np.array([flags << 24 | block for _, block, flags in flat], np.uint32)
    starts, owners = np.cumsum([0, *map(len, repeats)]), np.arange(PAGES, dtype=np.uint32)
    code = Code.from_counts(count_symbols(targets, attributes, starts, owners))
    words, bits, ends, degrees = encode(targets, attributes, starts, owners, code)
    words = np.append(words[: (bits + 63) >> 6], np.uint64(0))
    return Lists(words, *packed(ends.astype(np.uint64)), degrees, link_table(code.table))


def without_own(repeats: list[list[tuple[int, int, int]]]) -> list[list[tuple[int, int, int]]]:
    """By section, without links of a page to itself."""
    return [
        sorted((link for link in some if link[0] != page), key=lambda link: link[1])
        for page, some in enumerate(repeats)
    ]


@examples(60)
@given(webs, st.lists(st.integers(0, PAGES - 1), max_size=60))
def test_reading_what_was_written(repeats: list[list[tuple[int, int, int]]], pages: list[int]) -> None:
    """One target may follow itself, in the next section."""
    repeats = without_own(repeats)
    lists, starts = lists_of(repeats), np.zeros(len(pages) + 1, np.int64)
    wanted = [link for page in pages for link in repeats[page]]
    targets, attributes = np.zeros(len(wanted), np.uint32), np.zeros(len(wanted), np.uint32)
    assert read_some_repeats(lists, np.array(pages, np.uint32), targets, attributes, starts) == len(pages)
    assert np.diff(starts).tolist() == [len(repeats[page]) for page in pages]
    found = zip(targets.tolist(), (attributes & 0xFFFFFF).tolist(), (attributes >> 24).tolist(), strict=True)
    assert list(found) == wanted
    if wanted:
        short = targets[:-1], attributes[:-1]
        assert read_some_repeats(lists, np.array(pages, np.uint32), *short, starts) == DAMAGED, "too little room"


@examples(40)
@given(webs, st.sampled_from(["words", "bounds", "degree", "table"]), st.data())
def test_damage_stays_in_bounds(repeats: list[list[tuple[int, int, int]]], part: str, data: st.DataObject) -> None:
    lists = lists_of(without_own(repeats))
    values = getattr(lists, part).copy()
    for _ in range(3):
        at = data.draw(st.integers(int(part == "bounds"), len(values) - 1))
        values[at] = data.draw(st.integers(0, int(np.iinfo(values.dtype).max)) | st.integers(0, 300))
    damaged, starts = lists._replace(**{part: values}), np.zeros(2, np.int64)
    for page in range(PAGES):
        targets, attributes = np.full(20, PAGES, np.uint32), np.zeros(20, np.uint32)
        state = read_some_repeats(damaged, np.array([page], np.uint32), targets, attributes, starts)
        assert state in (1, DAMAGED)
        if state == 1:
            assert (targets[: starts[1]] < PAGES).all()
