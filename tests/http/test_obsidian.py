"""The panel for Obsidian in examples/: in Node with a stand-in for Obsidian, answered by the server of a vault."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cocite.graph.build.passes import BuildOptions, build
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from tests.http.conftest import Asking

PANEL = Path(__file__).parents[2] / "examples" / "obsidian-cocite"
BASE = "https://notes.example/"
OBSIDIAN = """
const Module = require("module"), given = JSON.parse(require("fs").readFileSync(0)), asked = [], opened = [], kept = [];
class Element {
  constructor(tag, options = {}) { Object.assign(this, options, { tag, children: [], on: {} }); }
  createEl(tag, options) { const made = new Element(tag, options); this.children.push(made); return made; }
  empty() { this.children = []; }
  addEventListener(name, done) { this.on[name] = done; }
  all() { return [this, ...this.children.flatMap((each) => each.all())]; }
}
const workspace = {
  listeners: {}, on(name, done) { this.listeners[name] = done; }, getActiveFile: () => null,
  getLeavesOfType: () => [], getRightLeaf: () => ({ setViewState: (state) => (workspace.state = state) }),
  revealLeaf() {}, openLinkText: (path, from) => opened.push([path, from]),
};
const app = { workspace };
class ItemView { constructor() { this.app = app; this.contentEl = new Element("div"); } registerEvent() {} }
class Plugin {
  constructor() { this.app = app; this.commands = []; }
  loadData() { return given.settings; } saveData(data) { kept.push(data); }
  registerView(name, make) { this.make = make; } addSettingTab() {} addRibbonIcon() {}
  addCommand(command) { this.commands.push(command); }
}
const requestUrl = async ({ url }) => {
  asked.push(url);
  const reply = given.replies[url];
  if (!reply) throw new Error("no connection");
  await new Promise((done) => setTimeout(done, reply.wait ?? 0));
  return reply;
};
const load = Module._load;
Module._load = (name, ...rest) =>
  name === "obsidian"
    ? { ItemView, Plugin, PluginSettingTab: class {}, Setting: class {}, requestUrl }
    : load(name, ...rest);
(async () => {
  const plugin = new (require(given.panel))();
  await plugin.onload();
  await plugin.open();
  const view = plugin.make(null), shown = [];
  await view.onOpen();
  await Promise.all(given.notes.map((path) => workspace.listeners["file-open"]({ path, extension: "md" })));
  for (const each of view.contentEl.all()) {
    shown.push([each.tag, each.text ?? null, each.href ?? null]);
    if (each.on.click) each.on.click({ preventDefault() {} });
  }
  console.log(JSON.stringify({ asked, shown, opened, view: view.getViewType(), state: workspace.state }));
})();
"""


def run(notes: list[str], replies: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """What the panel asks and shows when notes are opened one after another."""
    given = {
        "panel": str(PANEL / "main.js"),
        "notes": notes,
        "replies": replies,
        "settings": {"base": BASE, **settings},
    }
    ran = subprocess.run(["node", "-e", OBSIDIAN], input=json.dumps(given), capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


@pytest.fixture
def vault(tmp_path: Path) -> Asking:
    notes = tmp_path / "notes"
    (notes / "my ideas").mkdir(parents=True)
    (notes / "my ideas" / "Über.md").write_text("# Über\n[[a]] <b>", "utf-8")
    (notes / "a.md").write_text("# A\n[[Über]] and https://web.example/", "utf-8")
    (notes / "list.md").write_text("- [[a]]\n- [[Über]]\n- https://web.example/\n", "utf-8")
    build([open_source(str(notes), ReadReport(), base=BASE)], tmp_path / "web.cocite", ReadReport(), BuildOptions())
    return Asking(tmp_path / "web.cocite", timeout=120.0)  # compiling is part of the first question


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_the_panel_shows_related_notes_and_opens_them(vault: Asking) -> None:
    target = "/api/related?url=https%3A%2F%2Fnotes.example%2Fa.md&words=true&k=10"
    reply = vault.get(target)
    assert reply.status == 200
    url, other = f"http://127.0.0.1:8000{target}", f"http://127.0.0.1:8000{target.replace('a.md', 'list.md')}"
    late = {"status": 200, "json": {"answers": [{"url": f"{BASE}late.md", "title": "late"}]}, "wait": 300}
    found = run(["list.md", "a.md"], {url: {"status": 200, "json": reply.json}, other: late})
    assert found["asked"] == [other, url]
    links = [(text, href) for tag, text, href in found["shown"] if tag == "a"]
    assert ("Über", "#") in links and ("https://web.example/", "https://web.example/") in links
    assert "late" not in {text for text, _ in links}, "an answer for a note that is no longer open"
    assert ["my ideas/Über.md", "a.md"] in found["opened"]
    reasons = [text for tag, text, _ in found["shown"] if tag == "div" and text]
    assert len(reasons) == len(links) and all(reasons)
    assert found["view"] == found["state"]["type"] == "cocite-related"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_what_fails_is_a_message(vault: Asking) -> None:
    asked = "url=https%3A%2F%2Fnotes.example%2Fnone.md&words=true&k=10&unlinked=true"
    unknown = vault.get(f"/api/related?{asked}")
    assert unknown.status == 404
    url = f"http://127.0.0.1:8001/api/related?{asked}"
    settings = {"server": "http://127.0.0.1:8001/", "unlinked": True}
    shown = run(["none.md"], {url: {"status": 404, "json": unknown.json}}, **settings)["shown"]
    assert shown[1] == ["p", unknown.json["error"]["message"], None]
    shown = run(["none.md"], {}, **settings)["shown"]
    assert shown[1] == ["p", "No answer from http://127.0.0.1:8001/: start cocite serve", None]


def test_the_manifest_is_complete() -> None:
    about = json.loads((PANEL / "manifest.json").read_text("utf-8"))
    assert {"id", "name", "version", "minAppVersion", "description", "author", "isDesktopOnly"} == about.keys()
    assert "obsidian" not in about["id"] and len(about["description"]) <= 250 and about["description"].endswith(".")
