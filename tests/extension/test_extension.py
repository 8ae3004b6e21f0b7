"""The browser extension, as it is packed, in a real browser against a real server."""

from __future__ import annotations

import http.server
import json
import re
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cocite import __version__
from tests.conftest import long, smoke
from tests.extension.extended import SOURCE, UNKNOWN, Extended, extended, packing, until
from tests.graph.webs import make
from tests.http.browser import ARABIC, MAX_SECONDS, PAGES, axe, chromium, driving, ended_after
from tests.http.test_run import serving

pytestmark = [long, pytest.mark.timeout(method="thread")]  # a signal does not end what waits in Playwright's event loop
HUGO, JEKYLL = "https://hugo.example/", "https://jekyll.example/"
TITLES = "[...document.querySelectorAll('.answers .title')].map(each => each.innerText)"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(scope="module")
def server(fast_root: Path) -> Iterator[str]:
    """A server of a small store."""
    chromium()
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        store = Path(folder) / "web.cocite"
        make(store, PAGES)
        with serving(store, Path(folder)) as (process, _):
            yield process.address


def watched(browser: Extended) -> Iterator[Extended]:
    """One test in a browser: errors fail it, and so does a request to anybody but the server."""
    browser.wrong.clear()
    browser.asked.clear()
    with ended_after(MAX_SECONDS):
        yield browser
        for page in browser.context.pages[1:]:
            page.close()
    assert browser.wrong == []
    assert [each for each in browser.asked if not each.split()[1].startswith(f"{browser.server}/api/")] == []


@pytest.fixture(scope="module")
def playwright(server: str) -> Iterator[Any]:
    with driving() as found:
        yield found


@pytest.fixture(scope="module")
def plain_browser(playwright: Any, server: str, fast_root: Path) -> Iterator[Extended]:
    with tempfile.TemporaryDirectory(dir=fast_root) as folder, extended(playwright, Path(folder), server) as found:
        yield found


@pytest.fixture
def browser(plain_browser: Extended) -> Iterator[Extended]:
    """The extension as it is installed."""
    yield from watched(plain_browser)


def titles(panel: Any) -> list[str]:
    found: list[str] = panel.locator(".answers .title").all_inner_texts()
    return found


def ask(panel: Any, address: str) -> None:
    panel.fill("#address", address)
    panel.press("#address", "Enter")
    until(panel, "!document.body.matches('.busy') && document.querySelector('h1 bdi')")


def test_nothing_is_sent_before_anybody_asks(browser: Extended) -> None:
    panel = browser.panel()
    tab = browser.visit(HUGO)
    tab.goto(JEKYLL)
    tab.wait_for_timeout(700)
    assert "Nothing has been sent yet" in panel.inner_text("main")
    assert not panel.is_checked("#follow")
    assert browser.asked == []


@smoke
def test_the_button_opens_the_panel_and_asks_about_the_tab(browser: Extended) -> None:
    """The real side panel, with no permission but that of the button. Its requests are seen by what it shows."""
    browser.panel().close()  # the server's address is kept
    tab = browser.visit(HUGO)
    side = browser.press_button(tab)
    assert until(side, "document.querySelector('.answers') && document.querySelector('h1').innerText")
    assert side.evaluate("document.querySelector('h1').innerText") == "Related to Hugo"
    assert "Jekyll" in side.evaluate(TITLES)
    assert "Listed together on" in side.evaluate("document.querySelector('.why summary').innerText")
    tab.goto(UNKNOWN)
    browser.press_button(tab)
    until(side, "document.querySelector('h1').innerText === 'What I use'")
    assert "does not know this page" in side.evaluate("document.querySelector('.note').innerText")
    side.evaluate("document.querySelector('.note button').click()")  # ask with its links
    until(side, "!!document.querySelector('.answers')")
    assert "pelican.example, nikola.example" in side.evaluate("document.querySelector('#shown .soft').innerText")
    assert not {"Pelican", "Nikola"} & set(side.evaluate(TITLES)) and "Jekyll" in side.evaluate(TITLES)
    side.close()


