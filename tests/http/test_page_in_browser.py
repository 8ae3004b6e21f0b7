"""The web page in a real browser: the main paths, without scripts, on a phone, in the dark, and what goes wrong."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from cocite.evaluate.study import new, write
from cocite.graph.clicks import open_clicks
from cocite.graph.store import Graph
from cocite.related.methods import method
from cocite.sources.records import Link, Page
from cocite.web import Web
from tests.conftest import long, smoke
from tests.graph.webs import make
from tests.http.browser import (
    ARABIC,
    HUGO,
    JEKYLL,
    MAX_SECONDS,
    PAGES,
    STONE,
    Watched,
    axe,
    browsing,
    chromium,
    closed,
    ended_after,
)
from tests.http.test_run import serving

pytestmark = [long, pytest.mark.timeout(method="thread")]  # a signal does not end what waits in Playwright's event loop
ASK = f"url={quote(HUGO, safe='')}"
TOKEN = "a-token-of-the-only-rater"
VIEWS = {
    "first": "/",
    "related": f"/?{ASK}&k=12",
    "several": f"/?{ASK}&url=jekyll.example&not=lato.example&per_site=2",
    "groups": f"/?{ASK}&group=true",
    "compare": f"/compare?{ASK}",
    "recommend": f"/recommend?{ASK}&url=jekyll.example&like=pelican.example",
    "picture": f"/picture?{ASK}",
    "crowd": f"/picture?url={STONE}",
    "hubs": f"/hubs?{ASK}",
    "keywords": f"/keywords?{ASK}",
    "words": "/keywords?q=static",
    "communities": "/communities?q=static+site+generator",
    "search": "/?url=static+site",
    "unknown": "/?url=hugo.example.org",
    "nothing": "/?url=lonely.example",
    "methods": "/methods",
    "study": f"/study?token={TOKEN}&at=1",
    "docs": "/docs",
}
BOXES = """() => [...document.querySelectorAll(".picture li")].flatMap(item =>
  [...item.querySelectorAll(".title, .address, .strip > *, .on-list, .rank, .related")]
    .filter(each => each.checkVisibility())
    .map(each => {
      const { left, right, top, bottom } = each.getBoundingClientRect(), own = item.getBoundingClientRect();
      const clipped = each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflow !== "visible";
      const outside = left < own.left - 1 || right > own.right + 1 || top < own.top - 1 || bottom > own.bottom + 1;
      return { name: each.innerText, left, right, top, bottom, clipped: clipped || outside };
    }))"""
COVERED = """() => [...document.querySelectorAll(".answers > li")].flatMap(item => {
  const arrow = item.querySelector(".related").getBoundingClientRect(), range = document.createRange();
  return [...item.querySelectorAll(".title, .strip > *, .facts, .why summary")]
    .filter(each => (range.selectNodeContents(each), [...range.getClientRects()].some(box =>
      Math.min(box.right, arrow.right) - Math.max(box.left, arrow.left) > 1 &&
      Math.min(box.bottom, arrow.bottom) - Math.max(box.top, arrow.top) > 1)))
    .map(each => each.innerText);
})"""
BEYOND = """(found, width) => found.filter(each => each.checkVisibility()).filter(each => {
  const { left, right } = each.getBoundingClientRect(), box = each.parentElement.getBoundingClientRect();
  return left < box.left - 1 || right > Math.min(width, box.right + 1);
}).map(each => each.innerText)"""
PASTE = """text => {
  const data = new DataTransfer(), field = document.querySelector("#url");
  data.setData("text", text);
  field.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, cancelable: true}));
}"""
DIRECTION = "title => getComputedStyle([...document.querySelectorAll('bdi')].find(e => e.innerText == title)).direction"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
PHONE = {"width": 390, "height": 844}
Opening = Callable[..., Watched]


@pytest.fixture(scope="module")
def base(fast_root: Path) -> Iterator[str]:
    """A server of a small store, with a study, all that it keeps made."""
    chromium()
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        store, study = Path(folder) / "web.cocite", Path(folder) / "study"
        make(store, PAGES)
        web = Web(store)
        queries = [HUGO, JEKYLL]
        write(new(web, queries, [method("cocitation"), method("companion")], 3), study)
        (study / "tokens.json").write_text(json.dumps({"": TOKEN}))
        with serving(store, Path(folder), "--study", str(study)) as (server, _):
            server.wait_for(lambda: json.loads(server.get("/api/store"))["keywords"])
            yield server.address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.fixture
def opening(browser: Any, base: str) -> Iterator[Opening]:
    """Opens pages; at the end none of them may have had errors, policy violations or requests to others."""
    opened: list[Watched] = []

    def opens(target: str = "/", **options: Any) -> Watched:
        watched = Watched(browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options}), base)
        opened.append(watched)
        watched.open(target)
        return watched

    with ended_after(MAX_SECONDS):
        yield opens
    wrong = [each for watched in opened for each in watched.wrong]
    for watched in opened:
        closed(watched.context)
    assert wrong == []


def titles(page: Any) -> list[str]:
    found: list[str] = page.locator(".answers .title").all_inner_texts()
    return found


@pytest.fixture(scope="module")
def dated(fast_root: Path) -> Iterator[str]:
    """A server of a store with history: two lists, each captured in two years."""
    chromium()
    old, new = (
        [Link(f"https://{name}.example/", name) for name in names] for names in (("news", "old"), ("news", "new"))
    )
    pages = [
        Page(f"https://list{n}.example/", f"List {n}, {year}", links=links, captured=f"{year}-03-0{n + 1}")
        for n in range(2)
        for year, links in ((2009, old), (2024, new))
    ]
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        store = Path(folder) / "web.cocite"
        make(store, pages, history=True)
        with serving(store, Path(folder)) as (server, _):
            yield server.address


@smoke
def test_a_slider_of_dates(browser: Any, dated: str) -> None:
    """It stands in the place of a choice of dates. Moving it shows its date, letting it go asks as of then."""
    with ended_after(MAX_SECONDS):
        watched = Watched(browser.new_context(viewport=PHONE), dated)
        watched.open("/?url=news.example&method=cocitation")
        page = watched.page
        slider, shown = page.locator("#date"), page.locator(".date output")
        assert not page.locator("#as_of").is_visible() and not page.locator(".date button").is_visible()
        assert (slider.get_attribute("max"), slider.input_value()) == ("3", "3")
        assert shown.inner_text() == "2024-03-02, the newest"
        assert page.get_by_label("As of").get_attribute("id") == "date"
        assert titles(page) == ["new"]
        box = slider.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
        slider.focus()
        page.evaluate("document.querySelector('#date').value = 1; "
                      "document.querySelector('#date').dispatchEvent(new Event('input'))")  # fmt: skip
        assert shown.inner_text() == "2009-03-02" == slider.get_attribute("aria-valuetext")
        page.keyboard.press("ArrowLeft")
        page.wait_for_url("**as_of=2009-03-01*")
        assert titles(page) == ["old"] and shown.inner_text() == "2009-03-01"
        page.locator("#date").press("End")
        page.wait_for_url(re.compile(r"url=news\.example&method=cocitation&k=10$"))
        assert titles(page) == ["new"]
        assert watched.wrong == []
        closed(watched.context)


@smoke
def test_first_visit_offers_pages_that_lead_to_answers(opening: Opening) -> None:
    page = opening("/").page
    assert page.locator("h1").inner_text() == "Which pages are related to this page?"
    assert page.locator(".figures dd").first.inner_text() == "69"
    page.locator(".cards a").first.click()
    page.wait_for_url("**/?url=*")
    assert len(titles(page)) > 5


@smoke
def test_an_address_is_searched(opening: Opening) -> None:
    page = opening("/").page
    page.fill("#url", "hugo.example")
    page.press("#url", "Enter")
    page.wait_for_url("**/?url=hugo.example")  # what says nothing is not in the address
    assert page.locator("h1").inner_text() == "Related to Hugo"
    assert "Jekyll" in titles(page)
    assert page.locator(".answers .address").first.is_visible()
    files = {link.inner_text(): link.get_attribute("href") for link in page.locator("a[download]").all()}
    assert set(files) == {"JSON", "CSV", "GEXF"}
    assert page.request.get(page.url.split("/?")[0] + files["JSON"]).json()["answers"][0]["rank"] == 1
    assert page.request.get(page.url.split("/?")[0] + files["CSV"]).text().startswith("rank,score,url,title,why\n")
    assert "<gexf" in page.request.get(page.url.split("/?")[0] + files["GEXF"]).text()


def test_several_lines_are_pasted(opening: Opening) -> None:
    page = opening("/").page
    page.evaluate(PASTE, "hugo.example\r\n jekyll.example\n")
    assert page.input_value("#url") == "hugo.example jekyll.example"
    page.press("#url", "Enter")
    page.wait_for_selector(".chips")
    assert page.locator("h1").inner_text() == "Related to 2 pages"


@smoke
def test_why_opens_and_is_part_of_the_address(opening: Opening) -> None:
    page = opening(VIEWS["related"]).page
    assert page.locator("#a1 .strip b").count() >= 1  # the answer among its neighbours
    assert page.locator("#a1 .strip i").first.inner_text().startswith("Hugo")
    assert page.locator("#a1 .on-list").inner_text().endswith("› Static site generators")
    page.locator("#a1 summary").click()
    assert "Static site generators" in page.locator("#why-1").inner_text()
    page.wait_for_url("**#why-1")  # the browser runs the script a moment after the reasons are open
    page.reload()
    assert page.locator("#a1 details").get_attribute("open") is not None


def test_answers_join_the_question_or_leave_it(opening: Opening) -> None:
    page = opening(f"/?{ASK}&method=cocitation").page
    first = titles(page)[0]
    page.locator("#a1 summary").click()
    page.locator("#a1 .add").click()
    page.wait_for_selector(".chips")
    assert page.locator(".chips li").all_inner_texts()[1].startswith(first)
    assert "method=cocitation" in page.url
    unwanted = titles(page)[0]
    page.locator("#a1 summary").click()
    page.locator("#a1 .not").click()
    page.wait_for_selector(".chips .not")
    assert unwanted not in titles(page)
    page.locator(".chips .not a").click()
    page.wait_for_function("!document.querySelector('.chips .not')")
    assert page.locator(".chips li").count() == 2
    page.locator("#a1 .related").click()
    page.wait_for_function("!document.querySelector('.chips')")


def test_methods_are_switched_and_compared(opening: Opening) -> None:
    page = opening(f"/?{ASK}").page
    page.locator(".ask summary").click()
    page.select_option("#method", "companion")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**method=companion*")
    assert page.input_value("#method") == "companion"
    page.get_by_role("link", name="Compare").click()
    page.wait_for_url("**/compare?*")
    heads = page.locator(".columns h2 a").all_inner_texts()
    assert heads[0] == "companion" and len(heads) == 4
    cell = page.locator(".columns section").first.locator("li").first
    cell.hover()
    same = page.locator(".columns .same")
    assert same.count() >= 1
    assert len({each.get_attribute("data-page") for each in same.all()}) == 1
    page.locator("main .options summary").click()
    page.get_by_label("kleinberg").check()
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**method=kleinberg*")
    assert page.locator(".columns h2").count() == 5


def test_the_picture_lights_paths(opening: Opening) -> None:
    """From the page asked about through the lists that have it to a related page."""
    page = opening(VIEWS["picture"]).page
    assert page.locator(".found li").count() > 5 and page.locator(".lists li").count() >= 3
    result = page.locator(".found li").first
    result.hover()
    at = result.get_attribute("data-at")
    pairs = page.locator("path[data-ends]").evaluate_all("all => all.map(each => each.dataset.ends)")
    lists = {pair.split()[0] for pair in pairs if pair.split()[1] == at}
    lit = page.locator(".picture.lit path.on").evaluate_all("all => all.map(each => each.dataset.ends)")
    assert set(lit) == {f"0 {each}" for each in lists} | {f"{each} {at}" for each in lists}
    assert page.locator(".lists li.on").count() == len(lists) >= 2
    page.locator(".lists li").first.hover()
    assert page.locator(".lists li.on").count() == 1
    result.locator(".related").click()
    page.wait_for_function("at => document.querySelector('.asked').innerText && location.pathname === '/picture'")
    assert page.locator("h1").inner_text() != "Around Hugo"


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("view", ["related", "several", "groups", "recommend", "hubs", "search"])
def test_the_arrow_of_a_result_covers_no_text(opening: Opening, view: str, width: int) -> None:
    page = opening(VIEWS[view], viewport={"width": width, "height": 900}).page
    assert page.locator(".answers > li .related").count() > 1
    assert page.evaluate(COVERED) == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("view", ["picture", "crowd"])
def test_no_name_of_the_picture_is_clipped_or_covered(opening: Opening, view: str, width: int) -> None:
    page = opening(VIEWS[view], viewport={"width": width, "height": 900}).page
    if view == "crowd":
        assert page.locator(".lists li").count() == 32
    boxes = page.evaluate(BOXES)
    assert len(boxes) > 20 and all(box["name"].strip() for box in boxes)
    for box in boxes:
        assert not box["clipped"] and box["left"] >= 0 and box["right"] <= width, box
    for one, other in combinations(boxes, 2):
        across = min(one["right"], other["right"]) - max(one["left"], other["left"])
        down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
        assert across <= 0.5 or down <= 0.5, (one, other)


def test_a_phone_names_results_in_the_rows_of_lists(opening: Opening) -> None:
    """There is no room for curves: each result that a list has is in the strip of a list."""
    page = opening(VIEWS["picture"], viewport=PHONE).page
    assert not page.locator(".picture path").first.is_visible()
    named = {text for text in page.locator(".lists .strip b").all_inner_texts() if text.strip()}
    assert page.locator(".lists .strip").first.is_visible() and len(named) >= 3
    lists, width = page.locator(".lists li").first.bounding_box(), PHONE["width"]
    assert lists is not None and lists["width"] > 0.8 * width


def test_words_lead_to_pages_communities_and_keywords(opening: Opening) -> None:
    page = opening("/").page
    page.fill("#url", "generator")
    page.locator(".ask > button").click()
    page.wait_for_selector(".answers")
    assert page.locator("h1").inner_text() == "Pages about generator"
    page.get_by_role("link", name="Communities").click()
    page.wait_for_selector(".drawn")
    assert page.locator(".hubs li").count() >= 2 and page.locator(".drawn path").count() >= 2
    page.locator(".hubs li").first.hover()
    assert page.locator(".drawn.lit .on").count() >= 1
    page.get_by_role("link", name="Keywords").click()
    page.wait_for_selector("table.keywords")
    page.locator("table.keywords a").first.click()
    page.wait_for_url("**/keywords?q=*")
    page.locator(".pages .related").first.click()
    page.wait_for_selector(".answers")


def test_hubs_and_authorities(opening: Opening) -> None:
    page = opening(VIEWS["hubs"]).page
    assert len(titles(page)) >= 1
    page.get_by_role("link", name="authorities").click()
    page.wait_for_url("**authorities=true*")
    assert page.locator("h1").inner_text() == "Authorities around Hugo"


def test_pages_are_suggested_while_words_are_typed(opening: Opening) -> None:
    page = opening("/").page
    page.locator("#url").press_sequentially("jekyll")
    page.wait_for_selector("#suggestions li")
    assert page.get_attribute("#url", "aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    assert page.locator("#suggestions [aria-selected=true]").count() == 1
    page.keyboard.press("Enter")
    page.wait_for_selector(".answers")
    assert page.locator("h1").inner_text() == "Related to Jekyll"


def test_the_keyboard(opening: Opening) -> None:
    page = opening(VIEWS["related"]).page
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.closest('li').id") == "a1"
    page.keyboard.press("e")
    assert page.locator("#a1 details").get_attribute("open") is not None
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("dialog").is_hidden()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "url"
    page.keyboard.type("x")  # a letter, not a command
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("a")
    page.wait_for_selector(".chips")
    page.keyboard.press("3")
    page.wait_for_url("**/picture?*")


@smoke
def test_without_scripts(opening: Opening) -> None:
    page = opening("/", java_script_enabled=False).page
    assert page.locator("#theme").is_hidden()
    page.fill("#url", "hugo.example")
    page.press("#url", "Enter")
    page.wait_for_selector(".answers")
    assert "Jekyll" in titles(page)
    page.locator("#a1 summary").click()
    assert page.locator("#why-1").is_visible()
    page.locator("#a1 .add").click()
    page.wait_for_selector(".chips")
    page.locator("#a1 summary").click()
    page.locator("#a1 .not").click()
    page.wait_for_selector(".chips .not")
    for view, mark in (("Compare", ".columns"), ("Picture", ".picture"), ("Hubs", ".answers"), ("Keywords", "h1")):
        page.get_by_role("link", name=view).click()
        page.wait_for_selector(mark)
    page.fill("#url", "static site")
    page.press("#url", "Enter")


@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_shows_all_of_it(opening: Opening, view: str) -> None:
    page = opening(VIEWS[view], viewport=PHONE, has_touch=True, is_mobile=True).page
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.locator(".related, .tabs a").evaluate_all(BEYOND, PHONE["width"]) == [] or view == "compare"
    if view == "picture":
        assert page.locator(".lists li").first.inner_text().strip() and page.locator(".found .title").first.is_visible()


def test_light_and_dark(opening: Opening) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light = opening("/", color_scheme="light").page.evaluate(ground)
    page = opening("/", color_scheme="dark").page
    dark = page.evaluate(ground)
    assert sum(map(int, re.findall(r"\d+", light))) > 600 > 200 > sum(map(int, re.findall(r"\d+", dark)))
    page.locator("#theme").click()  # light, whatever the system says
    assert page.evaluate(ground) == light
    page.reload()
    assert page.evaluate(ground) == light
    assert page.locator("#theme").inner_text() == "Theme: light"


@pytest.mark.parametrize(
    ("target", "status", "says"),
    [
        ("/?url=hugo.example.org", 404, "is not in this store"),
        ("/?url=hugo.example&url=nowhere.example", 404, "Ask without it"),
        ("/?url=lonely.example", 200, "finds nothing related"),
        (f"/?{ASK}&method=nonsense", 200, "Unknown method 'nonsense'"),
        ("/nowhere", 404, "There is no page at this address"),
        (f"/?{ASK}&method=companion(parents=-1)", 422, "parents"),
        (f"/?{ASK}&since=yesterday", 422, "since must be a date"),
        (f"/?{ASK}&not=hugo.example", 422, "asked about and unwanted"),
        ("/search?q=zzzzqqqq", 200, "No page has these words"),
        ("/keywords?q=statix", 404, "Did you mean"),
        ("/study?token=nonsense", 403, "Open the link that you were sent"),
    ],
)
def test_errors_are_shown_with_a_next_step(opening: Opening, target: str, status: int, says: str) -> None:
    watched = opening("/")
    assert watched.open(target) == status
    assert says in watched.page.locator("main").inner_text()
    assert watched.page.locator("main a, header form, main form").count() >= 1


def test_an_unknown_page_has_suggestions(opening: Opening) -> None:
    page = opening(VIEWS["unknown"]).page
    page.locator("main .plain a, main .related").first.click()
    page.wait_for_selector("h1")
    assert page.locator("h1").inner_text() == "Related to Hugo"


@smoke
def test_scripts_in_titles_do_not_run(opening: Opening) -> None:
    """Dialogs, errors and requests of a title that came to life would fail this test as they do every other."""
    page = opening(VIEWS["related"]).page
    shown = page.locator("main").inner_text()
    assert "<img src=x onerror=alert(1)>" in shown and ARABIC in shown
    assert not any(c in page.content() for c in "\u202e\x07")
    assert page.locator("main img, main script").count() == 0
    for link in page.locator("main a[href^=http]").all():
        assert set((link.get_attribute("rel") or "").split()) >= {"noopener", "noreferrer", "nofollow"}
    schemes = page.evaluate("[...new Set([...document.links].map(each => each.protocol))].sort()")
    assert set(schemes) <= {"http:", "https:"}
    assert page.evaluate(DIRECTION, ARABIC) == "rtl"


@pytest.mark.parametrize("view", [view for view in VIEWS if view not in ("related", "groups", "words", "nothing")])
def test_the_page_is_accessible(opening: Opening, view: str) -> None:
    """No violation that axe-core knows of, with what opens opened; in the dark, colours are all that is different."""
    source = axe()
    page = opening(VIEWS[view]).page
    page.evaluate("document.querySelectorAll('details').forEach((each, at) => { each.open = at < 4; })")
    page.evaluate(source)
    found = page.evaluate("rules => axe.run({runOnly: rules})", RULES)["violations"]
    page.emulate_media(color_scheme="dark")
    found += page.evaluate("axe.run({runOnly: ['color-contrast']})")["violations"]
    assert [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found] == []


@pytest.mark.parametrize("view", ["first", "related", "picture", "compare", "communities"])
def test_a_page_is_light(opening: Opening, view: str) -> None:
    """All that is loaded, unpacked: less than 100 kB. How soon it is painted is written down, and not judged here."""
    page = opening(VIEWS[view]).page
    sizes = page.evaluate("performance.getEntries().filter(e => 'decodedBodySize' in e).map(e => e.decodedBodySize)")
    assert 10_000 < sum(sizes) < 100_000


def test_the_study_is_rated_by_the_keyboard(opening: Opening) -> None:
    page = opening(VIEWS["study"]).page
    page.keyboard.press("/")  # there is nothing to ask here
    for key in ("j", "1", "j", "0", "j", "x"):
        page.keyboard.press(key)
    assert page.locator("input:checked").evaluate_all("all => all.map(each => each.value)") == ["1", "0", "x"]
    page.keyboard.press("?")
    assert "could not open" in page.locator("dialog").inner_text()


def test_the_study_is_rated_without_scripts(opening: Opening, base: str) -> None:
    page = opening(f"/study?token={TOKEN}", java_script_enabled=False).page
    page.get_by_role("button", name="Begin").click()
    for _ in range(2):
        page.wait_for_selector(".rate")
        for item in page.locator(".rate").all():
            item.get_by_label("related", exact=True).check()
        page.get_by_role("button", name="Save").click()
    page.wait_for_selector(".note")
    assert "Everything is rated" in page.locator("main").inner_text()
    page.goto(f"{base}/study?at=1")
    assert page.locator("input:checked").count() == page.locator(".rate").count()


def test_a_result_that_is_opened_is_recorded(browser: Any, fast_root: Path) -> None:
    """A real click in a real browser, with the headers that it sends, and what the store has afterwards."""
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        store = Path(folder) / "web.cocite"
        make(store, PAGES)
        with serving(store, Path(folder), "--record-clicks") as (server, _):
            page = browser.new_page()
            page.route("https://jekyll.example/**", lambda route: route.fulfill(body="<title>Jekyll</title>"))
            page.goto(f"{server.address}/?{ASK}")
            with page.expect_request("**/clicked?*") as sent:
                page.click("text=Jekyll >> nth=0")
            assert sent.value.response().status == 200
            for _ in range(200):
                graph = Graph(store)
                if (after := open_clicks(graph).after(graph.find(HUGO))).steps.sum():
                    break
                page.wait_for_timeout(100)
            page.close()
        assert [graph.address(int(each)) for each in after.pages] == ["https://jekyll.example/"]
