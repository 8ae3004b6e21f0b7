"""What every method of the folder promises, whatever it computes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadParameter, UnknownMethod, UnknownPage
from cocite.graph.store import Graph
from cocite.parameters import Parameter
from cocite.related import methods
from cocite.related.neighbourhood.view import Switches
from cocite.results.ask import Question, ask, question
from cocite.results.workers import answer
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.graph.webs import page
from tests.webs import make_web

NAMES = methods.names()
PARAMETERS = [(name, each) for name in NAMES for each in methods.about(name).parameters]
WORDS = ["apple", "banana", "cherry", "damson", "elder", "fig", "grape"]
MIRRORED = [f"https://page{n}.example/" for n in range(12)]
LINK_METHODS = [name for name in NAMES if isinstance(methods.method(name).params, Switches)]
RANKED = ("hubfinder",)
"""Methods whose scores are ranks over the whole store."""
BY_CHANCE = ("auto",)
"""Methods that compare with chance, which depends on the number of links in the store."""
BY_WORDS = ("semantic", "link_similarity", "integrated")
"""Mutual information depends on how many pages there are; support, normalised, does not."""
every_method = pytest.mark.parametrize("name", NAMES)
every_link_method = pytest.mark.parametrize("name", LINK_METHODS)


def sample() -> list[Page]:
    """Lists of lists, mirrors that merge, a page that cites itself, pages with no links one way or the other."""
    lists = [
        Page(
            f"https://list{n}.example/links",
            links=[
                Link(f"https://page{(n * 3 + k * k) % 12}.example/", block=k // 3, rel="nofollow" if k == 4 else "")
                for k in range(3 + n)
            ],
        )
        for n in range(6)
    ]
    pages = [
        *lists,
        *(page(f"https://mirror{n}.example/", *MIRRORED) for n in range(2)),
        page(
            "https://hub.example/", "https://mirror0.example/", "https://mirror1.example/", lists[0].url, lists[1].url
        ),
        page("https://hub.example/more", "https://mirror1.example/", lists[0].url, lists[2].url),
        page("https://page0.example/", "https://page1.example/", "https://out.example/", "https://page0.example/"),
        page("https://page1.example/", "https://out.example/", "https://page0.example/"),
        page("https://self.example/", "https://self.example/"),
        page("https://own.example/", "https://own.example/a", "https://own.example/b"),
        page("https://own.example/b", "https://own.example/a"),
        page("https://lonely.example/"),
        page("https://childless-and-cited.example/"),
        page("https://cites.example/", "https://childless-and-cited.example/", "https://page3.example/"),
    ]
    for n, each in enumerate(pages):
        each.text = f"{WORDS[n % 4]} {WORDS[n % 3 + 2]} {WORDS[n % 7]}"
    return pages


def unrelated(n: int, *hosts: str) -> list[Page]:
    """Pages of hosts, each with one link to the next."""
    return [page(f"https://{host}/{i}", f"https://{host}/{i + 1}") for host in hosts for i in range(n)]


@pytest.fixture(scope="module")
def web() -> Web:
    return make_web(sample())


def addresses(web: Web, name: str, *urls: str, k: int = 1000, **given_: Any) -> list[tuple[str, float]]:
    asked = question(web.graph, urls)
    found = ask(web, asked, methods.method(name, given_), k, explained=False)
    return [(each.url, each.score) for each in found]


@every_method
def test_never_the_query_nor_its_near_duplicates(web: Web, name: str) -> None:
    graph = web.graph
    mirrors = [graph.find(f"https://mirror{n}.example/") for n in range(2)]
    assert graph.facts.representative(mirrors[0]) == graph.facts.representative(mirrors[1])
    for seeds in ([number] for number in range(graph.pages)), [[0, 5], mirrors, [mirrors[0], 3, 7]]:
        for asked in seeds:
            scores = methods.method(name).relate(web, asked)
            found = [page for page, _ in scores.ranked(graph.in_degree)]
            assert len(found) == len(set(found))
            never = {*asked, *scores.used}
            if getattr(methods.method(name).params, "merge", False):
                never |= {graph.facts.representative(page) for page in never}
            assert not never & set(found)
            values = [score for _, score in scores.ranked(graph.in_degree)]
            assert all(score >= 1e-12 and math.isfinite(score) for score in values)
            if len(asked) == 1:
                assert values == sorted(values, reverse=True)


@every_method
def test_deterministic_and_in_batches_as_alone(web: Web, name: str) -> None:
    graph, method = web.graph, methods.method(name)
    pages = np.arange(graph.pages, dtype=np.uint32)
    once, again = answer(web, method, pages, 5), answer(Web(Graph(graph.arrays)), methods.method(name), pages, 5)
    assert all(np.array_equal(one, other) for one, other in zip(once, again, strict=True))
    ends = np.cumsum(once.counts)
    for number in range(graph.pages):
        alone = ask(web, Question(("",), (number,)), method, 5, explained=False)
        part = slice(ends[number] - once.counts[number], ends[number])
        assert [each.page for each in alone] == once.pages[part].tolist()
        assert [each.score for each in alone] == once.scores[part].tolist()


@every_method
def test_any_number_of_answers(web: Web, name: str) -> None:
    everything = addresses(web, name, "page0.example", k=100_000)
    assert len(everything) > 5
    for k in (1, 3, len(everything), len(everything) + 1):
        assert addresses(web, name, "page0.example", k=k) == everything[:k]


@every_method
def test_unchanged_by_renumbering(web: Web, name: str) -> None:
    """Pages before, among and behind the others shift their numbers; pages behind them don't."""
    shifted = make_web([*unrelated(3, "aaa.example", "list2a.example", "page1a.example", "zzz.example"), *sample()])
    if name in BY_CHANCE:  # as many links as in the other store
        web = make_web([*sample(), *unrelated(12, "zzz.example")])
        assert len(web.graph.links) == len(shifted.graph.links)
    assert shifted.graph.find("page0.example") > web.graph.find("page0.example")
    one = ("page0.example", "page3.example", "list1.example/links", "mirror1.example", "hub.example/more")
    for query in (*((each,) for each in one), ("page0.example", "page3.example")):
        given_ = {"alpha": 1} if name in BY_WORDS else {}
        now, before = addresses(shifted, name, *query, **given_), addresses(web, name, *query, **given_)
        if name in RANKED:  # a page's rank is a share of the whole store: with more pages all shares change alike
            now, before = ([(url, round(score / found[0][1], 3)) for url, score in found] for found in (now, before))
        assert now == before


