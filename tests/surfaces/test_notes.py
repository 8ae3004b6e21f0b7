"""The note of a result is on every front end: here, that pages of one site count one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cocite
from cocite.mcp.server import CurrentStore, assistant_server
from cocite.related import methods
from cocite.related.neighbourhood.view import ONE_SITE_NOTE, UNLINKED_NOTE
from cocite.sources.records import Page
from tests.cli.conftest import run
from tests.graph.webs import make, page
from tests.http.conftest import Asking
from tests.mcp.conftest import call, text

WIKI = [f"https://wiki.example/p{n}" for n in range(9)]
GROUP_TOOLS = ("communities", "filter_pages")  # they look at pages around, whoever links to the page
WITH_NOTE = ("companion", "kleinberg", "extended_cocitation", "lli", "community")
METHOD_CALLS = {name: f"{name}(unit=auto)" for name in ("cocitation", "proximity")} | {name: name for name in WITH_NOTE}


def wiki() -> list[Page]:
    """Every page links to three others, and to another site."""
    links = [[WIKI[(n + k * k + 1) % 9] for k in range(3)] for n in range(9)]
    pages = [page(url, *its, "https://elsewhere.example/") for url, its in zip(WIKI, links, strict=True)]
    for each in pages:
        each.text = "words of a wiki"
    return pages


@pytest.fixture
def store(place: Path) -> Path:
    make(place / "web.cocite", wiki())
    return place / "web.cocite"


@pytest.mark.parametrize("name", METHOD_CALLS)
def test_every_method_with_a_unit_finds_pages_of_one_site_and_says_so(name: str, store: Path) -> None:
    web = cocite.open(store)
    found = web.related(WIKI[0], METHOD_CALLS[name])
    assert sum(answer.url in WIKI for answer in found) >= 3
    assert found.note == ONE_SITE_NOTE
    assert ONE_SITE_NOTE in repr(found) and ONE_SITE_NOTE in found._repr_html_()
    apart = web.related(WIKI[0], str(methods.method(name, {"unit": "none"})))
    assert [(a.url, a.score) for a in apart] == [(a.url, a.score) for a in found] and not apart.note
    named = web.related(WIKI[0], str(methods.method(name, {"unit": "site"})))  # a unit given by name is kept
    assert not named.note and [(a.url, a.score) for a in named] != [(a.url, a.score) for a in found]


def test_another_site_that_links_to_the_page_makes_two(place: Path) -> None:
    make(place / "web.cocite", [*wiki(), page("https://list.example/", WIKI[0], "https://other.example/")])
    web = cocite.open(place / "web.cocite")
    assert not web.related(WIKI[0], "companion").note
    assert web.related(WIKI[1], "companion").note == ONE_SITE_NOTE
    assert not web.related([WIKI[0], WIKI[1]], "companion").note


def test_on_the_command_line(store: Path) -> None:
    ran = run("related", WIKI[0], "-i", store, "-m", "companion")
    assert ran.out.splitlines()[0] == ONE_SITE_NOTE
    assert json.loads(run("related", WIKI[0], "-i", store, "-m", "companion", "--json").out)["note"] == ONE_SITE_NOTE
    ran = run("related", WIKI[0], "-i", store, "-m", "companion", "--csv")
    assert ONE_SITE_NOTE not in ran.out and ONE_SITE_NOTE in ran.err
    assert run("compare", WIKI[0], "-i", store).out.startswith(ONE_SITE_NOTE)
    ran = run("communities", "--page", WIKI[0], "-i", store, "-m", "community(npea=off)")
    assert (ran.code, ran.out.splitlines()[0]) == (0, UNLINKED_NOTE)
    assert run("filter", "--root", WIKI[0], "-i", store).out.startswith(UNLINKED_NOTE)


def test_over_http_and_on_the_web_page(store: Path) -> None:
    asking = Asking(store)
    try:
        for route in ("related?method=lli&url", "compare?method=lli&url"):
            assert asking.get(f"/api/{route}={WIKI[0]}").json["note"].startswith(ONE_SITE_NOTE)
        for route in ("communities?url", "filter?root"):
            assert asking.get(f"/api/{route}={WIKI[0]}").json["note"].startswith(UNLINKED_NOTE)
        for path in ("?method=lli&", "compare?method=lli&", "picture?method=lli&"):
            assert ONE_SITE_NOTE in asking.get(f"/{path}url={WIKI[0]}").text, path
        assert UNLINKED_NOTE in asking.get(f"/communities?url={WIKI[0]}").text
        assert ONE_SITE_NOTE not in asking.get(f"/?url={WIKI[0]}&method=cocitation").text
    finally:
        asking.close()


def test_for_assistants(store: Path) -> None:
    current = CurrentStore(store)
    current.preparing.join()
    server = assistant_server(current, timeout=120)
    tools: dict[str, dict[str, Any]] = {
        "related_pages": {"urls": [WIKI[0]], "method": "lli"},
        "compare": {"urls": [WIKI[0]], "methods": ["lli"]},
        "communities": {"urls": [WIKI[0]]},
        "filter_pages": {"root": [WIKI[0]]},
    }
    for tool, arguments in tools.items():
        result, note = call(server, tool, arguments), UNLINKED_NOTE if tool in GROUP_TOOLS else ONE_SITE_NOTE
        assert note in (result.structured_content or {})["note"]
        assert note in text(result)


def test_in_a_reading_history(store: Path) -> None:
    assert cocite.open(store).related(history=[(WIKI[0], 1.0), (WIKI[1], 2.0)], method="lli").note == ONE_SITE_NOTE
