"""Addresses made to have the public hash of another page: a page is its name, on every surface."""

from __future__ import annotations

import json
from itertools import islice, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cocite
from cocite.errors import UnknownPage
from cocite.graph import generation
from cocite.graph.build.maintain import compact, remove
from cocite.graph.build.number import look_up_arrays
from cocite.graph.changes.removed import RemovedPages
from cocite.graph.check import check, count_twins
from cocite.graph.clicks import open_clicks
from cocite.graph.store import Graph
from cocite.operations.store.check import Check
from cocite.sources.clicks import Trail
from cocite.sources.page_records import write_jsonl
from cocite.sources.records import Page, ReadReport
from tests.forged import all_forged, forged, hash_of
from tests.graph.trails import add_clicks
from tests.graph.webs import extend, make, page

VICTIM, OTHER, LIST = "https://victim.example/", "https://other.example/", "https://list.example/"
FORGED = forged(VICTIM)
OWN = page(VICTIM, "https://one.example/", "https://two.example/", title="The victim")
LISTED = page(LIST, VICTIM, OTHER, title="A list")
MENTION = page("https://forum.example/", FORGED, OTHER, title="A forum")
EVIL = page(FORGED, "https://casino.example/", title="Casino", captured="2030-01-01")


def links(graph: Graph, url: str) -> list[str]:
    return [graph.address(int(target)) for target in graph.links_from(graph.find(url)).targets]


def parents(graph: Graph, url: str) -> list[str]:
    return [graph.address(int(source)) for source in graph.links_to(graph.find(url))]


def assert_apart(graph: Graph) -> None:
    """Both addresses are pages of their own, with their own links and titles."""
    victim, evil = graph.find(VICTIM), graph.find(FORGED)
    assert victim != evil and graph.fingerprints[victim] == graph.fingerprints[evil]
    assert [graph.address(page) for page in (victim, evil)] == [VICTIM, FORGED]
    assert graph.title(victim) == "The victim"
    assert links(graph, VICTIM) == ["https://one.example/", "https://two.example/"]
    assert parents(graph, VICTIM) == [LIST] and parents(graph, FORGED) == ["https://forum.example/"]


@pytest.mark.parametrize("pages", [*permutations([OWN, LISTED, MENTION])])
def test_one_link_takes_nothing_from_a_page(pages: list[Page]) -> None:
    graph = Graph.from_records(pages)
    assert_apart(graph)
    assert graph.title(graph.find(FORGED)) == ""


@pytest.mark.parametrize("pages", [*permutations([OWN, LISTED, MENTION, EVIL])])
def test_a_crawled_page_replaces_only_itself(pages: list[Page]) -> None:
    graph = Graph.from_records(pages)
    assert_apart(graph)
    assert graph.title(graph.find(FORGED)) == "Casino" and links(graph, FORGED) == ["https://casino.example/"]


def test_a_redirect_moves_only_its_own_address() -> None:
    graph = Graph.from_records([OWN, LISTED, MENTION, Page(FORGED, redirect="https://casino.example/")])
    assert graph.address(graph.find(VICTIM)) == VICTIM
    assert graph.address(graph.find(FORGED)) == "https://casino.example/"


@pytest.fixture
def store(place: Path) -> Path:
    built = make(place / "web.cocite", [OWN, LISTED, MENTION])
    assert built.twins == 1, "a build reports it"
    return built.path


def test_pages_that_are_added_replace_only_themselves(store: Path) -> None:
    assert extend(store, [EVIL]).twins == 1
    assert_apart(Graph(store))
    assert extend(store, [page(LIST, VICTIM, OTHER)]).twins == 0, "it says what it has changed"
    assert_apart(Graph(store))
    assert count_twins(Graph(store)) == 1, "which all of them are, a check says"
    compact(store)
    assert_apart(Graph(store))
    assert check(store) == []


def test_an_add_reports_pages_that_look_like_any_other(store: Path) -> None:
    """Of the base, of an earlier layer or of its own; not those that are gone."""
    evil = [forged(VICTIM, f"{letter}.example") for letter in "abcd"]
    assert extend(store, [page("https://one.example/", evil[0])]).twins == 1
    assert extend(store, [page("https://two.example/", evil[1], evil[2])]).twins == 2
    assert remove([VICTIM, FORGED, *evil[:2]], store).twins == 0
    assert extend(store, [page("https://three.example/", evil[3])]).twins == 1, "as the one that is left"
    assert remove([evil[2]], store).twins == 0
    assert count_twins(Graph(store)) == 0
    other = [forged(OTHER, f"{letter}.example") for letter in "ab"]
    assert extend(store, [page("https://four.example/", OTHER, *other)]).twins == 2
    one, *more = (forged("https://new.example/", f"{letter}.example") for letter in "abc")
    assert extend(store, [page("https://five.example/", one, *more)]).twins == 2, "each as the first"


def test_removing_a_forged_page_keeps_the_other(store: Path) -> None:
    extend(store, [EVIL])
    assert remove([FORGED], store).twins == 0
    for _ in range(2):
        graph = Graph(store)
        assert graph.get(FORGED) is None and graph.title(graph.find(VICTIM)) == "The victim"
        assert parents(graph, VICTIM) == [LIST] and len(links(graph, VICTIM)) == 2
        assert check(store) == []
        extend(store, [OWN, LISTED, MENTION, EVIL])
    remove([VICTIM], store)
    extend(store, [OWN, LISTED, MENTION, EVIL])
    assert Graph(store).get(VICTIM) is None and Graph(store).get(FORGED) is None


