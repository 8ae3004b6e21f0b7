"""The slow truth of a store: dictionaries and lists, straight from the rules of page records and links.

A page is its canonical address. Pages are those that have a capture that counts, those that a link that counts leads
to, aliases and where they lead, in the order of keys.

- Of several captures of a page the newest counts, the later of equals; one without a date is the oldest in a build and
  the newest in an add. A record that names another canonical address of its own domain is a capture of that page (one
  that counts only if the page has none of its own) and makes its own address an alias.
- Partial records do not compete: their links come on top.
- Aliases are followed to their end. Of a circle, the first page with a capture is the end, else the first page.
- Links are distinct by target, the first is kept; links to removed pages, unusable addresses and the page itself go.
  Of the others those are kept beside, by block, that stand in a block in which the page has no such link before: no
  more than the page has links.
- After an add or remove, what the store held counts as one capture of each page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import combinations
from math import inf
from typing import NamedTuple

import xxhash

from cocite.errors import BadAddress
from cocite.pages.address import parse
from cocite.pages.key import APART, BARE, HTTP, key, spelling_flags
from cocite.pages.site import Sites
from cocite.sources.records import Link, Page

FLAGS = {"nofollow": 1, "ugc": 2, "sponsored": 4, "me": 8}
BOILERPLATE = 16
LARGEST_BLOCK = 2**24 - 2


class NaiveLink(NamedTuple):
    """A link with everything that is kept of it."""

    target: str
    block: int = -1
    flags: int = 0
    weight: float = 1.0
    anchor: str = ""
    context: str = ""


@dataclass
class Capture:
    """What one record says of one page."""

    page: str
    when: float
    own: bool  # not by way of another page's canonical address
    links: list[NaiveLink] = field(default_factory=list)
    leads: str = ""  # the page that an alias leads to
    partial: bool = False
    title: str = ""
    headings: list[str] = field(default_factory=list)
    text: str = ""
    captured: int = 0
    status: int = 0
    language: str = ""
    noindex: bool = False


@dataclass
class NaivePage:
    """What a store knows of one page."""

    address: str
    fetched: bool = False
    links: list[NaiveLink] = field(default_factory=list)
    again: list[NaiveLink] = field(default_factory=list)
    record: Capture | None = None  # gives title, date and the like


class Naive:
    """A store. `add` and `remove` give the next generation."""

    def __init__(self, records: Iterable[Page] = (), old: Naive | None = None, removed: Iterable[str] = ()) -> None:
        self.removed = set(removed) | (old.removed if old else set())
        self.aliases: dict[str, str] = {}
        self.pages: dict[str, NaivePage] = {}
        self._spellings: dict[str, tuple[object, ...]] = {}
        captures = self._stored(old) if old else []
        for record in records:
            captures += self._read(record, undated=inf if old else 0)
        self._settle(captures)
        left = {name for name, page in self.pages.items() if page.fetched} | {*self.aliases, *self.aliases.values()}
        left |= {link.target for page in self.pages.values() for link in page.links}
        names = sorted(left, key=lambda name: key(name).encode())
        self.pages = {name: self.pages.get(name) or NaivePage("") for name in names}
        for name, page in self.pages.items():
            page.address = str(self._spellings[name][-1])
        self.number = {name: i for i, name in enumerate(self.pages)}
        self.parents: dict[str, list[str]] = {name: [] for name in self.pages}
        for name, page in self.pages.items():
            for link in page.links:
                self.parents[link.target].append(name)

    def add(self, records: Iterable[Page]) -> Naive:
        """More records into this store."""
        return Naive(records, self)

    def remove(self, addresses: Iterable[str]) -> Naive:
        """Pages out of this store, and the aliases they were named by."""
        names = [parse(address).canonical for address in addresses]
        return Naive((), self, names + [self.aliases.get(name, name) for name in names])

    # ------------------------------------------------------------------------------------------------------- reading

    def _name(self, address: str, own: bool) -> str:
        """The canonical address, entered as a page; empty if it is none, or removed."""
        try:
            found = parse(address)
        except BadAddress:
            return ""
        if found.canonical in self.removed:
            return ""
        self._spell(found.canonical, found.shown, own)
        return found.canonical

    def _spell(self, name: str, shown: str, own: bool) -> None:
        """Of several spellings show a record's own, then one that flags can give, https, with a scheme."""
        flags = spelling_flags(name, shown)
        flags = APART if flags is None else flags
        order = (not own, flags == APART, bool(flags & HTTP) and flags != APART, bool(flags & BARE), flags, shown)
        self._spellings[name] = min(order, self._spellings.get(name, order))

    def _read(self, record: Page, undated: float) -> list[Capture]:
        own = self._name(record.url, own=True)
        links = [self._read_link(link, record.partial) for link in record.links]
        if not own:
            return []
        redirect = self._name(record.redirect, own=False) if record.redirect else ""
        canonical = self._name(record.canonical, own=False) if record.canonical else ""
        captured = seconds(record.captured)
        when = captured or undated
        if redirect and redirect != own:
            return [Capture(own, when, True, leads=redirect, captured=captured)]
        capture = Capture(
            own, when, True, [link for link in links if link], "", record.partial,
            one_line(record.title, 500), lines([one_line(text, 300) for text in record.headings]), record.text,
            captured, record.status if record.status and 0 <= record.status <= 999 else 0, language(record.lang),
            record.noindex,
        )  # fmt: skip
        if not canonical or canonical == own or registrable(canonical) != registrable(own):
            return [capture]
        capture.page, capture.own = canonical, False
        return [capture, Capture(own, when, True, leads=canonical, captured=captured)]

    def _read_link(self, link: Link, partial: bool) -> NaiveLink | None:
        target = self._name(link.url, own=False)
        block = -1 if link.block is None else min(max(link.block, -1), LARGEST_BLOCK)
        flags = sum(flag for word, flag in FLAGS.items() if word in link.rel.lower().split())
        weight = link.weight if 0 < link.weight <= 1 else 1.0
        texts = ("", "") if partial else (one_line(link.text, 500), one_line(link.context, 500))
        return NaiveLink(target, block, flags | BOILERPLATE * link.boilerplate, weight, *texts) if target else None

    def _stored(self, old: Naive) -> list[Capture]:
        """What an older generation knows, as captures."""
        captures = []
        for name, page in old.pages.items():
            if name in self.removed:
                continue
            self._spell(name, page.address, own=page.fetched or name in old.aliases)
            record = page.record
            if name in old.aliases:
                captured = record.captured if record else 0
                captures.append(Capture(name, captured, True, leads=old.aliases[name], captured=captured))
            elif page.fetched:
                assert record is not None
                captures.append(
                    replace(record, when=record.captured, page=name, links=page.links + page.again, partial=False)
                )
        return captures

    # ------------------------------------------------------------------------------------------- what counts in the end

    def _settle(self, captures: list[Capture]) -> None:
        of_page: dict[str, list[Capture]] = {}
        for capture in captures:
            of_page.setdefault(capture.page, []).append(capture)
        best = {name: newest(c for c in some if not c.partial) for name, some in of_page.items()}
        content = {name: newest(c for c in some if not c.partial and not c.leads) for name, some in of_page.items()}
        leads = {n: c.leads for n, c in best.items() if c and c.leads and c.leads in self._spellings}
        self._follow(leads, content)
        for name, some in of_page.items():
            if name in self.aliases:
                self.pages[name] = NaivePage("", record=best[name])
                continue
            winner = content[name] if name in leads else best[name]
            taken = [c for c in some if (c is winner or c.partial) and not c.leads]
            if not taken:
                continue
            record = winner if winner and not winner.leads else bare(taken[-1])
            self.pages[name] = NaivePage("", True, *self._links(name, taken), record)

    def _follow(self, leads: dict[str, str], content: dict[str, Capture | None]) -> None:
        for start in leads:
            path = [start]
            while path[-1] in leads and leads[path[-1]] not in path:
                path.append(leads[path[-1]])
            end = path[-1]
            if end in leads:  # a circle
                circle = sorted(path[path.index(leads[end]) :], key=lambda name: key(name).encode())
                end = next((name for name in circle if content.get(name)), circle[0])
            if end != start:
                self.aliases[start] = end

    def _links(self, name: str, taken: list[Capture]) -> tuple[list[NaiveLink], list[NaiveLink]]:
        kept: dict[str, NaiveLink] = {}
        again: dict[tuple[str, int], NaiveLink] = {}
        for capture in taken:
            for link in capture.links:
                target = self.aliases.get(link.target, link.target)
                if target in (name, *self.removed):
                    continue
                if target not in kept:
                    kept[target] = link._replace(target=target)
                elif link.block >= 0 and link.block != kept[target].block:
                    again.setdefault((target, link.block), NaiveLink(target, link.block, link.flags))
        first = list(again.values())[: len(kept)]
        return list(kept.values()), sorted(first, key=lambda link: link.block)

    # --------------------------------------------------------------------------------------------------------- derived

    def best_parents(self, name: str, keep: int) -> list[str]:
        """Parents of highest in-degree, the lower number first of equals."""
        return sorted(self.parents[name], key=lambda parent: (-len(self.parents[parent]), self.number[parent]))[:keep]

    def sampled_parents(self, name: str, keep: int) -> list[str]:
        """Parents of smallest hash."""
        return sorted(self.parents[name], key=lambda parent: parent_hash(name, parent))[:keep]

    def representatives(self) -> dict[str, str]:
        """The representative of each page with near-duplicates: all pairs, transitively."""
        targets = {name: {link.target for link in page.links} for name, page in self.pages.items()}
        return near_duplicates(targets, {name: len(parents) for name, parents in self.parents.items()})