def test_why_and_walking_on(browser: Extended) -> None:
    panel = browser.panel()
    ask(panel, "hugo.example")
    first = titles(panel)
    assert first[0] == "Jekyll" and len(first) == 10
    panel.locator(".why summary").first.click()
    assert "next to each other" in panel.locator(".why").first.inner_text()
    opens = panel.locator(".answers .title").first
    assert opens.get_attribute("href") == JEKYLL
    assert (opens.get_attribute("target"), opens.get_attribute("rel")) == ("_blank", "noopener noreferrer")
    assert panel.is_disabled("#back")
    panel.locator(".answers .related").first.click()
    until(panel, "document.querySelector('h1').innerText === 'Related to Jekyll'")
    assert panel.evaluate("document.activeElement.tagName") == "H1"
    assert titles(panel) != first
    panel.click("#back")
    until(panel, "document.querySelector('h1').innerText === 'Related to hugo.example'")
    assert titles(panel) == first and panel.is_disabled("#back")
    assert len(browser.asked) == 3


def test_titles_of_pages_are_shown_as_text(browser: Extended) -> None:
    panel = browser.panel(k=20)
    ask(panel, "hugo.example")
    shown = panel.inner_text("main")
    assert "<img src=x onerror=alert(1)><script>alert(2)</script>" in shown and ARABIC in shown
    assert not any(c in panel.content() for c in "\u202e\x07")
    assert panel.locator("main img, main script").count() == 0
    assert panel.evaluate("[...new Set([...document.links].map(each => each.protocol))]") == ["https:"]


def test_the_keyboard(browser: Extended) -> None:
    panel = browser.panel()
    panel.keyboard.press("/")
    panel.keyboard.type("hugo.example")
    panel.keyboard.press("Enter")
    panel.wait_for_selector(".answers")
    panel.keyboard.press("Escape")
    for key in "jjk":
        panel.keyboard.press(key)
    assert panel.evaluate("document.activeElement.innerText") == "Jekyll"
    panel.keyboard.press("e")
    assert panel.locator(".why").first.get_attribute("open") is not None
    panel.keyboard.press("j")
    panel.keyboard.press("k")
    panel.keyboard.press("r")
    until(panel, "document.querySelector('h1').innerText === 'Related to Jekyll'")
    panel.keyboard.press("b")
    until(panel, "document.querySelector('h1').innerText === 'Related to hugo.example'")


def test_an_unknown_page_leads_on(browser: Extended) -> None:
    panel = browser.panel()
    ask(panel, "hugo.example/docs/new")  # answered for a shorter address that is known
    panel.wait_for_selector(".answers")
    assert panel.inner_text(".note").startswith(
        "https://hugo.example/docs/new isn't in this store; these results are for"
    )
    ask(panel, "hugoo.example")
    assert "does not know this page" in panel.inner_text(".note")
    assert panel.locator(".note button").count() == 0  # it is in no tab that could be read
    panel.locator(".plain .related").first.click()
    panel.wait_for_selector(".answers")
    assert panel.inner_text("h1") == "Related to hugo.example"
    ask(panel, "lonely.example")
    assert "finds nothing related" in panel.inner_text(".note")


def test_words_are_searched(browser: Extended) -> None:
    panel = browser.panel()
    ask(panel, "static site")
    panel.wait_for_selector(".answers")
    assert panel.inner_text("h1") == "Pages about static site" and "Hugo" in titles(panel)
    panel.locator(".answers li", has_text="Hugo").first.locator(".related").click()
    until(panel, "document.querySelector('h1').innerText === 'Related to Hugo'")


def test_a_denied_permission_is_requested_again(browser: Extended) -> None:
    """Firefox asks for nothing after a click that had to wait, as for the tab: only a button of its own leads on."""
    panel = browser.panel()
    browser.visit(HUGO)
    panel.evaluate("chrome.permissions.request = async () => false")
    panel.evaluate("document.querySelector('#ask').click()")
    until(panel, "document.querySelector('.note button')?.innerText === 'Allow it'")
    assert "Its cocite button does" in panel.inner_text(".note")
    panel.evaluate("chrome.permissions.request = async wanted => { window.wanted = wanted; return true; }")
    panel.evaluate("document.querySelector('.note button').click()")
    assert until(panel, "window.wanted") == {"permissions": ["tabs"]}
    assert browser.asked == []


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("chrome://settings/", "a page of the browser itself"),
        ("file:///etc/passwd", "a file of yours"),
        ("mailto:me@me.example", "no page of the web"),
        ("javascript:alert(1)", "no page of the web"),
        ("https://", "shows no page"),
    ],
)
def test_only_web_pages_are_sent(browser: Extended, address: str, says: str) -> None:
    panel = browser.panel()
    ask(panel, address)
    assert says in panel.inner_text(".note")
    assert browser.asked == []


