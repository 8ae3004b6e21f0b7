"""Relative links in documents lead to files and headings that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATTERNS = ("*.md", "docs/**/*.md", "bench/*.md", "research/*.md", "src/cocite/graph/*.md")
FOLDERS = ("src", "tests", "bench", "research", "docs", "extension", "deploy")
PAGES = sorted(page for pattern in PATTERNS for page in ROOT.glob(pattern))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_files_that_docs_and_docstrings_name_exist() -> None:
    code = [file for name in FOLDERS for file in ROOT.glob(f"{name}/**/*.py")]
    files = {str(file.relative_to(ROOT)) for file in code}
    ends = {file[at:] for file in files for at in (0, *(at.end() for at in re.finditer("/", file)))}
    named = re.compile(r"(?<![\w/.-])(?:[\w-]+/)+[\w-]+\.py\b")
    for page in (*PAGES, *code):
        text = page.read_text("utf-8")
        examples = re.findall(r"<!-- (\S+) -->", text)  # of CONTRIBUTING.md: files that a contributor would add
        missing = set(named.findall(text)) - ends - set(examples)
        assert not missing or page == Path(__file__), f"{page.relative_to(ROOT)} names {missing}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
