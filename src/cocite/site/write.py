"""Related pages of a site as JSON, as fragments of HTML, and in the pages: the same input gives the same bytes."""

import json
import re
from functools import partial
from html import escape
from pathlib import Path
from posixpath import dirname, relpath
from typing import Any
from urllib.parse import quote, urlsplit

from cocite.site.read import INSERTED_LIST
from cocite.site.relate import RelatedPage, RelatedSite
from cocite.system import make_folder, replace_file

_PLACE = re.compile(
    INSERTED_LIST + rb"|(?P<open><(?P<name>[a-z]+)\b[^<>]*\sdata-cocite-related\b[^<>]*>)\s*(?P<close></(?P=name)>)",
    re.DOTALL | re.IGNORECASE,
)
"""Where a list is inserted: at a comment, or in an empty element, as minifiers remove comments."""


def as_json(made: RelatedSite, base: str) -> str:
    """All lists: a page a line, by the paths of addresses."""
    site, dump = "{0.scheme}://{0.netloc}".format(urlsplit(base)), partial(json.dumps, ensure_ascii=False)

    def entry(listed: RelatedPage) -> dict[str, Any]:
        path, why = quote(made.paths[listed.page]), dict[str, Any]()
        why |= {"words": list(listed.words)} if listed.words else {}
        why |= {"linked": listed.linked} if listed.linked else {}
        why |= {"pinned": True} if listed.pinned else {}
        title, score = made.titles[listed.page], round(listed.score, 4)
        return {"path": path, "url": site + path, "title": title, "score": score, "why": why}

    lines = []
    for at in sorted(range(len(made.paths)), key=made.paths.__getitem__):
        about = {"title": made.titles[at], "related": [entry(each) for each in made.related[at]]}
        lines.append(f"{dump(quote(made.paths[at]))}: {dump(about)}")
    return '{"base": ' + dump(base) + ', "pages": {\n' + ",\n".join(lines) + "\n}}\n"


def fragment(made: RelatedSite, at: int, heading: str) -> str:
    """The list of a page as HTML, with links relative to it; empty if there is nothing.

    In ASCII, other characters as references: it has to fit into pages in any encoding.
    """
    if not made.related[at]:
        return ""
    links = [(link(made.paths[at], made.paths[each.page]), made.titles[each.page]) for each in made.related[at]]
    items = "".join(f'<li><a href="{escape(reference)}">{escape(name)}</a></li>\n' for reference, name in links)
    title = f"<h2>{escape(heading)}</h2>\n" if heading else ""
    label = escape(heading or "Related pages")
    text = f'<nav class="related-pages" aria-label="{label}">\n{title}<ul>\n{items}</ul>\n</nav>\n'
    return text.encode("ascii", "xmlcharrefreplace").decode()


def link(here: str, there: str) -> str:
    """The reference from one path to another: it holds wherever the site is put, and on a disk."""
    folder = here if here.endswith("/") else dirname(here) + "/"
    found = relpath(there, folder)
    found += "/" if there.endswith("/") and not found.endswith("/") else ""
    return quote(found) if found.partition("/")[0].find(":") < 0 else f"./{quote(found)}"


def write_fragments(folder: Path, made: RelatedSite, heading: str) -> list[Path]:
    """A file for every page, under the name that the page has in its own folder; an empty one if there is nothing."""
    paths = [folder / file for file in made.files]
    for at, path in enumerate(paths):
        make_folder(path.parent)
        write_changed(path, fragment(made, at, heading).encode())
    return paths


def insert(folder: Path, made: RelatedSite, heading: str) -> list[str]:
    """Put lists into the pages that have a place for them; returns the files that have one."""
    found = []
    for at, file in enumerate(made.files):
        content = (folder / file).read_bytes()
        if b"cocite" in content.lower() and _PLACE.search(content):
            found.append(file)
            write_changed(folder / file, inserted(content, fragment(made, at, heading)))
    return found


def inserted(content: bytes, text: str) -> bytes:
    """A page with a list in its places, instead of the one that may be there."""
    marked = b"<!-- cocite:related -->" + text.encode() + b"<!-- /cocite:related -->"
    return _PLACE.sub(lambda place: (place["open"] or b"") + marked + (place["close"] or b""), content)


def write_changed(path: Path, content: bytes) -> None:
    """Write a file atomically, and only if it differs: what watches the file is not woken for nothing."""
    if not path.is_file() or path.stat().st_size != len(content) or path.read_bytes() != content:
        replace_file(path, content)
