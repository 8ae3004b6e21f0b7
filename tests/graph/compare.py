"""Is a Graph what the slow truth says?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cocite.graph.build import derive
from cocite.graph.names import encode_key
from cocite.graph.removed import RemovedPages
from cocite.graph.store import Graph
from cocite.pages.site import Sites
from tests.graph.naive import Naive, NaiveLink, fingerprint

NOINDEX = 8


def assert_same(graph: Graph, naive: Naive) -> None:
    """Everything that a Graph offers, page by page."""
    names = list(naive.pages)
    assert [graph.canonical(i) for i in range(graph.pages)] == names
    assert len(graph.links) == sum(len(page.links) for page in naive.pages.values())
    assert graph.removed == RemovedPages.of_keys(encode_key(name) for name in naive.removed)
    assert graph.fingerprints.tolist() == [fingerprint(name) for name in names]
    for number, name in enumerate(names):
        assert_same_names(graph, naive, number, name)
        assert_same_links(graph, naive, number, name)
        assert_same_record(graph, naive, number, name)
    assert_same_units(graph, names)
    assert_same_derived(graph, naive)


def assert_same_names(graph: Graph, naive: Naive, number: int, name: str) -> None:
    page = naive.pages[name]
    lead = naive.number[naive.aliases.get(name, name)]
    assert graph.address(number) == page.address, name
    assert graph.alias_target(number) == lead
    if "name:" not in name:
        assert graph.find(page.address) == lead, "the shown spelling must be found"
        assert graph.find(name) == lead


def assert_same_links(graph: Graph, naive: Naive, number: int, name: str) -> None:
    page = naive.pages[name]
    found = graph.links_from(number)
    kept = zip(
        found.targets.tolist(), found.blocks.tolist(), found.flags.tolist(), graph.weights_from(number).tolist(),
        graph.anchors(number), graph.contexts(number), strict=True,
    )  # fmt: skip
    names = list(naive.pages)
    assert [NaiveLink(names[target], *rest) for target, *rest in kept] == page.links, name
    low, high = np.searchsorted(graph.links.repeats.page, [number, number + 1])
    again = zip(*(each[low:high].tolist() for each in graph.links.repeats[1:]), strict=True)
    assert [NaiveLink(names[to], (of & 0xFFFFFF) - 1, of >> 24) for to, of in again] == page.again, name
    assert graph.links_to(number).tolist() == sorted(naive.number[parent] for parent in naive.parents[name])
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


def assert_same_units(graph: Graph, names: Sequence[str]) -> None:
    """Unit numbers and unit names are one to one."""
    sites = Sites()
    truth = {"host": sites.host, "domain": lambda name: sites.domain(sites.host(name)), "site": sites.site}
    for unit, named in truth.items():
        pairs = {(int(number), named(name)) for number, name in zip(graph.units(unit), names, strict=True)}
        assert len({number for number, _ in pairs}) == len({name for _, name in pairs}) == len(pairs), (unit, pairs)
    firsts = [graph.canonical(int(page)) for page in graph.array("host.page")]
    assert [sites.host(name) for name in firsts] == list(dict.fromkeys(map(sites.host, names)))


def assert_same_derived(graph: Graph, naive: Naive) -> None:
    names = list(naive.pages)
    for kind, more_than, keep, choose in (
        ("best", derive.MANY_PARENTS, derive.BEST_PARENTS, naive.best_parents),
        ("sample", derive.SAMPLE_PARENTS, derive.SAMPLE_PARENTS, naive.sampled_parents),
    ):
        pages = graph.array(f"{kind}.page").tolist()
        assert pages == [i for i, name in enumerate(names) if len(naive.parents[name]) > more_than]
        chosen = graph.array(f"{kind}.parent").reshape(len(pages), keep).tolist()
        assert [[names[p] for p in row] for row in chosen] == [choose(names[p], keep) for p in pages]
    stand_ins = naive.representatives()
    for number, name in enumerate(names):
        assert names[graph.facts.representative(number)] == stand_ins.get(name, name)
        copies = [other for other, stand_in in stand_ins.items() if stand_in == name and other != name]
        assert sorted(names[copy] for copy in graph.facts.near_duplicates(number)) == sorted(copies)
    assert [names[p] for p in graph.array("near.page")] == [name for name in names if name in stand_ins]
