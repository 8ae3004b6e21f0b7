"""The examples of CONTRIBUTING.md work as they are written: each is one file, and short."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAX_LINES = 40
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
EXAMPLES: dict[str, str] = dict(re.findall(r"<!-- (\S+\.py) -->\n```python\n(.*?)```", GUIDE, re.DOTALL))
CHANGES: dict[str, str] = dict(re.findall(r"<!-- (\S+\.py) -->\n```diff\n(.*?)```", GUIDE, re.DOTALL))
LISTS = {
    "news": "# Dailies\nhttps://one.example/\nhttps://two.example/\nnot an address\n",
    "more": "# Papers\nhttps://two.example/\nhttps://one.example/\nhttps://three.example/\n",
    "other/news": "# Weeklies\nhttps://four.example/\n",
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the examples in it."""
    folder = tmp_path_factory.mktemp("contributing")
    shutil.copytree(ROOT / "src" / "cocite", folder / "src" / "cocite")
    for path, code in EXAMPLES.items():
        assert not (ROOT / path).exists(), f"{path} is part of cocite now: choose another example"
        (folder / path).write_text(code, "utf-8")
    for path, change in CHANGES.items():
        code = (folder / path).read_text("utf-8")
        for part in change.split("@@\n"):
            before, after = (re.sub("^.", "", kept_lines(part, signs), flags=re.MULTILINE) for signs in (" -", " +"))
            assert code.count(before) == 1, f"{path} no longer has:\n{before}"
            code = code.replace(before, after)
        (folder / path).write_text(code, "utf-8")
    for name, text in LISTS.items():
        file = folder / "lists" / f"{name}.addresses.gz"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(text.encode()))
    (folder / "plain.addresses").write_text("https://two.example/\n", "utf-8")
    return folder


def kept_lines(part: str, signs: str) -> str:
    """The lines of a change that begin with one of these signs."""
    return "".join(line for line in part.splitlines(keepends=True) if line[0] in signs)


def run(copy: Path, *arguments: str) -> str:
    """What a command prints."""
    code = f"import sys; sys.path.insert(0, {str(copy / 'src')!r}); from cocite.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_examples_are_short() -> None:
    assert (len(EXAMPLES), len(CHANGES)) == (3, 1)
    assert all(len(code.splitlines()) < MAX_LINES for code in EXAMPLES.values())


def test_a_source_a_method_a_filter_and_an_operation_work_at_once(copy: Path) -> None:
    assert "line without an address" in run(copy, "build", "lists", "plain.addresses", "-o", "web.cocite")
    related = run(copy, "related", "one.example", "-m", "jaccard(parents=5)")
    assert "two.example" in related
    assert "Listed" in related
    assert "jaccard" in run(copy, "methods")
    few = run(copy, "related", "one.example", "-m", "jaccard", "--min-links", "2")
    assert "two.example" in few and "three.example" in related and "three.example" not in few
    orphans = run(copy, "orphans")
    assert len(re.findall(r"https://news-\w{20}\.example/", orphans)) == 2, "files of one name are two pages"
    assert len(re.findall(r"https://(?:more|plain)-\w{20}\.example/", orphans)) == 2
    assert "one.example" not in orphans
    assert "List pages that no page links to" in run(copy, "orphans", "--help")
