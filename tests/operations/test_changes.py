"""Questions as of a date, and what changed between two dates, on every front end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cocite
from cocite.errors import BadParameter
from cocite.mcp.server import CurrentStore, assistant_server
from cocite.operations.pages.changes import Changes
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.cli.conftest import run
from tests.graph.webs import make
from tests.http.conftest import Asking
from tests.mcp.conftest import call

NEWS = [f"https://news{n}.example/" for n in range(6)]
METHOD = "cocitation"


def capture(number: int, year: int, targets: list[str]) -> Page:
    links = [Link(target, f"News {target[12]}", block=0) for target in targets]
    return Page(f"https://list{number}.example/", f"List {number} in {year}", links=links, headings=["Dailies"],
                captured=f"{year}-06-0{number + 1}")  # fmt: skip


@pytest.fixture(scope="module")
def store(fast_root: Path) -> Path:
    """Lists that have news 0, 1 and 2 in 2009, and 0, 2 and 3 in 2024."""
    old, new = [NEWS[0], NEWS[1], NEWS[2]], [NEWS[0], NEWS[2], NEWS[3]]
    pages = [capture(n, year, targets) for n in range(5) for year, targets in ((2009, old), (2024, new))]
    make(fast_root / "archive.cocite", pages, history=True)
    return fast_root / "archive.cocite"


def test_what_became_and_ceased_to_be_related(store: Path) -> None:
    found = Changes(url=NEWS[0], start="2009", end="2024", method=METHOD).run(Web(store))
    assert (found.start, found.end) == ("2009-06-05", "2024-06-05")
    assert [each.url for each in found.became] == [NEWS[3]]
    assert [each.url for each in found.ceased] == [NEWS[1]]
    assert found.stayed == [NEWS[2]]
    assert (found.became[0].other_rank, found.ceased[0].other_rank) == (None, None)
    assert "in 2024" in str(found.became[0].reasons[0]) and "in 2009" in str(found.ceased[0].reasons[0])


def test_a_page_that_was_unknown_then(store: Path) -> None:
    found = Changes(url=NEWS[3], start="2009", method=METHOD).run(Web(store))
    assert {each.url for each in found.became} == {NEWS[0], NEWS[2]} and not found.ceased
    assert found.note == f"{NEWS[3]} was not known on 2009-06-05"
    assert not Changes(url=NEWS[3], start="2009", method=METHOD).why_empty(Web(store), found)
    with pytest.raises(cocite.UnknownPage):
        Changes(url=NEWS[5], start="2009", method=METHOD).run(Web(store))


def test_nothing_changed(store: Path) -> None:
    asked = Changes(url=NEWS[0], start="2009-06-05", end="2015", method=METHOD)
    found = asked.run(Web(store))
    assert not found.became and not found.ceased and len(found.stayed) == 2
    assert "Nothing changed around" in asked.why_empty(Web(store), found)


@pytest.mark.parametrize(("dates", "message"), [(("2024", "2009"), "exchange them"), (("20x", ""), "date")])
def test_dates_that_make_no_sense(dates: tuple[str, str], message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        Changes(url=NEWS[0], start=dates[0], end=dates[1])


def test_on_the_command_line(store: Path) -> None:
    asked = ("related", NEWS[0], "-m", METHOD, "-i", store, "--json")
    then, now = (json.loads(run(*asked, *date).out) for date in (("--as-of", "2009"), ()))
    assert {each["url"] for each in then["answers"]} == {NEWS[1], NEWS[2]}
    assert {each["url"] for each in now["answers"]} == {NEWS[2], NEWS[3]}
    assert then["store"]["as_of"] == "2009-06-05" and "as_of" not in now["store"]
    links = json.loads(run("links", "list0.example", "--as-of", "2009", "-i", store, "--json").out)
    assert [link["url"] for link in links["blocks"][0]["links"]] == NEWS[:3]
    shown = run("changes", NEWS[0], "--from", "2009", "--to", "2024", "-m", METHOD, "-i", store)
    assert shown.code == 0 and [line.split("\t")[0] for line in shown.out.splitlines()[:2]] == ["became", "ceased"]
    assert "1 page stayed related, from 2009-06-05 to 2024-06-05" in shown.out
    early = run(*asked, "--as-of", "2001")
    assert early.code == 2 and "The first capture in this store is of 2009-06-01" in early.err
    info = run("info", store)
    assert "captures\t10\tfrom 2009-06-01 to 2024-06-05" in info.out.replace("  ", "")


def test_over_http_and_on_the_web_page(store: Path) -> None:
    asking = Asking(store)
    try:
        then = asking.get(f"/api/related?url={NEWS[0]}&method={METHOD}&as_of=2009").json
        assert {each["url"] for each in then["answers"]} == {NEWS[1], NEWS[2]}
        found = asking.get(f"/api/changes?url={NEWS[0]}&from=2009&to=2024&method={METHOD}").json
        assert [each["url"] for each in found["became"]] == [NEWS[3]] and found["from"] == "2009-06-05"
        refused = asking.get(f"/api/related?url={NEWS[0]}&as_of=1999")
        assert refused.status in (400, 422) and "first capture" in refused.json["error"]["message"]
        page = asking.get(f"/?url={NEWS[0]}&method={METHOD}&as_of=2009-06-05").text
        assert '<select name="as_of" id="as_of">' in page and "<option selected>2009-06-05</option>" in page
        assert NEWS[1] in page and "From the captures up to 2009-06-05." in page
        assert f"/compare?url={NEWS[0].replace('/', '%2F').replace(':', '%3A')}" in page and "as_of=2009-06-05" in page
        assert "2024-06-05, the newest" in asking.get(f"/?url={NEWS[0]}").text
        assert asking.get("/api/store").json["history"]["first"] == "2009-06-01"
    finally:
        asking.close()


def test_in_python_and_for_assistants(store: Path) -> None:
    web = cocite.open(store)
    then = web.related(NEWS[0], METHOD, as_of="2009")
    assert {each.url for each in then} == {NEWS[1], NEWS[2]} and then.to_networkx() is not None
    assert [each.url for each in web.changes(NEWS[0], start="2009", method=METHOD).became] == [NEWS[3]]
    assert [each.url for each in web.as_of("2009").related(NEWS[0], METHOD)] == [each.url for each in then]
    server = assistant_server(CurrentStore(store), 60)
    found = call(server, "changes", {"url": NEWS[0], "from": "2009", "to": "2024", "method": METHOD})
    assert not found.is_error and [each["url"] for each in found.structured_content["became"]] == [NEWS[3]]
    old = call(server, "related_pages", {"urls": [NEWS[0]], "method": METHOD, "as_of": "2009"})
    assert {each["url"] for each in old.structured_content["pages"]} == {NEWS[1], NEWS[2]}


def test_a_store_without_history(place: Path) -> None:
    make(place / "s", [capture(1, 2009, NEWS)])
    shown = run("related", NEWS[0], "--as-of", "2009", "-i", place / "s")
    assert shown.code == 2 and "cocite build SOURCE... --history -o STORE" in shown.err
    asking = Asking(place / "s")
    try:
        assert 'id="as_of"' not in asking.get(f"/?url={NEWS[0]}").text
    finally:
        asking.close()
