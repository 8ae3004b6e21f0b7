"""TrustRank against its formula, and what trust does to questions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadParameter
from cocite.related import methods, ranks
from cocite.related.neighbourhood.view import Switches
from cocite.related.ranks.trustrank import trusted_web
from cocite.results.ask import ask, question
from cocite.results.filters import Filters
from cocite.sources.records import Page
from cocite.web import Web
from tests.graph.webs import examples, page
from tests.webs import make_web, numbered_graph

LINK_METHODS = [name for name in methods.names() if isinstance(methods.method(name).params, Switches)]
TRUSTED = "https://trusted.example/"


def naive_trust(pages: int, links: set[tuple[int, int]], seeds: set[int], jump: float = 0.15) -> list[float]:
    """T = (1 - c) · Σ T / |O| + c · E, a thousand times; what pages without links hold goes to E."""
    e = [pages / len(seeds) if page in seeds else 0.0 for page in range(pages)]
    out = [sum(source == page for source, _ in links) for page in range(pages)]
    trust = e
    for _ in range(1000):
        held = sum(trust[page] for page in range(pages) if not out[page])
        trust = [
            (1 - jump) * (sum(trust[a] / out[a] for a, b in links if b == page) + held * e[page] / pages)
            + jump * e[page]
            for page in range(pages)
        ]
    return trust


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20), st.sets(st.integers(0, 7), min_size=1))
@examples(15)
def test_the_formula(links: set[tuple[int, int]], seeds: set[int]) -> None:
    links = {(a, b) for a, b in links if a != b}
    graph = numbered_graph(8, links)
    named = tuple(graph.canonical(page) for page in seeds)
    found = ranks.rank("trustrank", {"seeds": named}).compute(graph)
    truth = naive_trust(8, links, seeds)
    assert found.converged
    assert found.values.tolist() == pytest.approx(truth, abs=1e-5)
    assert trusted_web(graph, named).untrusted.tolist() == [page for page in range(8) if truth[page] == 0]


def attacked() -> list[Page]:
    """Three lists that a trusted page links to, and thirty that nobody does, all with the query page."""
    q, lists = "https://q.example/", [f"https://list{n}.example/" for n in range(3)]
    good = [page(url, q, "https://good.example/", f"https://x{n}.example/") for n, url in enumerate(lists)]
    bad = [page(f"https://bad{n}.example/", f"https://y{n}.example/", "https://spam.example/", q) for n in range(30)]
    return [page(TRUSTED, *lists), *good, *bad]


@pytest.fixture(scope="module")
def web() -> Web:
    return make_web(attacked())


@pytest.mark.parametrize("name", LINK_METHODS)
def test_links_of_pages_without_trust_are_ignored(web: Web, name: str) -> None:
    def results(**how: tuple[str, ...]) -> list[str]:
        filters = Filters(**how)  # type: ignore[arg-type]
        method = methods.method(name, {"chop": "none"})
        return [each.url for each in ask(web, question(web.graph, ["q.example"]), method, 50, filters)]

    assert "https://spam.example/" in results() or name == "hubfinder"
    trusted = results(trust=(TRUSTED,))
    assert trusted
    assert not any("spam" in url or "bad" in url or "//y" in url for url in trusted)


def test_trust_is_a_parameter_of_methods_and_a_filter_of_all_operations(web: Web) -> None:
    asked = question(web.graph, ["q.example"])
    by_name = ask(web, asked, methods.method(f"cocitation(trust={TRUSTED})"), 50)
    by_filter = ask(web, asked, methods.method("cocitation"), 50, Filters(trust=(TRUSTED,)))
    assert [each.url for each in by_name] == [each.url for each in by_filter] != []
    assert by_name.facts["pages without trust"] == 61


def test_seeds_that_the_store_does_not_have(web: Web) -> None:
    with pytest.raises(BadParameter, match="none of the trusted pages"):
        trusted_web(web.graph, ("https://unknown.example/",))
    assert not np.isin(web.graph.find(TRUSTED), trusted_web(web.graph, (TRUSTED, "https://unknown.example/")).untrusted)
