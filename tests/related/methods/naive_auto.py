"""Auto, read word by word: what links say; and the cosine of words, worked out from texts."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import Any, Unpack

from tests.related.methods.naive_start import Start
from tests.related.methods.naive_web import NaiveWeb, Ranking, Switches, View, components, rank

MAX_CHILD_PARENTS = 1000
DIRECT = 0.15


def rarity(links: int) -> float:
    """The weight of one of this many links."""
    return 1 / math.log(2 + links)


def together(
    view: View, parent: int, page: int, window: int, elsewhere: float, near: float
) -> list[tuple[bool, int, float]]:
    """The other links of a parent: whether it has sections, the target, and the value of being linked together.

    Repeated links count in their sections, too: in at most three that repeat the page.
    """
    shown = {page, *view.window(parent, page, window)}
    again = [link for link in view.again(parent, window) if link.target in shown]
    links = [link for link in view.links(parent) if link.target in shown]
    at = next(place for place, link in enumerate(links) if link.target == page)
    on_page, block, found = rarity(view.web.out_degree(parent)), links[at].block, []
    sizes = Counter(link.block for link in links + again)
    for place, link in enumerate(links):
        value = on_page if block < 0 else elsewhere * on_page
        if 0 <= block == link.block:
            value += rarity(sizes[block]) + near / math.sqrt(max(1, abs(place - at)))
        found.append((block >= 0, link.target, value))
    own = [link.block for link in again if link.target == page][:3]
    for each in [block, *own] if block >= 0 else own:
        members = [link.target for link in (again if each == block else links + again) if link.block == each]
        found += [(True, target, rarity(sizes[each])) for target in members]
    return [(blocks, target, value) for blocks, target, value in found if target != page]


def credits(view: View, page: int, chosen: Sequence[int]) -> dict[int, float]:
    """The parents that count, one of near-duplicates and copies; and how much each, by what its section lists."""
    web = view.web
    groups = view.groups(chosen, units=False, around={page: chosen})
    kept = [min(group, key=lambda parent: (-web.in_degree(parent), parent)) for group in groups]
    if len(kept) < 20:
        return dict.fromkeys(kept, 1.0)
    times = Counter(target for parent in kept for target in view.children(parent) if target != page)
    lists, unexplained = len([page for page, links in web.links.items() if links]), {}
    for target, o in times.items():
        e = len(kept) * web.in_degree(target) / lists
        unexplained[target] = max(0.0, 1 - (e + 2 * math.sqrt(e)) / o)
    found = {}
    for parent in kept:
        links = view.links(parent)
        block = next(link.block for link in links if link.target == page)
        mates = [unexplained[link.target] for link in links if link.block == block and link.target != page]
        found[parent] = sum(mates) / len(mates) if mates and block >= 0 else 1.0
    most = max(found.values())
    return {parent: value / most if most else 1.0 for parent, value in found.items()}


def by_links(
    view: View, page: int, never: Collection[int], parents: int, window: int, children: int, elsewhere: float,
    near: float, popularity: float, walk: float, best: float,
) -> tuple[dict[int, float], bool]:  # fmt: skip
    """The part of each candidate's score that links give, and whether any section has a candidate with the page.

    `never` has the query pages: they are no candidates.
    """
    web, chosen, shown = view.web, view.random_parents(page, parents), view.children(page)[:children]
    one_site = {view.unit(parent) for parent in chosen} == {view.unit(page)}

    def weight(other: int) -> float:
        return 0.25 if view.unit(other) == view.unit(page) and not one_site else 1.0

    counting = credits(view, page, chosen)
    sums: dict[bool, dict[int, float]] = {True: defaultdict(float), False: defaultdict(float)}
    for group in components(
        counting, [(a, b) for a, b in combinations(counting, 2) if not one_site and view.unit(a) == view.unit(b)]
    ):
        values: dict[tuple[bool, int], list[float]] = defaultdict(list)
        for parent in group:
            for in_section, target, value in together(view, parent, page, window, elsewhere, near):
                values[in_section, view.node(target)].append(weight(parent) * counting[parent] * value)
        for (in_section, candidate), each in values.items():
            if candidate not in never:
                sums[in_section][candidate] += math.sqrt(sum(each) * max(each))
    in_sections, shared = sums[True], sums[False]

    all_links, all_together = sum(len(links) for links in web.links.values()), sum(in_sections.values())
    listed = {
        candidate: max(0.0, value - web.in_degree(candidate) / all_links * all_together)
        * max(1, web.in_degree(candidate)) ** (0.0 if one_site else popularity)
        for candidate, value in in_sections.items()
    }

    for child in shown:
        spouses = view.parents(child) if web.in_degree(child) <= MAX_CHILD_PARENTS else []
        for candidate in {view.node(spouse) for spouse in spouses if spouse != page}:
            shared[candidate] += weight(child) * rarity(web.in_degree(child))
    direct: dict[int, float] = defaultdict(float)  # of near-duplicates the strongest
    for other in {*chosen, *shown}:
        value = (other in chosen) * (rarity(web.out_degree(other)) + rarity(web.in_degree(page)))
        value += (other in shown) * (rarity(web.out_degree(page)) + rarity(web.in_degree(other)))
        value *= weight(other) * DIRECT * (2 if other in chosen and other in shown else 1)
        direct[view.node(other)] = max(direct[view.node(other)], value)
    for candidate, value in direct.items():
        shared[candidate] += value

    size = sum(weight(parent) * counting[parent] * rarity(web.out_degree(parent)) for parent in counting)
    size += sum(weight(child) * rarity(web.in_degree(child)) for child in shown)
    size += rarity(web.out_degree(page)) + rarity(web.in_degree(page))  # its own parent and its own child
    n = sum(counting[parent] > 0 for parent in counting) + len(shown) + 2
    alike = {
        candidate: value / size * math.sqrt(n) / root(web, candidate)
        for candidate, value in shared.items()
        if candidate not in never
    }
    in_no_section = (walk or best) and all(
        link.block < 0 for parent in chosen for link in view.links(parent) if link.target == page
    )
    if in_no_section and not view.refused and not view.stop:
        alike = further(view, page, never, alike, walk, best)
    found: dict[int, float] = defaultdict(float, alike)
    for candidate, value in listed.items():
        if value > 0:
            found[candidate] += value / math.sqrt(max(listed.values()))
    return found, any(in_sections.values())


def root(web: NaiveWeb, page: int) -> float:
    """Of the number of links in and out, and of those of a page to itself."""
    return math.sqrt(web.in_degree(page) + web.out_degree(page) + 2)


def further(
    view: View, page: int, never: Collection[int], alike: dict[int, float], walking: float, best: float
) -> dict[int, float]:
    """The scores by links, with what a walk and the five best pages say; their maximum stays what it was."""
    web, most = view.web, max(alike.values(), default=0.0)
    if not most:
        return alike
    visits: dict[int, float] = defaultdict(float)  # of near-duplicates the most
    for other, visited in short_walk(web, page).items():
        if view.node(other) not in never:
            visits[view.node(other)] = max(visits[view.node(other)], visited / root(web, view.node(other)))
    scores = {
        **alike,
        **{each: alike.get(each, 0.0) + value for each, value in highest(visits, walking * most).items()},
    }
    rounded = {each: round(value / most, 6) for each, value in scores.items()}
    sixth = sorted(rounded.values(), reverse=True)[5] if len(rounded) > 5 else 0.0
    through: dict[int, float] = defaultdict(float)
    for one in (each for each, value in rounded.items() if value > sixth):
        linkers = [
            (web.out_degree(parent), [link.target for link in view.links(parent)])
            for parent in view.random_parents(one, 200)
        ]
        linkers += [(web.in_degree(child), view.parents(child)) for child in view.children(one)[:200]]
        for degree, pages in linkers:
            for other in {view.node(each) for each in pages} - {one} if degree <= 500 else ():
                if scores.get(other, 0.0) > 0:
                    through[other] += scores[one] / root(web, one) * rarity(degree)
    shared = highest({other: value / root(web, other) for other, value in through.items()}, best * most)
    return highest({each: value + shared.get(each, 0.0) for each, value in scores.items()}, most)


def highest(values: Mapping[int, float], most: float) -> dict[int, float]:
    """The values in proportion, the largest this much."""
    return {each: value * most / max(1e-12, *values.values()) for each, value in values.items()}


def short_walk(web: NaiveWeb, page: int, restart: float = 0.5, least: float = 1e-4) -> dict[int, float]:
    """A walk with restarts along links both ways: in rounds, pages push what they had when the round began."""
    ranks: dict[int, float] = defaultdict(float)
    rests: dict[int, float] = {page: 1.0}
    while pushed := {
        each: rest for each, rest in rests.items() if rest >= least * max(1, web.in_degree(each) + web.out_degree(each))
    }:
        rests = defaultdict(float, {each: rest for each, rest in rests.items() if each not in pushed})
        for each, rest in pushed.items():
            ends = [*(link.target for link in web.links.get(each, [])), *web.parents.get(each, [])]
            ranks[each] += restart * rest if ends else rest
            for end in ends:
                rests[end] += (1 - restart) * rest / len(ends)
    for each, rest in rests.items():
        ranks[each] += restart * rest
    return ranks


def place(web: NaiveWeb, page: int, other: int) -> float:
    """What the host of another page says, and whether it is the first there."""
    first = "/" not in web.addresses[other].partition("://")[2].rstrip("/")
    return 0.25 * (web.unit("host", page) == web.unit("host", other)) + 0.2 * first


def beside(view: View, page: int, used: set[int]) -> dict[int, float]:
    """The addresses beside that of a page on its host, by the parts of its path that they share, from the first on."""
    web, own, found = view.web, view.web.addresses[page].split("/"), {}
    for other in range(page - 10, page + 11):
        if other in web.addresses and other not in used | view.stop and web.aliases.get(other, other) == other:
            path = web.addresses[other].split("/")
            shared = next((k for k in range(len(own)) if path[k : k + 1] != own[k : k + 1]), len(own))
            if web.unit("host", page) == web.unit("host", other):
                found[view.node(other)] = 0.25 * shared / len(own)
    return found


def auto(
    web: NaiveWeb,
    seeds: list[int],
    *,
    parents: int = 2000,
    window: int = 2000,
    children: int = 100,
    elsewhere: float = 0.1,
    near: float = 0.12,
    popularity: float = 0.18,
    walk: float = 0.2,
    best: float = 0.5,
    unit: str = "site",
    words: Mapping[int, Mapping[int, float]] | None = None,
    texts: bool = False,
    **switches: Unpack[Switches],
) -> Ranking:
    """Pages by what links say, and words: `words` has, for query pages, the weighted cosines of others.

    `texts`: the store has any, and with them which page is the first of its host.
    """

    @cache
    def around(view: View, page: int, never: frozenset[int]) -> dict[int, float]:
        links, listed = by_links(view, page, never, parents, window, children, elsewhere, near, popularity, walk, best)
        scores = {other: value for other, value in links.items() if value > 0}
        for other, value in (words or {}).get(page, {}).items():
            if view.node(other) not in never and value > 0:
                scores[other] = scores.get(other, 0.0) + value
        if texts and listed:
            scores = {other: value + place(web, page, other) for other, value in scores.items()}
        return scores

    def own(view: View, pages: Sequence[int]) -> frozenset[int]:
        return frozenset(view.node(page) for page in pages)

    start = Start(web, seeds, unit, switches, lambda view, page: bool(around(view, page, own(view, [page]))))
    parts = [around(start.view, page, own(start.view, start.used)) for page in start.used]
    if not any(parts):
        parts = [beside(start.view, page, set(start.used)) for page in start.used]
    pages = {page for each in parts for page in each}
    return rank(
        web,
        {page: (sum(each.get(page, 0.0) for each in parts),) for page in pages},
        {page: sum(each.get(page, 0.0) > 0 for each in parts) for page in pages},
        start.never,
        start.used,
    )


def vectors(
    texts: Mapping[int, Sequence[str]], keep: int, anchors: Mapping[int, Sequence[str]] | None = None
) -> dict[int, dict[str, float]]:
    """The words of pages as vectors: ln(1 + tf) · √ln((1 + N) / (1 + df)), words of one page left out, of length 1.

    Words of links (`anchors`) count 0.3 each, and a page that has no others is of length ½.
    """
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for page, words in texts.items():
        for word in words:
            counts[page][word] += 1.0  # type: ignore[assignment]
    for page, words in (anchors or {}).items():
        for word in words:
            counts[page][word] += 0.3  # type: ignore[assignment]
    rare = rarities(counts)
    found = {}
    for page, count in counts.items():
        weights = {word: math.log(1 + times) * rare[word] for word, times in count.items()}
        heavy = ((word, weight) for word, weight in weights.items() if weight > 0)
        kept = dict(sorted(heavy, key=lambda item: (-item[1], item[0]))[:keep])
        length = math.sqrt(sum(weight**2 for weight in kept.values())) * (1 if texts.get(page) else 2)
        found[page] = {word: weight / length for word, weight in kept.items()} if length else {}
    return found


def rarities(words: Mapping[int, Sequence[str] | Counter[str]]) -> dict[str, float]:
    """Of each word on any of the pages; 0 of one that a single page has."""
    frequency = Counter(word for each in words.values() for word in set(each))
    total = 1 + sum(bool(each) for each in words.values())
    return {word: math.sqrt(math.log(total / (1 + of))) if of > 1 else 0.0 for word, of in frequency.items()}


def cosine(one: Mapping[Any, float], other: Mapping[Any, float]) -> float:
    """Of two vectors."""
    return sum(weight * other.get(word, 0.0) for word, weight in one.items())


def of_length_1(vector: Mapping[Any, float], keep: int = 1 << 30) -> dict[Any, float]:
    """Its heaviest words, of length 1."""
    kept = dict(sorted(((a, b) for a, b in vector.items() if b), key=lambda item: (-item[1], item[0]))[:keep])
    length = math.sqrt(sum(weight**2 for weight in kept.values()))
    return {word: weight / length for word, weight in kept.items()} if length else {}


def same_name_pages(called: Mapping[int, Mapping[str, int]]) -> dict[int, dict[int, float]]:
    """Of each page its three best same-name pages: cosines of names that at most sixteen pages have."""
    pages = Counter(name for names in called.values() for name in names)
    rows = {page: of_length_1({n: k for n, k in names.items() if pages[n] <= 16}) for page, names in called.items()}
    found = {}
    for page, row in rows.items():
        alike = {other: cosine(row, rows[other]) for other in rows if other != page}
        best = sorted(((-value, other) for other, value in alike.items() if value >= 0.2))[:3]
        found[page] = {other: -value for value, other in best}
    return found


def context_words(
    blocks: Sequence[Sequence[int]], words: Mapping[int, Mapping[str, float]], named: Mapping[int, Mapping[int, float]],
    headings: Sequence[Mapping[str, float]], stop: Collection[str] = (),
) -> dict[int, dict[str, float]]:  # fmt: skip
    """The words of the sections that list each page or its same-name pages; headings by the rarity of their words.

    Stop words are skipped, except in a heading that has no other.
    """
    content = {
        page: {word: weight for word, weight in each.items() if word not in stop} for page, each in words.items()
    }
    headings = [{word: each[word] for word in each if each[word] and word not in stop} or each for each in headings]
    of_block: list[dict[str, float]] = []
    for block, heading in zip(blocks, headings, strict=True):
        total: dict[str, float] = defaultdict(float)
        for page in block:
            for word, weight in of_length_1(content.get(page, {}), 32).items():
                total[word] += weight
        total = defaultdict(float, of_length_1(total))
        for word, weight in of_length_1(heading).items():
            total[word] += 0.8 * weight
        of_block.append(of_length_1(total, 24) if len(block) > 1 else {})
    found = {}
    for page in {page for block in blocks for page in block} | set(named):
        total = defaultdict(float)
        for other, share in {page: 1.0, **{other: 0.5 * alike for other, alike in named.get(page, {}).items()}}.items():
            for block, said in zip(blocks, of_block, strict=True):
                for word, weight in said.items() if other in block else ():
                    total[word] += share * weight * rarity(len(block))
        found[page] = of_length_1(total, 24)
    return found