@every_link_method
def test_pages_with_little_around_them(web: Web, name: str) -> None:
    links_only = {"words": 0, "best": 0} if name == "auto" else {}
    assert addresses(web, name, "lonely.example", **links_only) == []
    assert addresses(web, name, "self.example", **links_only) == []  # a page's links to itself are none
    for given_ in ({}, {"chop": "strict"}, {"chop": "none"}):
        for query in ("out.example", "page11.example", "list0.example/links", "hub.example", "own.example/a"):
            assert all(score > 0 for _, score in addresses(web, name, query, **given_)), query
    assert {url for url, _ in addresses(web, name, "childless-and-cited.example", **links_only)} <= {
        "https://page3.example/", "https://cites.example/", *(f"https://list{n}.example/links" for n in range(6)),
        *MIRRORED, *(f"https://mirror{n}.example/" for n in range(2)),
    }  # fmt: skip


@every_link_method
def test_cited_by_its_own_site_only(web: Web, name: str) -> None:
    """With units, links inside a site don't count; without them, they count as any other."""
    for unit in ("site", "host", "domain"):
        found = addresses(web, name, "own.example/a", unit=unit)
        siblings = name in ("cocitation", "proximity", "extended_cocitation", "lli")  # those of the own site too
        expected = ["https://own.example/b"] if siblings or name == "auto" else []
        if name == "auto":  # who links to the page is related to it, whoever that is
            expected.append("https://own.example/")
        assert [url for url, _ in found] == expected


@every_link_method
def test_a_page_of_the_stop_list(web: Web, name: str) -> None:
    usual = addresses(web, name, "page0.example")
    assert usual
    stop = ["page1.example", "https://mirror0.example/", "unknown.example", "no address at all", ""]
    without = {url for url, _ in addresses(web, name, "page0.example", stop=stop)}
    assert without
    assert not without & {"https://page1.example/", "https://mirror0.example/"}
    # The stop list is off where the page asked about is on it.
    assert addresses(web, name, "page0.example", stop=[*stop, "page0.example"]) == usual
    assert addresses(web, name, "page0.example", stop_degree=1) == usual


@every_method
def test_a_store_of_one_page(name: str) -> None:
    web = make_web([page("https://only.example/")])
    assert addresses(web, name, "only.example") == []


@every_method
def test_an_unknown_page(web: Web, name: str) -> None:
    """It is answered for its nearest known shorter address; where there is none, the error names similar ones."""
    assert addresses(web, name, "https://page0.example/none") == addresses(web, name, "https://page0.example/")
    with pytest.raises(UnknownPage, match=r"did you mean https://page0\.example/") as caught:
        addresses(web, name, "https://pages0.example/none")
    assert caught.value.nearest[0] == "https://page0.example/"


# ------------------------------------------------------------------------------------------------------- parameters


def wrong(each: Parameter) -> list[Any]:
    """Values that a parameter must refuse."""
    if each.type is bool and each.choices:
        return ["", "perhaps", each.choices[0].upper(), None, 2, 0.5, [], math.nan, [each.choices[0]]]
    if each.choices:
        return ["", "nonsense", each.choices[0].upper(), None, 1, True, [each.choices[0]]]
    if each.type is bool:
        return ["", "perhaps", None, 2, 0.5, [], math.nan]
    if each.many:
        return [None, 5, True, math.nan, {"a"}, ["a", 5], [None]]
    if each.type is str:
        return [None, 5, True, math.nan, ["a"], b"a"]
    values = ["", "many", "1,5", None, True, math.nan, math.inf, -math.inf, "nan", "inf", "9" * 30, "9" * 6000, 1e300]
    values += [[], "1 2", b"\xff", object()] + ([0.5, "0.5"] if each.type is int else [1j])
    values += [] if each.minimum is None else [each.minimum - 1, str(each.minimum - 1), -math.inf]
    return values + ([] if each.maximum is None else [each.maximum * 2, str(each.maximum * 2)])


