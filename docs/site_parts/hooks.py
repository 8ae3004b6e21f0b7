"""Hooks of mkdocs: pages that live outside docs/, links between them, and pages that only an index lists."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, InclusionLevel

ROOT = Path(__file__).parents[2]
ELSEWHERE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changes.md",
    "bench/README.md": "benchmarks.md",
    "src/cocite/graph/FORMAT.md": "format.md",
}
"""Pages of the site by their file in the repository, where that isn't under docs/."""
BY_INDEX = ("decisions", "lab")
"""Folders whose pages are listed by their README.md, not by the navigation."""
LINK = re.compile(r"(\]\(|(?:src|srcset)=\")([^)\s\"#]+)")


def place_on_site(file: str) -> str | None:
    """The site's path of a file of the repository, if the site has it."""
    is_shown = file.startswith("docs/") and file.endswith((".md", ".svg", ".png"))
    return ELSEWHERE.get(file) or (file.removeprefix("docs/") if is_shown else None)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages from elsewhere; list those of folders with an index there only."""
    for file, page in ELSEWHERE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / file)))
    for each in files.documentation_pages():
        if each.src_uri.partition("/")[0] in BY_INDEX and not each.src_uri.endswith("README.md"):
            each.inclusion = InclusionLevel.NOT_IN_NAV
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point relative links to the site's pages; a link to a file that isn't on the site becomes its name."""
    uri = page.file.src_uri
    source = next((file for file, place in ELSEWHERE.items() if place == uri), f"docs/{uri}")
    parts = re.split(r"(^```.*?^```)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else moved(part, source, uri) for part in parts)


def moved(text: str, source: str, uri: str) -> str:
    """The text of a file, with links as from its page of the site."""

    def target(link: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(source), link))

    def without_link(match: re.Match[str]) -> str:
        file, _, _ = target(match[2]).partition("#")
        is_outside = not re.match(r"[a-z]+:|#", match[2]) and place_on_site(file) is None
        return f"{match[1]} (`{file}` of the source)" if is_outside else match[0]

    def link(match: re.Match[str]) -> str:
        place = None if re.match(r"[a-z]+:", match[2]) else place_on_site(target(match[2]))
        return match[0] if place is None else match[1] + posixpath.relpath(place, posixpath.dirname(uri) or ".")

    return LINK.sub(link, re.sub(r"(?<!!)\[([^]\[]+)\]\(([^)\s]+)\)", without_link, text))