def near_duplicates(targets: dict[str, set[str]], in_degree: dict[str, int]) -> dict[str, str]:
    """{page: its representative} of pages with near-duplicates; pages come in the order of their numbers."""
    group = {name: {name} for name in targets}
    for a, b in combinations([name for name in targets if len(targets[name]) > 10], 2):
        linked = a in targets[b] and b in targets[a]
        if not linked and 100 * len(targets[a] & targets[b]) >= 95 * max(len(targets[a]), len(targets[b])):
            for name in (united := group[a] | group[b]):
                group[name] = united
    order = {name: i for i, name in enumerate(targets)}
    return {
        name: min(members, key=lambda member: (-in_degree[member], order[member]))
        for name, members in group.items()
        if len(members) > 1
    }


def newest(captures: Iterable[Capture]) -> Capture | None:
    """The capture that counts: a page's own, the newest, the later of equals."""
    best = None
    for capture in captures:
        if best is None or (capture.own, capture.when) >= (best.own, best.when):
            best = capture
    return best


def bare(capture: Capture) -> Capture:
    """A partial record gives no texts."""
    return Capture(
        capture.page, capture.when, capture.own, captured=capture.captured, status=capture.status,
        language=capture.language, noindex=capture.noindex,
    )  # fmt: skip


def fingerprint(name: str) -> int:
    """XXH64 of a page's key."""
    return xxhash.xxh64_intdigest(key(name).encode(), seed=42)


def parent_hash(name: str, parent: str) -> int:
    """hash64(42, page, parent)."""
    inner = xxhash.xxh64_intdigest(fingerprint(name).to_bytes(8, "little"), seed=42)
    return xxhash.xxh64_intdigest(fingerprint(parent).to_bytes(8, "little"), seed=inner)


def registrable(name: str) -> str:
    """The registrable domain of a page."""
    sites = Sites()
    return sites.domain(sites.host(name))


def seconds(text: str) -> int:
    """An ISO date as seconds since 1970."""
    if not text:
        return 0
    moment = datetime.fromisoformat(text)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def language(text: str) -> str:
    """The code of a language, as in `en-GB`."""
    found = re.match(r"([A-Za-z]{2,3})(?:$|[-_])", text)
    return found[1].lower() if found else ""


def one_line(text: str, longest: int) -> str:
    """Without control characters, cut."""
    return re.sub(r" *[\x00-\x1f][\x00-\x20]*", " ", text)[:longest]


def lines(texts: list[str]) -> list[str]:
    """A list of empty texts only is none."""
    return texts if any(texts) else []