def test_clicks_stay_with_their_page(store: Path) -> None:
    remove([FORGED], store)
    add_clicks(Graph(store), [Trail([LIST, VICTIM], [(0, 1)], 5)], ReadReport())
    make_again = [page("https://a.example/", forged(VICTIM, "a.example"), forged(VICTIM, "z.example"))]
    extend(store, make_again)
    graph = Graph(store)
    assert count_twins(graph) == 2
    found = open_clicks(graph).after(graph.find(LIST))
    assert [(graph.address(int(page)), steps) for page, steps in zip(found.pages, found.steps, strict=True)] == [
        (VICTIM, 5)
    ]


def test_answers_name_the_page_itself(place: Path) -> None:
    """Python, and so every front end: search, links, related pages and their reasons."""
    lists = [page(f"https://list{n}.example/", VICTIM, OTHER, title=f"List {n}") for n in range(4)]
    forums = [page(f"https://forum{n}.example/", FORGED, "https://shop.example/") for n in range(4)]
    write_jsonl([*forums, OWN, *lists, EVIL], place / "pages.jsonl")
    cocite.build([place / "pages.jsonl"], place / "web.cocite")
    web = cocite.open(place / "web.cocite")
    assert [each.url for each in web.search("victim")] == [VICTIM]
    assert [each.url for each in web.related(OTHER, method="cocitation")] == [VICTIM]
    assert [each.url for each in web.related("https://shop.example/", method="cocitation")] == [FORGED]
    assert {each.url for each in web.links(VICTIM).cited_by} == {each.url for each in lists}


def test_check_reports_it(store: Path) -> None:
    assert check(store) == [] and count_twins(Graph(store)) == 1
    result = Check(store=str(store)).do(lambda *_: None)
    assert result.faults == [] and "1 address with the fingerprint of another page" in result.notes[0]


def test_a_store_with_many_is_looked_up(place: Path) -> None:
    urls = list(islice(all_forged(hash_of(VICTIM)), 300))
    graph = Graph.from_records([OWN, LISTED, page("https://forum.example/", *urls)])
    assert sum(graph.fingerprints == graph.fingerprints[graph.find(VICTIM)]) == 301
    assert [graph.address(graph.find(url)) for url in (VICTIM, *urls)] == [VICTIM, *urls]


# --------------------------------------------------------------------------------------------------- stores of format 1


def as_format_1(store: Path, removed: list[int] = []) -> None:  # noqa: B006 - it isn't changed
    """Turn a store without layers into one as version 0.1.0 wrote it."""
    assert generation.read_pointer(store)[2] == ()
    folder, manifest = generation.read_current(store)
    graph = Graph(store)
    _, pages, _ = look_up_arrays(graph.fingerprints, ordered=False)
    arrays: dict[str, Any] = {"look_up.page": pages, "removed": np.array(removed, np.uint64)}
    for name, values in arrays.items():
        (folder / f"{name}.bin").write_bytes(values.tobytes())
        manifest["arrays"][name] |= {"length": len(values), "digest": generation.digest(values.tobytes())}
    (folder / "removed.digest.bin").unlink()
    del manifest["arrays"]["removed.digest"]
    manifest["format"] = 1
    raw = json.dumps(manifest).encode()
    (folder / "manifest.json").write_bytes(raw)
    (store / "CURRENT").write_text(f"{folder.name} {generation.digest(raw)}\n")


def test_a_store_of_format_1_opens_and_is_renewed_by_any_change(place: Path) -> None:
    urls = [f"https://p{n}.example/" for n in range(300)]
    make(place / "s", [OWN, LISTED, page("https://forum.example/", *urls)])
    as_format_1(place / "s")
    graph = Graph(place / "s")
    assert graph.manifest["format"] == 1 and check(place / "s") == []
    assert [graph.address(graph.find(url)) for url in urls] == urls
    extend(place / "s", [LISTED])
    assert Graph(place / "s").manifest["format"] == generation.FORMAT_NUMBER and check(place / "s") == []


def test_check_finds_mixed_up_pages_of_format_1(store: Path) -> None:
    as_format_1(store)
    assert Graph(store).find(VICTIM) != Graph(store).find(FORGED)
    [fault] = check(store)
    assert fault.where == "fingerprint" and "format 1" in fault.what


def test_pages_removed_from_format_1_stay_out(store: Path) -> None:
    fingerprint = int(Graph(store).fingerprints[Graph(store).find(VICTIM)])
    remove([VICTIM, FORGED], store)
    compact(store)  # format 1 has no layers
    as_format_1(store, [fingerprint])
    graph = Graph(store)
    assert graph.removed == RemovedPages(((fingerprint, bytes(16)),)) and graph.removed.weak == 1
    extend(store, [OWN, LISTED, MENTION, EVIL])
    assert Graph(store).get(VICTIM) is None and Graph(store).get(FORGED) is None
    assert check(store) == [] and Graph(store).removed.weak == 1
    assert "remove them again" in Check(store=str(store)).do(lambda *_: None).notes[0]
    remove([FORGED], store)
    assert Graph(store).removed.weak == 0 and len(Graph(store).removed) == 1
    extend(store, [OWN, LISTED, MENTION, EVIL])
    assert Graph(store).title(Graph(store).find(VICTIM)) == "The victim" and Graph(store).get(FORGED) is None
    with pytest.raises(UnknownPage, match="was removed already"):
        remove([FORGED], store)
