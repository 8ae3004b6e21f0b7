"""Plugins of site generators, tried with the generators themselves."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cocite.generators import fill, with_place

ROOT = Path(__file__).parents[2]
TEXTS = {
    "index": "Home of the manual.",
    "robin": "The robin is a small garden bird with a red breast. It sings in winter, and eats worms and beetles.",
    "wren": "The wren is a small garden bird with a loud song. It sings in winter, and eats beetles and spiders.",
    "gearbox": "A gearbox changes the speed of an engine. Its oil and its clutch wear out, like the brakes of a car.",
    "brakes": "The brakes of a car stop its wheels. Their oil wears out, like the clutch and the gearbox of an engine.",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the entry points of pyproject.toml, as an installation has them."""
    folder = tmp_path_factory.mktemp("site-packages")
    about = folder / "cocite_entries-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: cocite-entries\nVersion: 1\n")
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    lines = [
        line for group, some in declared.items() for line in (f"[{group}]", *(f"{n} = {m}" for n, m in some.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join(lines))
    return folder


def generate(installed: Path, folder: Path, *command: str) -> str:
    paths = os.pathsep.join([str(ROOT / "src"), str(installed)])
    env = {**os.environ, "PYTHONPATH": paths, "XDG_CACHE_HOME": str(folder / "cache"), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def related(page: Path) -> str:
    """The list of a page."""
    text = page.read_text("utf-8")
    assert text.count("data-cocite-related") == 1, "one place"
    return text.partition("<!-- cocite:related -->")[2].partition("<!-- /cocite:related -->")[0]


def test_mkdocs(installed: Path, tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: it is in the group dev")
    (tmp_path / "docs").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "docs" / f"{name}.md").write_text(f"# The {name}\n\n{text}\n")
    settings = "site_name: Manual\nsite_url: https://manual.example/\nplugins: [{cocite: {k: 1, heading: See also}}]\n"
    (tmp_path / "mkdocs.yml").write_text(settings)
    said = generate(installed, tmp_path, "mkdocs", "build")
    assert "related pages of" in said
    assert 'href="../wren/"' in related(tmp_path / "site" / "robin" / "index.html")
    assert "<h2>See also</h2>" in related(tmp_path / "site" / "robin" / "index.html")
    assert 'href="../gearbox/"' in related(tmp_path / "site" / "brakes" / "index.html")


def test_sphinx(installed: Path, tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="sphinx is not installed: it is in the group dev")
    for name, text in TEXTS.items():
        title = f"The {name}"
        pages = "\n.. toctree::\n\n   " + "\n   ".join(sorted(TEXTS.keys() - {"index"})) if name == "index" else ""
        (tmp_path / f"{name}.rst").write_text(f"{title}\n{'=' * len(title)}\n\n{text}\n{pages}\n")
    settings = 'project = "Manual"\nextensions = ["cocite.generators.sphinx"]\ncocite_k = 1\n'
    (tmp_path / "conf.py").write_text(f'{settings}html_baseurl = "https://manual.example/"\n')
    generate(installed, tmp_path, "sphinx", "-b", "html", "-q", ".", "out")
    assert 'href="wren.html"' in related(tmp_path / "out" / "robin.html")
    assert 'href="gearbox.html"' in related(tmp_path / "out" / "brakes.html")
    assert "data-cocite-related" not in (tmp_path / "out" / "genindex.html").read_text("utf-8")


@pytest.mark.parametrize("builder", ["epub", "json"])
def test_sphinx_leaves_other_forms_of_html_as_they_are(installed: Path, tmp_path: Path, builder: str) -> None:
    """A page of an EPUB has to be XML, which has no attributes without values; JSON isn't a page."""
    pytest.importorskip("sphinx", reason="sphinx is not installed: it is in the group dev")
    (tmp_path / "index.rst").write_text("The manual\n==========\n\nA text.\n")
    settings = 'project = "Manual"\nextensions = ["cocite.generators.sphinx"]\nversion = copyright = "1"\n'
    (tmp_path / "conf.py").write_text(f'{settings}html_baseurl = "https://manual.example/"\n')
    said = generate(installed, tmp_path, "sphinx", "-b", builder, "-q", ".", "out", "-d", "trees")
    assert "cocite" not in said
    pages = [page.read_text("utf-8") for page in (tmp_path / "out").glob("index.*htm*")] + [
        page.read_text("utf-8") for page in (tmp_path / "out").glob("index.fjson")
    ]
    assert pages and not any("cocite" in page for page in pages)


def test_what_goes_wrong_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("a generator")
    fill(tmp_path, "", "site_url", log)
    assert "the address of the site is unknown: set site_url" in caplog.text
    fill(tmp_path, "https://manual.example/", "site_url", log)
    assert "no related pages" in caplog.text and "has no HTML pages" in caplog.text
    fill(tmp_path, "https://manual.example/", "site_url", log, k=99)
    assert "k must be a whole number from 1 to 50" in caplog.text


def test_a_place_is_added_once() -> None:
    once = with_place("<p>Text</p>")
    assert once.count("data-cocite-related") == 1
    assert with_place(once) == once
    assert with_place("<!-- cocite:related -->") == "<!-- cocite:related -->"