@smoke
def test_names_passwords_and_places_are_not_sent(browser: Extended) -> None:
    panel = browser.panel()
    ask(panel, "https://anna:secret@hugo.example/#private")
    assert panel.inner_text("h1 bdi") == "hugo.example"
    assert len(browser.asked) == 1 and not re.search("anna|secret|private", browser.asked[0])


def test_a_server_that_is_off_or_another(browser: Extended, server: str) -> None:
    panel = browser.panel(server="http://127.0.0.1:9")
    ask(panel, "hugo.example")
    assert "No answer from http://127.0.0.1:9" in panel.inner_text(".note")
    assert "cocite serve" in panel.inner_text(".note code")
    panel.click("#gear")
    panel.fill("#server", f"{server}/methods")  # a web page: no cocite is there
    panel.click("#setting button[type=submit]")
    until(panel, "document.querySelector('#server-is').innerText.includes('not cocite')")
    panel.fill("#server", server.removeprefix("http://") + "/")
    panel.click("#setting button[type=submit]")
    panel.wait_for_selector(".answers")  # it asks again by itself
    assert panel.inner_text("#server-is") == "It knows 69 pages and 483 links."
    assert panel.evaluate("chrome.storage.local.get('server')") == {"server": server}
    for wrong, says in (
        ("", "no address"),
        ("http://a b", "no address"),
        ("http://me:x@a.example", "Leave out the name"),
    ):
        panel.fill("#server", wrong)
        panel.click("#setting button[type=submit]")
        assert says in panel.inner_text("#server-is")
    browser.asked[:] = [each for each in browser.asked if ":9/" not in each and "/methods/api/" not in each]


def test_a_server_that_leads_elsewhere_is_not_followed(browser: Extended, server: str) -> None:
    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(307)
            self.send_header("location", f"{server}{self.path}")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Elsewhere) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{other.server_port}"
        panel = browser.panel(server=address)
        ask(panel, "hugo.example")
        assert "No answer from" in panel.inner_text(".note")
        other.shutdown()
    assert [each.split()[1][: len(address)] for each in browser.asked] == [address]
    browser.asked.clear()


def test_settings_change_the_answers(browser: Extended) -> None:
    panel = browser.panel()
    ask(panel, "hugo.example")
    panel.click("#gear")
    panel.select_option("#k", "20")
    panel.check("#elsewhere")
    panel.click("#setting button[type=submit]")
    until(panel, "document.querySelectorAll('.answers > li').length > 10")
    assert "k=20" in browser.asked[-1] and "not_own_site=true" in browser.asked[-1]
    panel.click("#cancel")
    assert panel.locator("#settings").is_hidden()


def test_light_and_dark(browser: Extended) -> None:
    panel = browser.panel()
    grounds = []
    for scheme in ("light", "dark"):
        panel.emulate_media(color_scheme=scheme)
        ground = panel.evaluate("getComputedStyle(document.body).backgroundColor")
        grounds.append(sum(map(int, re.findall(r"\d+", ground))))
    assert grounds[0] > 600 > 200 > grounds[1]


@pytest.mark.parametrize("state", ["first", "answers", "unknown", "settings"])
def test_the_extension_is_accessible(browser: Extended, state: str) -> None:
    source = axe()
    panel = browser.panel()
    panel.emulate_media(reduced_motion="reduce")  # else a colour may be on its way
    if state != "first":
        ask(panel, "hugo.example/docs/new" if state == "unknown" else "hugo.example")
    if state == "settings":
        panel.click("#gear")
    panel.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    panel.locator(".busy").wait_for(state="detached")  # while it asks, it is pale
    panel.evaluate(source)
    found = panel.evaluate("rules => axe.run({runOnly: rules})", RULES)["violations"]
    panel.emulate_media(color_scheme="dark")
    found += panel.evaluate("axe.run({runOnly: ['color-contrast']})")["violations"]
    assert [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found] == []
    assert panel.evaluate("document.documentElement.scrollWidth") <= 380


def test_narrow(browser: Extended) -> None:
    panel = browser.panel()
    panel.set_viewport_size({"width": 240, "height": 600})
    ask(panel, "hugo.example")
    assert panel.evaluate("document.documentElement.scrollWidth") <= 240


@pytest.fixture
def following(playwright: Any, server: str, place: Path) -> Iterator[Extended]:
    """With the permission for tabs allowed: a browser without a window has nobody to press its dialog."""
    with extended(playwright, place, server, more=("tabs",)) as found:
        yield from watched(found)


