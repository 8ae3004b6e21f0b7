"""Sections: which links of a page a reader sees together, and under which heading. A record calls them blocks.

While a page is read, every boundary (heading, rule, end of a list, …) begins a group, and a link keeps the number of
its group. `number_blocks` then merges groups that belong together, and numbers those that have links.
"""

import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from cocite.sources.html.tokens import attributes
from cocite.sources.records import Link

MAX_ENTRY_LINKS = 4
"""A linked heading with up to this many links (title, picture, author, "more") is an entry in a list of entries. With
more links, it is the heading of a list of its own."""
MAX_NAME = 60
MAX_CACHED_SOURCE = 200

_PART = (
    "site|page|main|top|bottom|left|right|side|primary|secondary|global|local|sub|user|mobile|header|footer|social|"
    "mw|vector"
)
_NAME = (
    "nav|navs|navi|navbar|navigation|navlinks|menu|menus|menubar|sidebar|footer|breadcrumbs?|crumbs|masthead|topbar|"
    "pagination|pager|skiplinks?"
)
_AFTER = "bar|wrap|wrapper|container|inner|outer|list|links|items|box|area|block|[0-9]|" + _PART
_BOILERPLATE_NAME = re.compile(
    rf"(?:(?:{_PART})[-_]?)*(?:{_NAME})(?:[-_]*(?:{_AFTER}))*|sphinxsidebar|mw-panel|(?:site|global)[-_]?header"
)
_BOILERPLATE_ID = re.compile(r"header|banner|toolbar")
_BOILERPLATE_ROLES = frozenset({"navigation", "banner", "contentinfo", "complementary", "menu", "menubar", "search"})
_MAY_BE_NAMED = re.compile(r"class|id|role", re.IGNORECASE)


def is_boilerplate(attribute_source: str) -> bool:
    """Return whether the role, id or class of an element marks navigation, a page header or footer, or a side bar."""
    return (_cached if len(attribute_source) < MAX_CACHED_SOURCE else _cached.__wrapped__)(attribute_source)


@lru_cache(maxsize=20_000)
def _cached(attribute_source: str) -> bool:
    return bool(_MAY_BE_NAMED.search(attribute_source)) and has_boilerplate_name(attributes(attribute_source))


def has_boilerplate_name(given: dict[str, str]) -> bool:
    """Return whether attributes mark boilerplate."""
    if given.get("role", "").lower() in _BOILERPLATE_ROLES:
        return True
    identity = given.get("id", "").lower()[:MAX_NAME]
    if _BOILERPLATE_ID.fullmatch(identity) or _BOILERPLATE_NAME.fullmatch(identity):
        return True
    return any(_BOILERPLATE_NAME.fullmatch(name[:MAX_NAME]) for name in given.get("class", "").lower().split()[:20])


class LinkGroup(NamedTuple):
    """Links between two boundaries: a section, or one entry of it."""

    heading: str
    boilerplate: bool = False
    entry: int = 0  # the level of the linked heading that begins an entry, or 0
    above: str = ""  # for an entry, the heading of the list of entries
    bold: bool = False  # the heading is a line in bold type instead of a heading element


def number_blocks(links: list[Link], groups: list[LinkGroup]) -> list[str]:
    """Turn the group numbers in `links` into section numbers, in order of appearance. Return the sections' headings.

    Consecutive entries (`<h3><a>title</a></h3><p>teaser</p>`, repeated) are one section, under the heading above them.
    """
    link_counts = Counter(link.block or 0 for link in links)
    headings: list[str] = []
    block_of: dict[int, int] = {}
    run: tuple[int, str, bool] | None = None
    merged = False
    for number, count in link_counts.items():
        group = groups[number]
        entry = (group.entry, group.above, group.boilerplate) if group.entry and count <= MAX_ENTRY_LINKS else None
        if entry is not None and entry == run:
            if not merged:
                headings[-1] = group.above
            merged = True
        else:
            headings.append(group.heading)
            run, merged = entry, False
        block_of[number] = len(headings) - 1
    number, block, boilerplate = -1, 0, False
    for link in links:
        if link.block != number:  # most links are in the group of the link before
            number = link.block or 0
            block, boilerplate = block_of[number], groups[number].boilerplate
        link.block, link.boilerplate = block, boilerplate
    return headings
