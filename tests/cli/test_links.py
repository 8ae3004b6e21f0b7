"""cocite links: blocks, marks, citations, limits, and strangers' texts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cocite.errors import BadStore
from cocite.graph.store import Graph
from cocite.operations.store.links import citation, parents
from cocite.results import known
from cocite.sources.records import Link, Page
from tests.cli.conftest import LIST, LONELY, NEWS, OLD, OTHER, run
from tests.graph.webs import make, tight

CLEAN = "[31mred [0m [bold]markup[/bold] gnp line"  # building made each control character a space


def test_children_by_block_and_parents(store: Path) -> None:
    ran = run("links", "lists.example/papers", "-i", store)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "Papers",
        LIST,
        "4 out-links · 1 in-link · captured 2024-05-06 · status 200 · language en",
        "",
        "Links to",
        "  Dailies",
        f"    1\tThe News\t{NEWS}",
        f"    2\t{CLEAN}\t{OTHER}\tnofollow ugc",
        "  without a heading boilerplate",
        "    3\tImprint\thttps://foot.example/",
        "  unknown section",
        "    4\t\thttps://loose.example/",
        "",
        "Linked from (most linked first)",
        f"  {CLEAN}\thttps://blog.example/roll\tas “papers” under “Roll” next to news",
    ]


def test_the_most_linked_parent_comes_first(store: Path) -> None:
    ran = run("links", NEWS, "-i", store)
    # Both parents have one link in: then the order of pages counts, in which blog comes before lists.
    assert [line.split("\t")[1] for line in ran.out.splitlines() if "\t" in line] == ["https://blog.example/roll", LIST]
    assert "known from links only" in ran.out


def test_limits(store: Path) -> None:
    few = run("links", LIST, "-k", "1", "-i", store).out
    assert "and 3 more: -k 0 shows all" in few
    assert "Imprint" not in few
    assert "Imprint" in run("links", LIST, "-k", "0", "-i", store).out
    assert "and 1 more" in run("links", NEWS, "-k", "1", "-i", store).out


def test_json(store: Path) -> None:
    ran = run("links", "http://www.lists.example/papers/", "-i", store, "--json")
    found = json.loads(ran.out)
    assert found["query"] == "http://www.lists.example/papers/"
    assert found["page"] == {
        "url": LIST, "title": "Papers", "read": True, "links_out": 4, "links_in": 1, "status": 200,
        "captured": "2024-05-06T00:00:00+00:00", "lang": "en", "noindex": False,
    }  # fmt: skip
    assert [(block["block"], block["heading"], len(block["links"])) for block in found["blocks"]] == [
        (0, "Dailies", 2), (1, "", 1), (None, "", 1),
    ]  # fmt: skip
    second = found["blocks"][0]["links"][1]
    assert second["position"] == 2
    assert second["rel"] == ["nofollow", "ugc"]
    assert found["blocks"][1]["links"][0]["boilerplate"] is True
    cited = found["cited_by"][0]
    assert cited["url"] == "https://blog.example/roll"
    assert (cited["heading"], cited["text"], cited["in_links"]) == ("Roll", "papers", 1)
    assert cited["beside"] == [{"text": "news", "url": NEWS}]


def test_json_has_everything_that_is_kept_of_a_link(place: Path) -> None:
    link = Link(NEWS, "news", 0, "good, daily", "ugc", 0.1)
    make(place / "web.cocite", [Page(LIST, links=[link], noindex=True)])
    found = json.loads(run("links", LIST, "-i", place / "web.cocite", "--json").out)
    assert found["page"]["noindex"] is True
    assert found["blocks"][0]["links"] == [{
        "position": 1, "url": NEWS, "text": "news", "title": "", "context": "good, daily", "rel": ["ugc"],
        "weight": 0.1, "boilerplate": False,
    }]  # fmt: skip
    cited = json.loads(run("links", NEWS, "-i", place / "web.cocite", "--json").out)["cited_by"][0]
    assert (cited["context"], cited["weight"], cited["rel"]) == ("good, daily", 0.1, ["ugc"])


def test_a_parent_that_does_not_link_to_the_page_is_damage(store: Path) -> None:
    graph = Graph(store)
    for parent in (LIST, LONELY):
        with pytest.raises(BadStore, match="damaged"):
            citation(graph, graph.find(OTHER if parent == LONELY else parent), graph.find(parent))


def test_an_alias_leads_to_its_page(store: Path) -> None:
    ran = run("links", OLD, "-i", store)
    assert ran.out.splitlines()[0] == f"{NEWS} (that address leads here)"
    assert "that address leads" not in run("links", "news.example", "-i", store).out


def test_a_page_without_links_is_1(store: Path) -> None:
    ran = run("links", LONELY, "-i", store)
    assert ran.code == 1
    assert ran.err == f"cocite: {LONELY} is known, but has no links\n"
    assert run("links", LONELY, "-i", store, "--json").code == 1


def test_an_unknown_page(store: Path) -> None:
    """It is answered for its nearest known shorter address; without one the exit code is 3."""
    ran = run("links", f"{LIST}/none", "-i", store)
    assert ran.code == 0 and ran.out.splitlines()[0] == f"{LIST}/none isn't in this store; these results are for {LIST}"
    assert "leads here" not in ran.out
    assert json.loads(run("links", f"{LIST}/none", "-i", store, "--json").out)["note"].endswith(f"are for {LIST}")
    ran = run("links", "https://list.example/papers", "-i", store)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("cocite: ")
    assert f"did you mean {LIST}?" in ran.err
    assert ran.err.count("\n") == 1
    ran = run("links", "not\x1b[31m an address", "-i", store)
    assert ran.err == "cocite: 'not\\x1b[31m an address' is not in this store, nor is a page with these words\n"


def test_words_find_pages_of_a_store_without_a_search_index(
    store: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A small store gets an index for it; about a large one, the message names the command that makes it."""
    copy = shutil.copytree(store, tmp_path / "web.cocite", ignore=shutil.ignore_patterns("side"))
    monkeypatch.setattr(known, "MAX_PAGES_INDEXED", 0)
    ran = run("links", "some papers", "-i", copy)
    assert ran.code == 3 and "give an address, or find pages by: cocite search 'some papers'" in ran.err
    monkeypatch.undo()
    ran = run("links", "some papers", "-i", copy)
    assert ran.code == 3 and f"did you mean {LIST}" in ran.err


