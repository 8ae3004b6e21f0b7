"""The web page without a browser: every view answers, everything is escaped, and its files and links are good."""

from __future__ import annotations

import re
import threading
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocite.errors import BadStore, TooMuchWork
from cocite.http.page import pages
from cocite.http.page.pages import PageQuestion
from cocite.http.page.render import shown_address
from cocite.http.page.state import PATHS, State
from cocite.http.page.views import examples
from cocite.sources.records import Link, Page
from tests.http.conftest import BIRDS, EVIL, NASTY, Asking
from tests.webs import make_web

ROBIN = "https://robin.example/"
ASK = f"url={quote(ROBIN, safe='')}"
VIEWS = {
    "/": "Which pages are related",
    f"/?{ASK}": "Related to",
    f"/?{ASK}&url=wren.example&not=fish.example": "Related to 2 pages",
    f"/?{ASK}&group=true": "Related to",
    f"/?{ASK}&k=100&per_site=1&not_own_site=true": "Related to",
    f"/compare?{ASK}": "Compared for",
    f"/compare?{ASK}&method=companion&method=walk": "Compared for",
    f"/picture?{ASK}": "Around",
    f"/hubs?{ASK}": "Hubs around",
    f"/hubs?{ASK}&authorities=on": "Authorities around",
    f"/recommend?{ASK}": "Recommended after",
    f"/recommend?{ASK}&url=wren.example&like=birds.example&not=fish.example&decay=0.5": "Recommended after 2 pages",
    f"/keywords?{ASK}": "Keywords of",
    "/keywords?q=birds": "Keywords beside",
    "/keywords": "Keywords",
    "/communities?q=birds": "Communities about",
    f"/communities?{ASK}": "Communities about",
    "/communities": "Communities",
    "/search?q=birds": "Pages about",
    "/?url=all+birds": "Pages about",
    "/methods": "Methods",
    "/docs": "HTTP interface",
}
ODD = (
    "", "?url=", "?url=%00", "?url=%ff%fe", "?k=-1", "?url=%F0%9F%90%A6&k=9999999", "?q=a&url=b", "?a=b" + "&a=b" * 500,
    "?method=%29%28&url=robin.example", "?url=http://[abc", "?url=http://a%E2%84%80b.com/", "?url=a.example&not=https://]",
)  # fmt: skip
DEEP = ("/?", "/recommend?", "/picture?", "/compare?", "/hubs?", "/keywords?", "/communities?")
VOID = {"meta", "link", "input", "br", "img", "hr"}


