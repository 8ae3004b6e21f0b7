"""Is a Graph what the slow truth says?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cocite.graph.build import derive
from cocite.graph.changes.removed import RemovedPages
from cocite.graph.names import encode_key
from cocite.graph.store import Graph
from cocite.pages.site import Sites
from tests.graph.naive import Naive, NaiveLink, fingerprint

NOINDEX = 8


def assert_same(graph: Graph, naive: Naive) -> None:
    """Everything that a Graph offers, page by page. With layers, numbers aren't in the order of addresses."""
    names, pages = list(naive.pages), graph.names.in_order()
    assert [graph.canonical(int(page)) for page in pages] == names
    assert len(graph) == len(names)
    assert len(graph.links) == sum(len(page.links) for page in naive.pages.values())
    assert graph.removed == RemovedPages.of_keys(encode_key(name) for name in naive.removed)
    assert graph.fingerprints[pages].tolist() == [fingerprint(name) for name in names]
    place = dict(zip(names, pages.tolist(), strict=True))
    for name, number in place.items():
        assert_same_names(graph, naive, place, name)
        assert_same_links(graph, naive, place, name)
        assert_same_record(graph, naive, number, name)
    assert_same_units(graph, names, pages)
    assert_same_derived(graph, naive, place)


def assert_same_names(graph: Graph, naive: Naive, place: dict[str, int], name: str) -> None:
    page, number = naive.pages[name], place[name]
    lead = place[naive.aliases.get(name, name)]
    assert graph.address(number) == page.address, name
    assert graph.alias_target(number) == lead
    if "name:" not in name:
        assert graph.find(page.address) == lead, "the shown spelling must be found"
        assert graph.find(name) == lead


def assert_same_links(graph: Graph, naive: Naive, place: dict[str, int], name: str) -> None:
    page, number = naive.pages[name], place[name]
    found = graph.links_from(number)
    kept = zip(
        found.targets.tolist(), found.blocks.tolist(), found.flags.tolist(), graph.weights_from(number).tolist(),
        graph.anchors(number), graph.contexts(number), strict=True,
    )  # fmt: skip
    names = {number: name for name, number in place.items()}
    assert [NaiveLink(names[target], *rest) for target, *rest in kept] == page.links, name
    _, *repeated = graph.links.read_repeats(np.array([number]))
    again = zip(*(each.tolist() for each in repeated), strict=True)
    assert [NaiveLink(names[to], (of & 0xFFFFFF) - 1, of >> 24) for to, of in again] == page.again, name
    assert graph.links_to(number).tolist() == sorted(place[parent] for parent in naive.parents[name])
    assert graph.out_degree[number] == len(page.links)
    assert graph.in_degree[number] == len(naive.parents[name])


def assert_same_record(graph: Graph, naive: Naive, number: int, name: str) -> None:
    page = naive.pages[name]
    record = page.record
    assert graph.facts.fetched(number) == page.fetched, name
    assert graph.facts.captured(number) == (record.captured if record else 0), name
    if name in naive.aliases or record is None:
        assert graph.title(number) == graph.text(number) == ""
        return
    assert graph.title(number) == record.title
    assert graph.headings(number) == record.headings
    assert graph.text(number) == record.text
    assert graph.facts.status(number) == record.status
    assert graph.facts.language(number) == record.language
    assert bool(graph.array("page.kind")[number] & NOINDEX) == record.noindex


def assert_same_units(graph: Graph, names: Sequence[str], pages: NDArray[np.int64]) -> None:
    """Unit numbers and unit names are one to one."""
    sites = Sites()
    truth = {"host": sites.host, "domain": lambda name: sites.domain(sites.host(name)), "site": sites.site}
    for unit, named in truth.items():
        pairs = {(int(number), named(name)) for number, name in zip(graph.units(unit)[pages], names, strict=True)}
        assert len({number for number, _ in pairs}) == len({name for _, name in pairs}) == len(pairs), (unit, pairs)
    if "layers" in graph.manifest:  # new hosts are numbered behind
        return
    firsts = [graph.canonical(int(page)) for page in graph.array("host.page")]
    assert [sites.host(name) for name in firsts] == list(dict.fromkeys(map(sites.host, names)))


def assert_same_derived(graph: Graph, naive: Naive, place: dict[str, int]) -> None:
    names = {number: name for name, number in place.items()}
    for kind, more_than, keep, choose in (
        ("best", derive.MANY_PARENTS, derive.BEST_PARENTS, naive.best_parents),
        ("sample", derive.SAMPLE_PARENTS, derive.SAMPLE_PARENTS, naive.sampled_parents),
    ):
        pages = graph.links.stored_parents(kind).page.tolist()
        assert pages == sorted(i for i, name in names.items() if len(naive.parents[name]) > more_than)
        chosen = [graph.links.stored(kind, page).tolist() for page in pages]  # type: ignore[union-attr]
        assert {len(row) for row in chosen} <= {keep}
        assert [[names[p] for p in row] for row in chosen] == [choose(names[p], keep) for p in pages]
    stand_ins = naive.representatives()
    for number, name in names.items():
        assert names[graph.facts.representative(number)] == stand_ins.get(name, name)
        copies = [other for other, stand_in in stand_ins.items() if stand_in == name and other != name]
        assert sorted(names[copy] for copy in graph.facts.near_duplicates(number)) == sorted(copies)
    assert {names[p] for p in graph.array("near.page")} == set(stand_ins)
