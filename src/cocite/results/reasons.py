"""Reasons: the evidence of a method, put into words and into the fields of the public JSON format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from cocite.related.evidence import ByLinks, Evidence, ListedTogether, Listing, PageLabels, SharedLink, SharedLinks
from cocite.text import clean

MIN_BRIEF_SHARE = 0.05
TOTALS = {Listing.kind: ListedTogether.kind, SharedLink.kind: SharedLinks.kind}
"""Examples, and the kind that counts them."""


@dataclass(slots=True, kw_only=True)
class Reason:
    """One reason why a page is related. `text` is the sentence; fields that don't belong to its kind are empty."""

    kind: str
    by: str = ""  # the page that links to both
    title: str = ""  # of that page
    block: str | None = None  # the heading of the section in which it does, perhaps empty; None: not in one section
    distance: int | None = None  # links apart on that page: 1 is next to each other; None: unknown
    to: str = ""  # the page that both link to
    through: str = ""  # the page in between
    count: int | None = None  # how many there are in all
    of: int | None = None  # of how many that were read
    voices: int | None = None  # as how many they count: near-duplicates, or pages of one site, count as one
    copy: str = ""  # the near-duplicate of the result that it is about, if not the result itself
    pages: tuple[str, ...] = ()  # near-duplicates, or the pages or sites of a path
    share: float | None = None  # the part of the score that this kind of evidence gives
    words: tuple[str, ...] = ()
    back: int | None = None  # clicks from the result to the query page, beside `count` the other way
    together: int | None = None  # sessions in which both were visited, not one from the other
    query: str = ""  # the query page that it is about, if there are several
    text: str = ""

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the fields that belong to its kind."""
        found: dict[str, Any] = {}
        for name in _FIELDS:
            value = getattr(self, name)
            if type(value) is tuple:
                value = list(value)
            if value or value == 0 or (name == "block" and value is not None):  # a heading may be empty
                found[name] = value
        return found


_FIELDS = tuple(each.name for each in fields(Reason))


def reasons_of(names: PageLabels, evidence: Iterable[Evidence]) -> tuple[Reason, ...]:
    """The reasons for one result, in the order of its evidence."""
    found = []
    for each in evidence:
        reason = Reason(**each.to_json(names))
        if not reason.text.isprintable():
            reason.text = clean(reason.text)
        found.append(reason)
    return tuple(found)


def sentences(reasons: Sequence[Reason]) -> list[str]:
    """Every sentence once, without the remark that links count where links themselves are named."""
    found = dict.fromkeys(each.text for each in reasons if each.kind != ByLinks.kind)
    return list(found) or [each.text for each in reasons[:1]]


def brief(reasons: Sequence[Reason], limit: int = 3) -> list[str]:
    """The sentences of the strongest reasons: counts instead of their examples, no small parts of the score."""
    totals = {(each.kind, each.query): each for each in reasons if each.kind in TOTALS.values()}
    chosen = [totals.get((TOTALS.get(each.kind, ""), each.query), each) for each in reasons]
    strong = [each for each in chosen if each.share is None or each.share >= MIN_BRIEF_SHARE]
    return sentences(strong or chosen)[:limit]
