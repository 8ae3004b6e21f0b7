"""A real browser with the extension in it, the real side panel, and the pages that its tabs show."""

from __future__ import annotations

import importlib.util
import json
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.http.browser import ARGUMENTS, PATIENCE, ROOT, chromium, closed

SOURCE = ROOT / "extension"
NOBODY_ELSE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
UNKNOWN = "https://me.example/links"
SITES = {
    "https://hugo.example/": "<title>Hugo</title>",
    "https://jekyll.example/": "<title>Jekyll</title>",
    UNKNOWN: """<title>What I use</title><a href="https://me:secret@pelican.example/#top">Pelican</a>
        <a href="https://nikola.example/">Nikola</a> <a href="javascript:alert(1)">no</a>
        <a href="mailto:me@me.example">me</a>""",
}


def packing() -> ModuleType:
    """extension/pack.py as a module."""
    found = importlib.util.spec_from_file_location("extension_pack", SOURCE / "pack.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def unpacked(folder: Path, more: tuple[str, ...] = ()) -> Path:
    """What is shipped, unpacked; `more` optional permissions are given, as if somebody had allowed them."""
    with zipfile.ZipFile(packing().pack("chromium", folder)) as archive:
        archive.extractall(folder / "extension")
    manifest = folder / "extension" / "manifest.json"
    told = json.loads(manifest.read_text("utf-8"))
    told["optional_permissions"] = [each for each in told["optional_permissions"] if each not in more]
    told["permissions"] += more
    manifest.write_text(json.dumps(told), "utf-8")
    return folder / "extension"


class Extended:
    """A browser with the extension, and what it has asked anybody."""

    def __init__(self, context: Any, server: str) -> None:
        self.context, self.server = context, server
        self.wrong: list[str] = []
        self.asked: list[str] = []
        context.set_default_timeout(PATIENCE)
        context.on("request", self._request)
        context.on("weberror", lambda error: self.wrong.append(f"error: {error.error}"))
        context.on("console", self._console)
        context.on("dialog", lambda dialog: (self.wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        for address in SITES:
            context.route(address, self._site)
        workers = context.service_workers
        worker = workers[0] if workers else context.wait_for_event("serviceworker", timeout=2 * PATIENCE)
        self.own = worker.url.removesuffix("/background.js")
        self.devtools = context.browser.new_browser_cdp_session()

    @staticmethod
    def _site(route: Any) -> None:
        body = SITES[route.request.url.partition("#")[0]]
        head = "<!doctype html><meta charset=utf-8><link rel=icon href=data:>"
        route.fulfill(body=head + body, content_type="text/html")

    def _console(self, message: Any) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.wrong.append(f"console: {message.text}")

    def _request(self, request: Any) -> None:
        if request.url.startswith(("http:", "https:")) and not request.is_navigation_request():
            self.asked.append(f"{request.method} {request.url}")

    def panel(self, **settings: Any) -> Any:
        """The panel, in a tab of its own."""
        page = self.context.new_page()
        page.goto(f"{self.own}/panel.html")
        page.evaluate("async kept => { await chrome.storage.local.clear(); await chrome.storage.local.set(kept); }",
                      {"server": self.server, **settings})  # fmt: skip
        page.reload()
        page.wait_for_selector("body:not(.busy)")
        return page

    def visit(self, address: str) -> Any:
        """A tab that shows a page."""
        page = self.context.new_page()
        page.goto(address)
        return page

    def press_button(self, page: Any) -> SidePanel:
        """Press the toolbar button on a tab: the side panel, which the browser opens if there is none."""
        tabs = self.devtools.send("Target.getTargets", {"filter": [{"type": "tab"}]})["targetInfos"]
        tab = next(each["targetId"] for each in tabs if each["url"] == page.url)
        self.devtools.send("Extensions.triggerAction", {"id": self.own.rpartition("/")[2], "targetId": tab})
        for _ in range(PATIENCE // 50):
            if panels := self._panels():
                return SidePanel(self.devtools, panels[0]["targetId"], page)
            page.wait_for_timeout(50)
        raise AssertionError("no panel was opened")

    def _panels(self) -> list[dict[str, Any]]:
        found = self.devtools.send("Target.getTargets")["targetInfos"]
        return [each for each in found if each["url"].startswith(f"{self.own}/panel.html")]


class SidePanel:
    """The side panel itself, of which Playwright knows nothing: it is spoken to by the protocol of the browser."""

    def __init__(self, devtools: Any, target: str, page: Any) -> None:
        self._devtools, self._page, self._number = devtools, page, 0
        self._answers: dict[int, Any] = {}
        devtools.on("Target.receivedMessageFromTarget", self._received)
        self._session = devtools.send("Target.attachToTarget", {"targetId": target, "flatten": False})["sessionId"]

    def _received(self, event: dict[str, Any]) -> None:
        if event["sessionId"] == self._session:
            message = json.loads(event["message"])
            self._answers[message.get("id", -1)] = message

    def send(self, method: str, **parameters: Any) -> Any:
        """A command of the protocol."""
        self._number += 1
        message = json.dumps({"id": self._number, "method": method, "params": parameters})
        self._devtools.send("Target.sendMessageToTarget", {"message": message, "sessionId": self._session})
        end = time.monotonic() + PATIENCE / 1000
        while self._number not in self._answers:
            assert time.monotonic() < end, f"{method} was not answered"
            self._page.wait_for_timeout(20)
        return self._answers.pop(self._number)["result"]

    def evaluate(self, code: str) -> Any:
        """The value of an expression, as if somebody had clicked."""
        said = self.send("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True, userGesture=True)
        assert "exceptionDetails" not in said, said
        return said["result"].get("value")

    def wait_for_timeout(self, milliseconds: float) -> None:
        """Wait, as Playwright's pages do."""
        self._page.wait_for_timeout(milliseconds)

    def close(self) -> None:
        """Close it."""
        self._devtools.send("Target.detachFromTarget", {"sessionId": self._session})


@contextmanager
def extended(playwright: Any, folder: Path, server: str, more: tuple[str, ...] = ()) -> Iterator[Extended]:
    """A browser with the extension."""
    own, profile = unpacked(folder, more), folder / "profile"
    loading = [f"--disable-extensions-except={own}", f"--load-extension={own}", "--enable-unsafe-extension-debugging"]
    context = playwright.chromium.launch_persistent_context(
        str(profile), executable_path=chromium(), args=[*ARGUMENTS, *loading, NOBODY_ELSE],
        viewport={"width": 380, "height": 800}, timeout=2 * PATIENCE,
    )  # fmt: skip
    yield Extended(context, server)
    closed(context)


def until(page: Any, code: str) -> Any:
    """Wait until an expression is true, and what it then is. Playwright's own way needs a policy that allows `eval`."""
    for _ in range(PATIENCE // 50):
        if found := page.evaluate(code):
            return found
        page.wait_for_timeout(50)
    raise AssertionError(f"{code} did not become true: {page.evaluate('document.body.innerText')}")
