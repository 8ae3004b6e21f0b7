"""Blocks: which links of a page a reader sees as one group, and under which heading.

While a page is read, `Groups` hands out a group at every boundary (heading, rule, end of a list, …). Links keep the
number of their group; `number_blocks` then joins what belongs together and numbers the groups that hold links.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cocite.sources.html.tokens import attributes
from cocite.sources.records import Link

ENTRY_LINKS = 4
"""A linked heading with no more links than this (title, picture, author, "more") is an entry in a list of entries; with
more, it is the heading of a list of its own."""

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

_LONGEST_NAME = 60
_remembered: dict[str, bool] = {}
_MOST_REMEMBERED = 20_000


def is_boilerplate(attribute_source: str) -> bool:
    """Whether an element's role, id or class says that it is navigation, a page header or footer, or a side bar."""
    known = _remembered.get(attribute_source)
    if known is not None:
        return known
    answer = bool(_MAY_BE_NAMED.search(attribute_source)) and _named_boilerplate(attributes(attribute_source))
    if len(attribute_source) < 200:
        if len(_remembered) >= _MOST_REMEMBERED:
            _remembered.clear()
        _remembered[attribute_source] = answer
    return answer


def _named_boilerplate(named: dict[str, str]) -> bool:
    if named.get("role", "").lower() in _BOILERPLATE_ROLES:
        return True
    identity = named.get("id", "").lower()[:_LONGEST_NAME]
    if _BOILERPLATE_ID.fullmatch(identity) or _BOILERPLATE_NAME.fullmatch(identity):
        return True
    return any(
        _BOILERPLATE_NAME.fullmatch(name[:_LONGEST_NAME]) for name in named.get("class", "").lower().split()[:20]
    )


class Group(NamedTuple):
    """Links that stand together. `entry` is the level of the linked heading that begins an entry, else 0."""

    heading: str
    boilerplate: bool = False
    entry: int = 0
    above: str = ""  # for an entry, the heading of the list of entries
    bold: bool = False  # the heading is no heading element but a line in bold type


def number_blocks(links: list[Link], groups: list[Group]) -> list[str]:
    """Turn the group numbers in `links` into block numbers, in order of appearance; return the blocks' headings.

    Consecutive entries (`<h3><a>title</a></h3><p>teaser</p>`, again and again) are one block, under the heading above
    them.
    """
    held: dict[int, int] = {}
    for link in links:
        number = link.block or 0
        held[number] = held.get(number, 0) + 1
    headings: list[str] = []
    block_of: dict[int, int] = {}
    run: tuple[int, str, bool] | None = None
    joined = False
    for number, count in held.items():
        group = groups[number]
        entry = (group.entry, group.above, group.boilerplate) if group.entry and count <= ENTRY_LINKS else None
        if entry is not None and entry == run:
            if not joined:
                headings[-1] = group.above
            joined = True
        else:
            headings.append(group.heading)
            run, joined = entry, False
        block_of[number] = len(headings) - 1
    number, block, boilerplate = -1, 0, False
    for link in links:
        if link.block != number:
            number = link.block or 0
            block, boilerplate = block_of[number], groups[number].boilerplate
        link.block, link.boilerplate = block, boilerplate
    return headings
