"""Documentation sites as judged collections: right are the pages in the same section of the table of contents.

    python-docs  sqlite-docs  postgresql-docs  git-docs        from Debian's packages of these names

Navigation is taken out before a store is built: bars with previous, next and up, breadcrumbs, sidebars, and the pages
that are tables of contents themselves. What remains are the links that authors wrote into their text.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from resiliparse.parse.html import DOMNode, HTMLTree

from cocite.errors import BadSource
from cocite.evaluate.judgements import Judgements, page_of

Sections = dict[str, str]
"""The section of each page: a file's path within the site, and what the table of contents calls its section."""


@dataclass(frozen=True)
class DocSite:
    """A documentation site in a Debian package, and how to read its table of contents."""

    package: str
    folder: str  # below the root
    base: str
    navigation: str  # CSS selector of what is taken out
    sections: Callable[[Path], Sections]
    contents: tuple[str, ...]  # pages that are tables of contents or indexes: patterns of paths

    def pages(self, folder: Path) -> Iterator[Path]:
        """The pages, without tables of contents."""
        for path in sorted(folder.rglob("*.html")):
            name = path.relative_to(folder).as_posix()
            if not path.is_symlink() and not any(re.fullmatch(pattern, name) for pattern in self.contents):
                yield path

    def content(self, path: Path) -> HTMLTree:
        """A page without its navigation."""
        page = tree(path)
        for node in page.body.query_selector_all(self.navigation):
            node.decompose()
        return page


def tree(path: Path) -> HTMLTree:
    """A page as a tree."""
    return HTMLTree.parse_from_bytes(path.read_bytes(), "utf-8")


def target(link: DOMNode, page: str) -> str:
    """The path within the site that a link leads to; empty if it leaves the site."""
    there = urlsplit(urljoin("http://site/" + page, (link.getattr("href") or "").strip()))
    return there.path.lstrip("/") if there.netloc == "site" else ""


def postgresql_sections(folder: Path) -> Sections:
    """The page above in the book: its link is called Up."""
    found = {}
    for path in folder.glob("*.html"):
        up = tree(path).body.query_selector('.navheader a[accesskey="u"]')
        if up is not None:
            found[path.name] = target(up, path.name)
    return found


def python_sections(folder: Path) -> Sections:
    """The entry of the second level in contents.html that a page is listed under, of the first level if it is one."""
    found: Sections = {}
    top = tree(folder / "contents.html").body.query_selector(".toctree-wrapper")

    def walk(node: DOMNode, section: str) -> None:
        for item in node.child_nodes:
            if item.tag == "ul":
                walk(item, section)
            elif item.tag == "li":
                link = item.query_selector("a")
                page = target(link, "contents.html") if link is not None else ""
                if page and "#" not in (link.getattr("href") or ""):
                    found.setdefault(page, section or page)
                deeper = "toctree-l1" in item.class_name or "toctree-l2" in item.class_name
                for child in item.child_nodes:
                    if child.tag == "ul":
                        walk(child, page if deeper and page else section)

    walk(top, "")
    return found


def git_sections(folder: Path) -> Sections:
    """The heading of git.html that lists a command."""
    found: Sections = {}
    section = ""
    for node in tree(folder / "git.html").body.query_selector_all("h2, h3, dt a"):
        if node.tag in ("h2", "h3"):
            section = node.text.strip()
        elif (page := target(node, "git.html")).endswith(".html") and page != "git.html":
            found.setdefault(page, section)
    return found


def sqlite_sections(folder: Path) -> Sections:
    """The group of docs.html that lists a page; sections of the C interface by what sqlite calls its lists."""
    found: Sections = {}
    section = ""
    for node in tree(folder / "docs.html").body.query_selector_all(".showhide > li > a, .showhide li li a"):
        if node.getattr("href") is None or node.getattr("href").startswith("#"):
            section = node.text.strip()
        elif page := target(node, "docs.html"):
            found.setdefault(page, section)
    return found


SITES = {
    "postgresql-docs": DocSite(
        "postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html", "https://postgresql.example/docs/",
        ".navheader, .navfooter, .toc", postgresql_sections, (r"index\.html", r"bookindex\.html", r"legalnotice\.html"),
    ),
    "python-docs": DocSite(
        "python3.11-doc", "usr/share/doc/python3.11/html", "https://python.example/3/",
        "div.related, .sphinxsidebar, .mobile-nav, .footer, .toctree-wrapper, nav", python_sections,
        (r"(.*/)?(index|contents|genindex.*|py-modindex|search|download|about|bugs|copyright|license)\.html",
         r"whatsnew/changelog\.html"),
    ),
    "git-docs": DocSite(
        "git-doc", "usr/share/doc/git-doc", "https://git.example/docs/", "#footer", git_sections,
        (r"git\.html", r"(.*/)?index\.html", r"RelNotes.*"),
    ),
    "sqlite-docs": DocSite(
        "sqlite3-doc", "usr/share/doc/sqlite3", "https://sqlite.example/",
        ".nosearch, .rightsidebar, .menu, header, #toc_sub, .tocdiv", sqlite_sections,
        (r"(index|docs|sitemap|keyword_index|doc_.*|search|about|dev|copyright.*|support|news|chronology)\.html",
         r"(.*/)?(toc|sitemap).*\.html", r"matrix/.*", r"releaselog/.*"),
    ),
}  # fmt: skip


def fetch(site: DocSite, root: Path) -> Path:
    """The folder of a site's pages; its package is downloaded and unpacked under `root` if it is not there."""
    folder = root / site.package
    if not folder.is_dir():
        root.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run(["apt-get", "download", "-qq", site.package], cwd=root, check=True, capture_output=True)
            (package,) = root.glob(f"{site.package}_*.deb")
            subprocess.run(["dpkg", "-x", package, folder], check=True)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            raise BadSource(f"Debian's package {site.package} is needed, and can't be downloaded: {error}") from error
    return folder / site.folder


def prepare(name: str, root: Path) -> tuple[Path, str, Judgements]:
    """A site without navigation as a folder of HTML, its base address, and the judgements."""
    site = SITES[name]
    source, cleaned = fetch(site, root), root / name
    members: dict[str, list[str]] = defaultdict(list)
    sections = site.sections(source)
    for path in site.pages(source):
        inside = path.relative_to(source).as_posix()
        if not (cleaned / inside).exists():
            (cleaned / inside).parent.mkdir(parents=True, exist_ok=True)
            (cleaned / inside).write_text(str(site.content(path)), encoding="utf-8")
        if inside in sections:
            members[sections[inside]].append(page_of(site.base + inside))
    judgements = Judgements()
    for pages in members.values():
        if len(pages) > 1:
            judgements.ratings.update((page, dict.fromkeys(pages, 1.0)) for page in pages)
    return cleaned, site.base, judgements


if __name__ == "__main__":
    import sys

    for name in SITES:
        folder, base, judged = prepare(name, Path(sys.argv[1]))
        groups = {tuple(sorted(each)) for each in judged.ratings.values()}
        sizes = sorted(map(len, groups))
        print(name, folder, len(judged.ratings), "queries", len(groups), "groups", sizes[:5], sizes[-5:])
