"""NPEA alone: which pages are kept, which are dropped, and why; on every surface."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cocite.errors import BadParameter, UnknownPage
from cocite.operations.words.filter import PagesFiltered
from cocite.python import Store
from tests.cli.conftest import run
from tests.operations.test_communities import site, store, urls

__all__ = ["store"]
ROOT = [site(name) for name in ("papers0", "papers1", "papers2", "post", "globe", "times")]


def test_the_pages_around_a_root_set(store: Store) -> None:
    """As `communities` eliminates them: eight pages of spam, each linked with one of six root pages."""
    found = store.filter(root=ROOT, basis="root", npea="max")
    assert isinstance(found, PagesFiltered) and found.root == 6
    assert set(urls(found)) == set(urls(found.kept)) == {url.split(".")[0].removeprefix("https://") for url in ROOT}
    assert set(urls(found.dropped)) == {f"spam{n}" for n in range(8)}
    assert all(page.root and page.why == "in the root set" and page.label == "" for page in found)
    same = store.communities(pages=ROOT, basis="root", npea="max")
    assert [(page.url, page.measure, page.why) for page in found.dropped] == [
        (page.url, page.measure, page.why) for page in same.noise
    ]
    assert found.threshold == same.threshold and repr(found) == "<6 pages kept, 8 dropped>"


def test_given_pages_only(store: Store) -> None:
    """Of pages that are given, none is added and none is lost; a root page among them is kept."""
    pages = [site("spam3"), site("post"), "nowhere.example", site("cars0"), "https://"]
    found = store.filter(pages=pages, root=[url for url in ROOT if url != site("post")], basis="root", npea="min")
    assert (urls(found), urls(found.dropped), found.unknown) == (["post"], ["spam3", "cars0"], (pages[2], pages[4]))
    assert found[0].why.startswith("linked with 3 of 5 root pages; its measure ") and " reaches " in found[0].why
    assert found.dropped[1].why.startswith("no link with root pages; its measure 0 is below ")
    assert urls(store.filter(pages=[site("post")], root=ROOT)) == ["post"]
    assert store.filter(pages=[site("spam3")], root=ROOT, npea="off").kept_in_all == 1
    first = store.filter(root=ROOT, basis="root", npea="max", k=2)
    assert (len(first), len(first.dropped), first.kept_in_all, first.dropped_in_all) == (2, 2, 6, 8)


def test_words_give_a_root_set_and_labels(store: Store) -> None:
    """The labels of Hou & Zhang 2002, §4: noise has none of the words, a suspected page at most one link with R."""
    found = store.filter("daily", npea="max", basis="root", window=0)
    labels = {page.url.split(".")[0].removeprefix("https://"): page.label for page in (*found.kept, *found.dropped)}
    assert labels["times"] == "topic" and labels["papers0"] == "topic"  # the texts of its links have the word
    assert {labels[f"spam{n}"] for n in range(8)} == {"noise"}


def test_wrong_questions(store: Store) -> None:
    with pytest.raises(BadParameter, match="No root set to compare with: give words of a topic, or root pages"):
        store.filter(pages=ROOT)
    with pytest.raises(BadParameter, match="This is done by the method community, not 'lli'"):
        store.filter("daily", method="lli")
    with pytest.raises(UnknownPage):
        store.filter(root="nowhere.example")


def test_on_the_command_line(store: Store, place: Path) -> None:
    file = place / "pages.txt"
    file.write_text(f"# to filter\n{site('spam1')}\n{site('post')}\nnowhere.example\n")
    root = [part for url in ROOT for part in ("--root", url)]
    options = ("--file", file, *root, "-m", "community(basis=root, npea=max)", "-i", store.graph.path)
    done = run("filter", *options)
    assert done.code == 0
    assert [line.split("\t")[0::2] for line in done.out.splitlines()] == [["keep", ROOT[3]], ["drop", site("spam1")]]
    assert "linked with 1 of 6 root pages" in done.out
    assert f"Not in this store: 1 page of {file}, such as nowhere.example" in done.err
    told = json.loads(run("filter", *options, "--json").out)
    assert (told["kept_in_all"], told["dropped_in_all"], told["unknown"]) == (1, 1, ["nowhere.example"])
    assert [page["url"] for page in told["dropped"]] == [site("spam1")] and "page" not in told["kept"][0]
    done = run("filter", "zebra", "-i", store.graph.path)
    assert done.code == 1 and "No page has any of the words 'zebra': try others" in done.err
    done = run("filter", "--page", "nowhere.example", "daily", "-i", store.graph.path)
    assert done.code == 1 and "None of the pages to filter is in this store" in done.err
