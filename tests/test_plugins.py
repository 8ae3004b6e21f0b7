"""Plugins: the example is installed as anybody would install it, and used; broken ones are a line, never a crash."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

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


def run(folder: Path, *arguments: str, code: int = 0, broken: bool = False) -> subprocess.CompletedProcess[str]:
    paths = [str(ROOT / "src"), str(folder / "site"), *([str(folder / "broken")] if broken else [])]
    done = subprocess.run(
        [sys.executable, "-m", "cocite", *arguments], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COCITE_INDEX": str(folder / "web.cocite")},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done


def test_the_example_adds_a_source_a_method_a_rank_and_an_operation(folder: Path) -> None:
    listed = json.loads(run(folder, "plugins", "--json").stdout)["plugins"]
    assert [(each["kind"], each["name"], each["package"], each["version"], each["failure"]) for each in listed] == [
        ("sources", "addresses", "cocite-example", "1.0", ""),
        ("methods", "jaccard", "cocite-example", "1.0", ""),
        ("ranks", "in_links", "cocite-example", "1.0", ""),
        ("operations", "orphans", "cocite-example", "1.0", ""),
    ]
    run(folder, "build", "favourites.addresses", "more.addresses", "-o", "web.cocite")
    related = json.loads(run(folder, "related", "a.example", "-m", "jaccard(parents=5)", "--json").stdout)
    assert [(each["url"], each["score"]) for each in related["answers"]] == [
        ("https://b.example/", 1.0), ("https://c.example/", 0.5)
    ]  # fmt: skip
    assert "jaccard" in run(folder, "methods").stdout
    ranked = json.loads(run(folder, "rank", "--by", "in_links", "--json").stdout)
    assert ranked["top"][0]["value"] == 2
    orphans = json.loads(run(folder, "orphans", "--json").stdout)["orphans"]
    assert len(orphans) == 2
    assert "List pages that no page links to" in run(folder, "orphans", "--help").stdout
    code = f"import cocite; print(cocite.open({str(folder / 'web.cocite')!r}).orphans().orphans)"
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{folder / 'site'}"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert done.stdout.strip() == str(orphans)
    served = """
from cocite.http.questions import routes, parameters
from cocite.http.metrics import ROUTE_LABELS
from cocite.mcp.server import tools
assert "/api/orphans" in routes() and "orphans" in ROUTE_LABELS and "k" in parameters("/api/orphans")
assert "orphan_pages" in tools()
"""
    subprocess.run([sys.executable, "-c", served], env=env, check=True)


def test_a_broken_plugin_is_a_line_and_never_a_crash(folder: Path) -> None:
    shown = run(folder, "plugins", broken=True).stdout
    for name, why in {
        "absent": "ModuleNotFoundError: No module named 'no_such_module'", "leaving": "SystemExit: I leave",
        "crashing": "ZeroDivisionError: division by zero", "empty": "broken_plugin has no Params",
        "nothing": "AttributeError:", "cocitation": "has no Params",
    }.items():  # fmt: skip
        assert f"{name}  broken-plugin 0.1" in shown
        assert f"not loaded: {why}" in shown or why in shown
    run(folder, "build", "favourites.addresses", "-o", "other.cocite", broken=True)
    failed = run(folder, "related", "a.example", "-m", "absent", code=2, broken=True)
    assert "Skipped the plugin absent of broken-plugin (ModuleNotFoundError" in failed.stderr
    assert "Unknown method 'absent'" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert "jaccard" in run(folder, "methods", broken=True).stdout
    run(folder, "nothing", code=2, broken=True)


def test_plugins_cost_nothing_where_nobody_asks(folder: Path) -> None:
    """Neither --help nor a method of cocite's own reads entry points."""
    for command in (
        ["--help"],
        ["related", "--help"],
        ["related", "a.example", "-m", "cocitation", "-i", "web.cocite"],
    ):
        code = f"""
import sys
from cocite.cli import app
try: app({command!r}, prog_name="cocite")
except SystemExit as end: assert end.code == 0, end.code
print("importlib.metadata" in sys.modules and __import__("cocite.plugins").plugins.entries.cache_info().currsize)
"""
        env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{folder / 'site'}"}
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] in ("False", "0"), command


@pytest.fixture
def without_plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(plugins, "entries", lambda kind: {})
    yield


def test_no_plugins(without_plugins: None) -> None:
    assert plugins.installed() == []
    assert plugins.all_loaded("methods") == {}
