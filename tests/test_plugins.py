"""Plugins: the example is installed as anybody would install it, and used; broken ones are a line, never a crash."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from cocite import plugins

ROOT = Path(__file__).parents[1]
BROKEN = {
    "cocite.methods": {"absent": "no_such_module", "leaving": "broken_plugin.leaving", "cocitation": "broken_plugin"},
    "cocite.sources": {"crashing": "broken_plugin.crashing:SOURCE"},
    "cocite.ranks": {"empty": "broken_plugin"},
    "cocite.operations": {"nothing": "broken_plugin:missing"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example and with a broken package, beside what is installed."""
    place = tmp_path_factory.mktemp("plugins")
    shutil.copytree(ROOT / "examples" / "cocite-example", place / "source")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--target", str(place / "site"), "--no-index", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", str(place / "source")], check=True, capture_output=True, text=True)
    broken = place / "broken" / "broken_plugin"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("")
    (broken / "leaving.py").write_text("raise SystemExit('I leave')\n")
    (broken / "crashing.py").write_text("1 / 0\n")
    about = place / "broken" / "broken_plugin-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 0.1\n")
    lines = (
        f"[{group}]\n" + "".join(f"{name} = {at}\n" for name, at in some.items()) for group, some in BROKEN.items()
    )
    (about / "entry_points.txt").write_text("\n".join(lines))
    (place / "favourites.addresses").write_text("# News\nhttps://a.example/\nhttps://b.example/\n")
    (place / "more.addresses").write_text("# News\nhttps://b.example/\nhttps://a.example/\nhttps://c.example/\n")
    return place


class Ran(NamedTuple):
    """What a command printed."""

    code: int
    out: str
    err: str


COMMANDS = """
import json, sys
from click.testing import CliRunner
from cocite.cli import app
from cocite.plugins import entries
for command in json.loads(sys.argv[1]):
    done = CliRunner().invoke(app, command, prog_name="cocite")
    print(json.dumps([done.exit_code, done.stdout, done.stderr]))
print(entries.cache_info().currsize)
"""


def run(folder: Path, code: str, *arguments: str, broken: bool = False) -> list[str]:
    """The lines that a program prints, in a process that has the plugins."""
    paths = [str(ROOT / "src"), str(folder / "site"), *([str(folder / "broken")] if broken else [])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COCITE_INDEX": str(folder / "web.cocite")}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def ask(folder: Path, *commands: str, broken: bool = False) -> tuple[list[Ran], int]:
    """What commands print, one after the other, and how many kinds of plugins they have looked for."""
    *lines, kinds = run(folder, COMMANDS, json.dumps([shlex.split(each) for each in commands]), broken=broken)
    return [Ran(*json.loads(line)) for line in lines], int(kinds)


SERVED = """
from cocite.http.metrics import ROUTE_LABELS
from cocite.http.questions import parameters, routes
from cocite.mcp.server import tools
assert "/api/orphans" in routes() and "orphans" in ROUTE_LABELS and "k" in parameters("/api/orphans")
assert "orphan_pages" in tools()
import cocite
print(cocite.open("web.cocite").orphans().orphans)
"""


def test_the_example_adds_a_source_a_method_with_reasons_a_rank_and_an_operation(folder: Path) -> None:
    ran, _ = ask(
        folder, "plugins --json", "build favourites.addresses more.addresses -o web.cocite",
        "related a.example -m 'jaccard(parents=5)' --json", "methods", "rank --by in_links --json", "orphans --json",
        "orphans --help",
    )  # fmt: skip
    assert [each.code for each in ran] == [0] * 7, ran
    listed, _, related, methods, ranked, orphans, help = (each.out for each in ran)
    found = [tuple(each[name] for name in ("kind", "name", "package", "version", "failure"))
             for each in json.loads(listed)["plugins"]]  # fmt: skip
    assert found == [
        ("sources", "addresses", "cocite-example", "1.0", ""),
        ("methods", "jaccard", "cocite-example", "1.0", ""),
        ("ranks", "in_links", "cocite-example", "1.0", ""),
        ("operations", "orphans", "cocite-example", "1.0", ""),
    ]
    assert [(each["url"], each["score"]) for each in json.loads(related)["answers"]] == [
        ("https://b.example/", 1.0), ("https://c.example/", 0.5)
    ]  # fmt: skip
    reason = json.loads(related)["answers"][1]["reasons"][0]
    assert reason == {
        "kind": "parents in common", "count": 1, "of": 2, "text": "1 of their 2 parents link to both"
    }  # fmt: skip
    assert "jaccard" in methods
    assert json.loads(ranked)["top"][0]["value"] == 2
    assert len(json.loads(orphans)["orphans"]) == 2
    assert "List pages that no page links to" in help
    assert run(folder, SERVED) == [str(json.loads(orphans)["orphans"])]


def test_a_broken_plugin_is_a_line_and_never_a_crash(folder: Path) -> None:
    ran, _ = ask(
        folder, "plugins", "build favourites.addresses -o other.cocite", "related a.example -m absent -i other.cocite",
        "methods", "nothing", broken=True,
    )  # fmt: skip
    assert [each.code for each in ran] == [0, 0, 2, 0, 2], ran
    for name, why in {
        "absent": "ModuleNotFoundError: No module named 'no_such_module'", "leaving": "SystemExit: I leave",
        "crashing": "ZeroDivisionError: division by zero", "empty": "broken_plugin has no Params",
        "nothing": "AttributeError: ", "cocitation": "broken_plugin has no Params",
    }.items():  # fmt: skip
        assert f"{name}  broken-plugin 0.1" in ran[0].out
        assert f"not loaded: {why}" in ran[0].out
    assert "Skipped the plugin crashing of broken-plugin (ZeroDivisionError" in ran[1].err
    assert "Skipped the plugin absent of broken-plugin (ModuleNotFoundError" in ran[2].err
    assert "Unknown method 'absent'" in ran[2].err
    assert "jaccard" in ran[3].out
    assert not any("Traceback" in each.err for each in ran)


def test_plugins_cost_nothing_where_nobody_asks(folder: Path) -> None:
    """Neither --help nor a method of cocite's own reads entry points."""
    ran, kinds = ask(folder, "--help", "related --help", "related a.example -m cocitation")
    assert [each.code for each in ran] == [0, 0, 0]
    assert kinds == 0


@pytest.fixture
def without_plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(plugins, "entries", lambda kind: {})
    yield


def test_no_plugins(without_plugins: None) -> None:
    assert plugins.installed() == []
    assert plugins.all_loaded("methods") == {}