@pytest.mark.parametrize(("name", "each"), PARAMETERS, ids=lambda value: getattr(value, "name", value))
def test_every_parameter_is_checked(name: str, each: Parameter) -> None:
    for value in wrong(each):
        with pytest.raises(BadParameter) as caught:
            methods.method(name, {each.name: value})
        message = str(caught.value)
        huge = each.type is int and each.maximum is None and value in ("9" * 30, 1e300)
        assert message.startswith(f"{each.name} must be {each.kind}{' below 10^18' if huge else ''}, not ")
        assert "\n" not in message
        assert len(message) < 300
    assert getattr(methods.method(name, {each.name: each.default}).params, each.name) == each.default
    assert each.help
    assert "\n" not in each.help


@every_link_method
@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("(parent=3)", "has no parameter 'parent'; it has "),
        ("(parents=", "; write companion or companion(parents=500, unit=host)"),
        ("(parents)", "Invalid parameter 'parents'; write name=value"),
        ("(=3)", "Invalid parameter '=3'; write name=value"),
        ("(chop=none; parents=3)", "chop must be one of site, host, strict, none, not ('none;', 'parents=3')"),
        ("(chop=none, chop=none)", "chop is given twice"),
        ("(chop)=none", "Invalid method"),
        ('(stop="a.com)', "Invalid parameter 'stop=\"a.com'"),
        ("(chop=)", "chop must be one of site, host, strict, none, not ''"),
    ],
)
def test_a_call_that_cannot_be_read(name: str, written: str, message: str) -> None:
    with pytest.raises(BadParameter) as caught:
        methods.method(name + written)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("call", ["", " ", "companion companion", "companion[]", None, 5, "com\npanion"])
def test_unknown_methods(call: Any) -> None:
    with pytest.raises(BadParameter, match=r"Invalid method .*; write companion"):
        methods.method(call)


def test_an_unknown_method_lists_the_methods() -> None:
    with pytest.raises(UnknownMethod) as caught:
        methods.method("companoin(parents=3)")
    everything = ", ".join(methods.names())
    assert str(caught.value) == f"Unknown method 'companoin'; did you mean companion? Available: {everything}"


def values_of(each: Parameter) -> st.SearchStrategy[Any]:
    """Values that a parameter takes."""
    if each.type is bool and each.choices:
        return st.sampled_from([True, False, *each.choices])
    if each.choices:
        return st.sampled_from(each.choices)
    if each.type is bool:
        return st.booleans()
    if each.type is str:
        texts = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
            ["a.com", "it's", 'a"b', "a, b", "x=y", ")", "''", '"', "https://e.org/A_(b),c", "my file.txt"]
        )
        return texts if not each.many else st.lists(texts.filter(str.strip), max_size=3).map(tuple)
    least, most = each.minimum, each.maximum
    if each.type is int:
        return st.integers(int(least or 0), 10**17 if most is None else int(most))
    return st.floats(least, 1e17 if most is None else most, allow_nan=False)


@every_method
@given(data=st.data())
def test_a_method_is_written_so_that_it_can_be_read_back(name: str, data: st.DataObject) -> None:
    about = methods.about(name)
    chosen = data.draw(st.fixed_dictionaries({}, optional={each.name: values_of(each) for each in about.parameters}))
    method = methods.method(name, chosen)
    assert {key: getattr(method.params, key) for key in chosen} == chosen
    again = methods.method(str(method))
    assert again == method
    assert str(again) == str(method)


def test_how_a_method_is_written() -> None:
    assert str(methods.method("companion")) == "companion"
    assert str(methods.method(" companion ( parents = 500,unit='host', ) ")) == "companion(unit=host, parents=500)"
    assert str(methods.method("companion(parents=2000)")) == "companion"  # the default
    assert str(methods.method("extended-cocitation(merge=NO)")) == "extended_cocitation(merge=false)"
    written = "lli(stop=a.com https://e.org/A_(b) \"b, c.txt\" 'd''e')"
    stop = ("a.com", "https://e.org/A_(b)", "b, c.txt", "d'e")
    assert methods.method(written).params.stop == stop
    assert str(methods.method("lli", {"stop": stop})) == 'lli(stop=a.com https://e.org/A_(b) "b, c.txt" d\'e)'
    assert methods.method("companion(parents=5)", {"parents": 6}).params.parents == 6


@every_method
def test_numbers_at_their_limits(web: Web, name: str) -> None:
    """The least and the greatest value that a parameter takes are values that work."""
    for each in methods.about(name).parameters:
        if each.type in (int, float):
            for value in (each.minimum, 10**18 if each.maximum is None else each.maximum):
                found = addresses(web, name, "page0.example", **{each.name: value})
                assert all(math.isfinite(score) for _, score in found), f"{each.name}={value}"