def test_tabs_are_followed_once_that_is_switched_on(following: Extended) -> None:
    panel, tab = following.panel(), following.visit(HUGO)
    tab.wait_for_timeout(500)
    assert following.asked == []
    panel.evaluate("document.querySelector('#follow').click()")
    until(panel, "document.querySelector('h1').innerText === 'Related to Hugo'")
    tab.goto(JEKYLL)
    until(panel, "document.querySelector('h1').innerText === 'Related to Jekyll'")
    tab.goto(f"{JEKYLL}#more")  # the same page
    tab.goto("about:blank")
    until(panel, "document.querySelector('.note')?.innerText.includes('of the browser itself')")
    tab.goto(UNKNOWN)
    until(panel, "document.querySelector('.note')?.innerText.includes('does not know')")
    assert len(following.asked) == 3
    panel.evaluate("document.querySelector('#ask').click()")  # it may see the tab, and need not ask for that
    until(panel, "!document.body.matches('.busy') && document.querySelector('h1') === document.activeElement")
    assert len(following.asked) == 4
    assert panel.evaluate("chrome.storage.local.get('follow')") == {"follow": True}
    panel.evaluate("document.querySelector('#follow').click()")
    until(panel, "chrome.storage.local.get('follow').then(kept => kept.follow === false)")
    tab.goto(HUGO)
    tab.wait_for_timeout(700)
    assert len(following.asked) == 4


@smoke
def test_it_is_packed_the_same_every_time(place: Path) -> None:
    pack = packing().pack
    for name in ("chromium", "firefox"):
        first = pack(name, place / "one").read_bytes()
        assert first == pack(name, place / "two").read_bytes()
        assert len(first) < 60_000


@smoke
def test_manifests_agree() -> None:
    chromium_, firefox = (json.loads((SOURCE / name).read_text("utf-8")) for name in packing().MANIFESTS.values())
    assert chromium_["version"] == firefox["version"] == __version__
    apart = {
        "minimum_chrome_version",
        "background",
        "side_panel",
        "sidebar_action",
        "permissions",
        "browser_specific_settings",
    }
    assert {k: v for k, v in chromium_.items() if k not in apart} == {
        k: v for k, v in firefox.items() if k not in apart
    }
    assert set(chromium_["permissions"]) - {"sidePanel"} == set(firefox["permissions"])
    policy = chromium_["content_security_policy"]["extension_pages"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")


@smoke
def test_nothing_but_text_goes_into_the_page() -> None:
    """No markup from texts, no code from texts; the address of no server but the default one, and no fetch but one."""
    source = {file.name: file.read_text("utf-8") for file in SOURCE.glob("*.js")}
    together = "\n".join(source.values())
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|DOMParser", together
    )
    assert set(re.findall(r"https?://[\w.:]+", together)) == {"http://127.0.0.1:8000"}
    assert [name for name, text in source.items() if "fetch(" in text] == ["server.js"]


def test_a_reading_history_is_kept_only_where_it_is_switched_on(following: Extended) -> None:
    """Off: nothing is kept. On: visits are shown, sent by a press, and deleted by one."""
    panel = following.panel()
    kept = "chrome.storage.local.get('read').then(found => (found.read ?? []).map(each => each.url))"
    assert panel.is_hidden("#foryou")
    tab = following.visit(HUGO)
    tab.wait_for_timeout(2500)
    tab.goto(JEKYLL)
    tab.wait_for_timeout(300)
    assert panel.evaluate(kept) == []
    panel.evaluate("document.querySelector('#history').click()")
    until(panel, "!document.querySelector('#foryou').hidden")
    tab.bring_to_front()
    tab.goto(HUGO)
    tab.wait_for_timeout(2500)
    tab.goto(JEKYLL)
    tab.wait_for_timeout(500)
    assert HUGO in panel.evaluate(kept)
    assert [each for each in following.asked if "/api/" in each] == []
    panel.bring_to_front()
    panel.click("#foryou")
    until(panel, "!!document.querySelector('.answers')")
    assert panel.inner_text("h1") == "After what you read"
    assert "Because you read Hugo" in panel.locator(".why summary").first.inner_text()
    assert len(following.asked) == 1 and "/api/recommend?url=https%3A%2F%2Fhugo.example" in following.asked[0]
    panel.click("#gear")
    until(panel, "!!document.querySelector('#forget')")
    assert "Hugo" in panel.inner_text("#read")
    panel.click("#forget")
    until(panel, "!document.querySelector('#forget')")
    assert panel.evaluate(kept) == []
    panel.click("#history")
    until(panel, "document.querySelector('#foryou').hidden")