class Reader(HTMLParser):
    """Reads a page strictly: what is opened is closed, and what it has is noted."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.said: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names)
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.said).split())


@pytest.mark.parametrize("target", VIEWS)
def test_every_view_is_valid_html(asking: Asking, target: str) -> None:
    answer = asking.get(target)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    page = Reader(answer.text)
    assert VIEWS[target] in page.text
    assert [tag for tag, _ in page.tags].count("h1") == 1
    for tag, has in page.tags:
        assert not any(name.startswith("on") or name == "style" for name in has), has
        assert tag not in ("style", "iframe", "object")
        assert tag != "script" or has["src"].startswith("/static/cocite.js?v=")
        assert re.match("https?://|[/#]", has.get("href", "#"))
        if has.get("href", "").startswith("http"):
            assert has["rel"] == "noopener noreferrer nofollow"
    assert not any(c in answer.text for c in "\u202e\x07")
    identities = [has["id"] for _, has in page.tags if "id" in has]
    assert len(set(identities)) == len(identities)


@pytest.mark.parametrize("view", DEEP)
def test_an_unknown_deep_page_is_answered_for_a_known_one(asking: Asking, view: str) -> None:
    answer = asking.get(f"{view}url={ROBIN}deep/page")
    assert answer.status == 200
    said = " ".join(Reader(answer.text).said)
    assert f"isn't in this store; these results are for {ROBIN}" in " ".join(said.split())


def test_every_link_of_every_view_leads_somewhere(asking: Asking) -> None:
    """Those to this server, once for each kind: what is behind them is a page, a file or JSON."""
    found: dict[str, str] = {}
    for target in VIEWS:
        for _, has in Reader(asking.get(target).text).tags:
            where = has.get("href", has.get("src", ""))
            if where.startswith("/"):
                found.setdefault(re.sub("=[^&]*", "", where), where)
    assert len(found) > 25
    for where in found.values():
        assert (asking.get(where).status in (200, 404) and "/api/" not in where) or asking.get(where).status == 200, (
            where
        )


def test_titles_of_strangers_are_text(asking: Asking) -> None:
    shown = Reader(asking.get(f"/?{ASK}&k=50").text)
    assert "<script>alert(1)</script> \"quoted\" 'q' & gnp </title>]]>" in shown.text
    hrefs = [has["href"] for tag, has in shown.tags if tag == "a"]
    assert any(href == EVIL.replace("'", "%27") or href == EVIL for href in hrefs)
    asked = asking.get(f"/?url={quote(NASTY)}")
    assert "<script>alert" not in asked.text and Reader(asked.text).text


@pytest.mark.parametrize(
    ("target", "status", "says"),
    [
        ("/?url=robbin.example", 404, "robin.example"),
        (f"/?{ASK}&url=nowhere.example", 404, "Ask without it"),
        (f"/?{ASK}&method=no", 200, "Unknown method 'no'; these results are by auto."),
        (f"/picture?{ASK}&method=no(x=1)", 200, "Unknown method 'no(x=1)'; these results are by auto."),
        (f"/compare?{ASK}&method=no&method=walk", 200, "Unknown method 'no'; these results are by walk."),
        (f"/?{ASK}&method=companion(parents=x)", 422, "parents must be a whole number"),
        (f"/?{ASK}&lang=klingon-", 422, "lang must be a code"),
        (f"/picture?{ASK}&{'&'.join(f'url=p{n}.example' for n in range(60))}", 422, "More than 50 addresses"),
        (f"/compare?url={'+'.join(f'p{n}.example' for n in range(60))}", 422, "More than 50 addresses"),
        (f"/hubs?url={'+'.join(f'p{n}.example' for n in range(60))}", 422, "More than 50 addresses"),
        (f"/communities?{'&'.join(f'url=p{n}.example' for n in range(60))}", 422, "More than 50 addresses"),
        (f"/keywords?url={'x' * 5000}.example", 400, "longer than 4,096 characters"),
        (
            f"/compare?{ASK}{''.join(f'&method=companion(parents={n})' for n in range(1, 22))}",
            422,
            "method is given 21 times; the maximum is 20",
        ),
        ("/?url=http://", 400, "Not known here"),
        ("/?url=lonely.example", 200, "lonely.example is known, but auto finds nothing related: look at its links."),
        ("/hubs?url=lonely.example", 200, "No such pages are linked"),
        ("/picture?url=lonely.example", 200, "Compare what all methods find"),
        ("/search?q=%21%21", 422, "No word to search for"),
        ("/search?q=qqqqzzzz", 200, "No page has these words"),
        ("/communities?q=qqqqzzzz", 200, "No community was found"),
        ("/keywords?q=bird", 404, "Did you mean"),
        ("/keywords?url=lonely.example", 200, "Keywords of"),
    ],
)
def test_errors_are_shown(asking: Asking, target: str, status: int, says: str) -> None:
    answer = asking.get(target)
    assert answer.status == status, answer.text[:2000]
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert says in Reader(answer.text).text


@pytest.mark.parametrize("query", ODD)
@pytest.mark.parametrize("path", PATHS.values())
def test_no_address_causes_an_error(asking: Asking, path: str, query: str) -> None:
    answer = asking.get(path + query)
    assert answer.status in (200, 400, 404, 422)
    Reader(answer.text)


@pytest.mark.parametrize("view", ["compare", "hubs"])
def test_excluded_pages_are_shown_only_where_they_apply(asking: Asking, view: str) -> None:
    """Pages that are not wanted stay in the address for the views that heed them."""
    page = Reader(asking.get(f"/{view}?{ASK}&not=wren.example").text)
    assert not any("chips" in has.get("class", "") for _, has in page.tags)
    assert any(has.get("href", "").startswith("/?") and "not=wren.example" in has["href"] for _, has in page.tags)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://www.a.example/x/?b=c#d", "a.example/x?b=c"),
        ("http://A.example", "A.example"),
        ("http://[abc", "[abc"),
        ("http://a\u2100b.example/", "a\u2100b.example"),
        ("www.a.example", "www.a.example"),
        ("javascript:alert(1)", "javascript:alert(1)"),
    ],
)
def test_addresses_as_people_read_them(url: str, shown: str) -> None:
    assert shown_address(url) == shown


@given(st.text())
def test_any_text_is_shown(text: str) -> None:
    assert len(shown_address(f"https://{text}")) <= len(text)


def test_a_card_is_the_strip_of_links_around_both(asking: Asking) -> None:
    """Robin, wren, finch, heron: each list has them in this order."""
    page = asking.get("/?url=wren.example&method=cocitation")
    card = re.search(
        r'<li id="a\d"><span class="rank">\d</span><div class="title"><a [^>]*><bdi>Finch.*?</li>', page.text, re.S
    )
    assert card is not None
    (strip,) = re.findall(r'<p class="strip">(.*?)</p>', card[0])
    assert re.findall(r"<(\w+) dir=.auto.>(\w+)<", strip)[:3] == [("span", "Robin"), ("i", "Wren"), ("b", "Finch")]
    assert re.search(r"</bdi></a>\s*› <bdi[^>]*>Songbirds</bdi>", card[0])
    assert (
        card[0].count('class="related"') == 1
        and 'href="/?url=https%3A%2F%2Ffinch.example%2F&amp;method=cocitation"' in card[0]
    )


@pytest.mark.parametrize("target", VIEWS)
def test_a_title_opens_its_page_and_an_arrow_asks_about_it(asking: Asking, target: str) -> None:
    text = asking.get(target).text
    for where in re.findall(r'class="title"><a href="([^"]*)"', text):
        assert where.startswith("http")
    for where in re.findall(r'<a href="([^"]*)" class="related"', text):
        assert where.startswith("/") and "url=" in where


@pytest.mark.parametrize("view", ["/", "/picture", "/compare", "/hubs", "/keywords"])
def test_a_word_is_searched_where_an_address_is_expected(asking: Asking, view: str) -> None:
    answer = asking.get(f"{view}?url=birds")
    assert answer.status == 200
    assert ("Keywords beside birds" if view == "/keywords" else "Pages about birds") in Reader(answer.text).text


def test_a_line_may_break_between_a_title_and_its_address(asking: Asking) -> None:
    """Without a space there, a narrow screen would break the title instead."""
    html = asking.get(f"/?{ASK}").text
    assert '</div> <div class="address">' in html and '</div><div class="address">' not in html


def test_methods_are_among_the_options(asking: Asking) -> None:
    page = Reader(asking.get(f"/?{ASK}&method=companion(parents=9)").text)
    options = [has for tag, has in page.tags if tag == "option"]
    assert options[0]["value"] == "" and {"cocitation", "companion", "walk"} <= {has["value"] for has in options}
    assert [has["value"] for has in options if "selected" in has] == ["companion(parents=9)"]


@pytest.mark.parametrize("path", ["/nowhere", "/nowhere/x?y=z", "/static"])
def test_a_wrong_address_is_a_page_for_browsers(asking: Asking, path: str) -> None:
    shown = asking.get(path, accept="text/html,application/xhtml+xml,*/*;q=0.8")
    assert (shown.status, shown.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no page at this address" in Reader(shown.text).text
    assert asking.get(path).json["error"]["kind"] == "NotFound"
    assert asking.get(f"/api{path}", accept="text/html").json["error"]["kind"] == "NotFound"


def test_the_first_page_offers_pages_that_differ() -> None:
    """Two topics of five pages each, on six lists; one more page is on twenty lists, and another on one."""
    topics = [[f"https://{topic}{n}.example/" for n in range(5)] for topic in ("bird", "fish")]
    lists = [
        Page(
            f"https://list{n}.example/",
            f"List {n}",
            links=[Link(url, url[8:13], at) for at in (0, 1) for url in topics[at]],
        )
        for n in range(6)
    ]
    lists += [
        Page(f"https://fan{n}.example/", f"Fan {n}", links=[Link("https://famous.example/", "Famous")])
        for n in range(20)
    ]
    lists[0].links.append(Link("https://rare.example/", "Rare", 2))
    fetched = Page(topics[1][3], "A fish")
    found = [url for url, _, _ in examples(make_web([*lists, fetched]))]  # type: ignore[arg-type]
    assert found[0] == fetched.url
    assert {found[1][8:12], found[2][8:12]} == {"bird", "famo"}  # one of each place, then the others
    assert "https://rare.example/" not in found and len(found) == 9


def test_files(asking: Asking) -> None:
    picture = asking.get(f"/picture?{ASK}&format=gexf")
    assert picture.headers["content-type"].startswith("application/gexf+xml") and "<gexf" in picture.text
    assert "<gexf" in asking.get("/communities?q=birds&format=gexf").text
    assert asking.get("/communities?q=birds&format=html").text.startswith("<!doctype html>")
    for target in (f"/hubs?{ASK}&format=csv", "/search?q=birds&format=csv"):
        assert asking.get(target).text.startswith("rank,score,url,title,why\n")


def test_pages_have_an_etag_of_their_parameters(asking: Asking) -> None:
    first = asking.get(f"/?{ASK}")
    assert asking.get(f"/?{ASK}", if_none_match=first.headers["etag"]).status == 304
    assert asking.get(f"/?{ASK}&k=3").headers["etag"] != first.headers["etag"]
    assert asking.get(f"/picture?{ASK}").headers["etag"] != first.headers["etag"]


def test_the_state_is_on_the_page_once(asking: Asking) -> None:
    page = Reader(asking.get(f"/?{ASK}&method=cocitation&k=5&per_site=3").text)
    at = next(n for n, (tag, has) in enumerate(page.tags) if tag == "form" and has.get("id") == "state")
    hidden = [(has["name"], has["value"]) for tag, has in page.tags[at + 1 : at + 5] if has.get("type") == "hidden"]
    assert hidden == [("url", ROBIN), ("method", "cocitation"), ("k", "5"), ("per_site", "3")]
    buttons = [has for tag, has in page.tags if tag == "button" and has.get("form") == "state"]
    assert {has["name"] for has in buttons} == {"url", "not"} and len(buttons) == 10


def test_missing_side_data_is_explained(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asking = Asking(made)
    parts: dict[str, Any] = asking.service.web.__dict__["_parts"]
    for name in ("search", "keywords", "relevance"):
        monkeypatch.delitem(parts, name)
    assert "no search index" in asking.get("/search?q=birds").text
    assert "no keywords" in asking.get(f"/keywords?{ASK}").text
    assert "no search index" in asking.get("/communities?q=birds").text
    assert asking.get(f"/?{ASK}").status == asking.get("/").status == 200
    asking.close()


def test_assets_are_small_and_load_nothing_from_other_hosts() -> None:
    folder = Path(__file__).parents[2] / "src" / "cocite" / "http" / "page" / "static"
    sizes = {file.name: file.stat().st_size for file in folder.iterdir()}
    assert set(sizes) == {"cocite.css", "cocite.js", "icon.svg"}
    assert sum(sizes.values()) < 40_000
    for name in ("cocite.css", "cocite.js"):
        text = (folder / name).read_text("utf-8")
        assert "://" not in text.replace('includes("://")', "") and "@import" not in text and "innerHTML" not in text


def test_the_known_page_is_shown_by_name(asking: Asking) -> None:
    assert "All about birds" in Reader(asking.get(f"/?url={BIRDS}").text).text


@pytest.mark.parametrize("path", PATHS.values())
def test_a_page_is_not_a_hundred_times_as_long_as_its_question(asking: Asking, path: str) -> None:
    """Every link of a page repeats the question, so a long one is refused; the API answers it."""
    query = "&".join(f"url=https://x{n}.example/{'a/' * 550}" for n in range(50))
    asked = asking.get(f"{path}?{query}")
    assert asked.status == 400 and "too long for a page" in asked.text and len(asked.body) < 20_000
    assert asking.get(f"/api/related?{query}").status == 404


@pytest.mark.parametrize("status", [200, 404, 422, 503])
@pytest.mark.parametrize("path", PATHS.values())
def test_long_addresses_do_not_hold_up_the_event_loop(
    made: Path, monkeypatch: pytest.MonkeyPatch, path: str, status: int
) -> None:
    """15 kB of them are read, and the page about them is made, in a thread; whatever comes of it."""
    server, made_of = Asking(made), dict[int, list[int]]()
    render = pages.render

    def noted(template: str, *, state: State, **values: Any) -> bytes:
        made_of.setdefault(threading.get_ident(), []).append(len(state.address()))
        return render(template, state=state, **values)

    monkeypatch.setattr(pages, "render", noted)
    if status >= 422:
        error = TooMuchWork("too much") if status == 422 else BadStore("gone")
        monkeypatch.setattr(PageQuestion, "work", lambda *_: (_ for _ in ()).throw(error))
    query = "&".join(f"url=https://x{n}.example/{'a/' * 550}" for n in range(14))
    query += {200: "&q=birds", 404: ""}.get(status, f"&{status}")
    asked = server.get(f"{path}?{query}")
    server.close()
    assert asked.status in (200, 400, 404, 422, 503)
    at_loop = made_of.pop(threading.get_ident(), [])
    assert all(length < 100 for length in at_loop), "a page about 15 kB was made by the event loop"
    assert at_loop or made_of, "no page was made"


def test_recommendations_have_keywords_groups_and_feedback(asking: Asking) -> None:
    page = Reader(asking.get(f"/recommend?{ASK}&url=wren.example").text)
    assert "Because you read" in page.text and "Related keywords" in page.text
    buttons = {(has.get("name"), has.get("class")) for tag, has in page.tags if tag == "button"}
    assert {("like", "add"), ("not", "not")} <= buttons
    more = asking.get(f"/recommend?{ASK}&like=wren.example")
    assert more.status == 200 and 'name="like" value="wren.example"' in more.text, "the next question keeps it"