def test_ready_made_parents_give_the_same_order(place: Path) -> None:
    """A page with many parents has the best of them kept ready; a page with few has them sorted here."""
    pages = [Page(f"https://p{i}.example/", links=[Link("https://hub.example/")]) for i in range(8)]
    pages += [
        Page(f"https://q{i}.example/", links=[Link(f"https://p{j}.example/") for j in range(i)]) for i in range(8)
    ]
    with tight():  # from 4 links in on, the 2 best parents are kept ready
        make(place / "web.cocite", pages)
    graph = Graph(place / "web.cocite")
    hub = graph.find("hub.example")
    assert len(graph.array("best.parent")) > 0
    by_degree = [graph.find(f"p{i}.example") for i in range(8)]  # p0 has 7 links in, p7 none
    assert parents(graph, hub, 2) == by_degree[:2]
    assert parents(graph, hub, 5) == by_degree[:5]
    assert parents(graph, hub, 0) == by_degree


@pytest.mark.parametrize("near", [0, 1, 5])
def test_neighbours_are_in_the_same_section(place: Path, near: int) -> None:
    links = [Link(f"https://l{i}.example/", f"l{i}", 0 if i < 4 else 1) for i in range(7)]
    make(place / "web.cocite", [Page(LIST, links=links)])
    graph = Graph(place / "web.cocite")
    found = citation(graph, graph.find("l3.example"), graph.find(LIST), near)
    assert [each["text"] for each in found.beside] == {0: [], 1: ["l2"], 5: ["l0", "l1", "l2"]}[near]
