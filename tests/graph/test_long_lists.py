"""Long lists: a page of a million links, entry points, chosen parents at their true limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cocite.graph.build.passes import BuildOptions, build
from cocite.graph.store import Graph
from cocite.kernels.codec import lists
from cocite.sources.records import Page, ReadReport
from tests.graph.compare import assert_same
from tests.graph.naive import Naive
from tests.graph.webs import make, page
from tests.kernels.encoded import callable_

decode_part, start_of = callable_(lists.decode_part), callable_(lists.start_of)

LINKS = 1_000_000


class Million:
    """One page with a million links, each address twice in the list's middle, blocks of a thousand."""

    spec, kind = "million", "test"

    def records(self) -> Iterator[pa.RecordBatch]:
        numbers = np.arange(LINKS) * 7919 % LINKS  # 7919 is prime: every number once, in no order
        numbers = np.insert(numbers, LINKS // 2, numbers[:100])
        urls = pc.binary_join_element_wise("https://example.com/p", pa.array(numbers).cast(pa.string()), "")
        links = pa.StructArray.from_arrays(
            [urls, pa.array(np.arange(len(numbers)) // 1000, pa.int32())], ["url", "block"]
        )
        lists = pa.ListArray.from_arrays(pa.array([0, len(numbers)], pa.int32()), links)
        yield pa.RecordBatch.from_arrays([pa.array(["https://example.com/"]), lists], ["url", "links"])


def test_a_page_of_a_million_links(place: Path) -> None:
    built = build([Million()], place / "s", ReadReport(), BuildOptions(threads=2))
    assert (built.pages, built.links) == (LINKS + 1, LINKS)
    graph = Graph(place / "s")
    hub = graph.find("example.com")
    links = graph.links_from(hub)
    assert len(links.targets) == LINKS == len(np.unique(links.targets))
    for place_in_list in (0, 1, 499_999, 500_000, 999_999):
        number = place_in_list * 7919 % LINKS
        assert graph.address(int(links.targets[place_in_list])) == f"https://example.com/p{number}"
    # The hundred addresses that come again in the middle are left out, so the second half is 100 further on.
    assert links.blocks[[0, 499_999, 500_000, 999_999]].tolist() == [0, 499, 500, 1000]
    assert (graph.in_degree == 1).sum() == LINKS
    assert graph.links_to(int(links.targets[123])).tolist() == [hub]
    assert graph.array("out.long.page").tolist() == [hub]
    points = -(-LINKS // 128)
    assert graph.array("out.long.first").tolist() == [0, points]
    assert len(graph.array("out.skip.bit")) == points == 7813
    for point in (0, 1, 4000, points - 1):
        count = min(128, LINKS - 128 * point)
        targets, attributes = np.zeros(count, np.uint32), np.zeros(count, np.uint32)
        start, stop = start_of(graph.out, hub), start_of(graph.out, hub + 1)
        before, attribute = (int(graph.array(f"out.skip.{name}")[point]) for name in ("before", "attribute"))
        place = lists.Place(start + int(graph.array("out.skip.bit")[point]), stop, before, attribute)
        end = decode_part(graph.out, hub, place, count, targets, attributes, 0)
        assert end > 0
        assert targets.tolist() == links.targets[128 * point : 128 * point + count].tolist()
        assert (attributes.astype(np.int64) - 1).tolist() == links.blocks[128 * point : 128 * point + count].tolist()
    ordered, places = graph.array("out.long.target"), graph.array("out.long.place")
    assert np.array_equal(ordered, np.sort(links.targets))
    assert np.array_equal(links.targets[places], ordered)


def test_parents_are_chosen_above_the_limits_only(place: Path) -> None:
    popular = {
        "https://a.example/": 256,
        "https://b.example/": 257,
        "https://c.example/": 2000,
        "https://d.example/": 2001,
    }
    pages: list[Page] = []
    for i in range(2001):
        targets = [target for target, count in popular.items() if i < count]
        # Parents differ in in-degree: parent i is linked to by the next i % 5 parents.
        targets += [f"https://p.example/{(i - k) % 2001}" for k in range(1, 1 + i % 5)]
        pages.append(page(f"https://p.example/{i}", *targets))
    make(place / "s", pages)
    graph = Graph(place / "s")
    names = {kind: [graph.address(int(p)) for p in graph.array(f"{kind}.page")] for kind in ("best", "sample")}
    assert names == {"best": list(popular)[1:], "sample": list(popular)[3:]}
    assert len(graph.array("best.parent")) == 3 * 201
    assert len(graph.array("sample.parent")) == 2000
    assert_same(graph, Naive(pages))
