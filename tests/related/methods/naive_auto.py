"""Auto, read word by word: what links say; and the cosine of words, worked out from texts."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Unpack

from tests.related.methods.naive_start import Start
from tests.related.methods.naive_web import NaiveWeb, Ranking, Switches, View, rank

MAX_CHILD_PARENTS = 2000
MIN_SAMPLE = 20
DIRECT = 0.25


class Limits(NamedTuple):
    """How much is read around a page."""

    parents: int
    window: int
    children: int
    copies: str = "lists"  # of which copies one counts
    votes: Mapping[int, int] | None = None  # the in-links that count of pages, where these are not all in-links


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


def counted_parents(view: View, page: int, chosen: Collection[int], window: int, copies: str) -> dict[int, float]:
    """The part of each parent's section beyond chance; 1 if there are fewer than 20. Without copies."""
    web, of = view.web, view.originals(page, chosen, window, copies == "sections")
    once = copies != "none" and view.merge is True
    kept = [parent for parent in chosen if of[parent] == parent or not once]
    of_all = max(1.0, web.in_degree(page) / max(1, len(chosen)))
    lists = sum(bool(links) for links in web.links.values())
    others = max(1.0, lists - len(chosen) * of_all + 1)
    read = {parent: set(view.window(parent, page, window)) for parent in chosen}

    def by_chance(target: int) -> float:
        with_page = sum(target in read[parent] for parent in chosen)
        elsewhere = max(0.0, web.in_degree(target) - with_page * of_all)
        return (len(kept) - 1) * min(1.0, elsewhere / others)

    found = dict.fromkeys(kept, 1.0)
    for parent in kept if len(kept) >= MIN_SAMPLE else ():
        links = view.links(parent)
        block = next(link.block for link in links if link.target == page)
        section = [link.target for link in links if link.target in read[parent] and link.block == block >= 0]
        explained, variance = 0.0, 0.0
        for target in section:
            e, o = by_chance(target), sum(target in read[one] for one in kept if one != parent)
            explained += e / (o + 1)
            variance += e**3 / (e + 1) ** 4
        if section:
            found[parent] = max(0.0, 1 - (explained + 2 * math.sqrt(variance)) / len(section))
    return found


def by_links(
    view: View, page: int, never: Collection[int], limits: Limits, most: int, elsewhere: float, near: float,
    popularity: float,
) -> tuple[dict[int, float], bool]:  # fmt: skip
    """The part of each candidate's score that links give, and whether any section has a candidate with the page.

    `never` has the query pages: they are no candidates. Where no section lists the page, half of the part is how much
    a candidate is like the best ones, `most` of them.
    """
    found, listed = first_step(view, page, never, limits, elsewhere, near, popularity)
    chosen = view.random_parents(page, limits.parents)
    if not most or any(link.block >= 0 for parent in chosen for link in view.links(parent) if link.target == page):
        return found, listed
    rounded = {each: round(value / max(found.values()), 6) for each, value in found.items()}
    next_one = sorted(rounded.values(), reverse=True)[most] if len(rounded) > most else 0.0
    best = {each: found[each] for each, value in rounded.items() if value > next_one}
    fewer = limits._replace(parents=100, window=100, children=100)
    like_best = {one: first_step(view, one, {*never, one}, fewer, elsewhere, near, popularity)[0] for one in best}
    mean: dict[int, float] = {}
    for each in {*found, *(other for alike in like_best.values() for other in alike)}:
        others = [one for one in best if one != each]
        like_others = sum(best[one] * like_best[one].get(each, 0.0) for one in others)
        likeness = like_others / sum(best[one] for one in others) if others else found[each]
        mean[each] = (found.get(each, 0.0) + likeness) / 2
    return mean, listed


def first_step(
    view: View, page: int, never: Collection[int], limits: Limits, elsewhere: float, near: float, popularity: float,
) -> tuple[dict[int, float], bool]:  # fmt: skip
    """How much pages are like a page, by what they share and by links between them; and whether any section counts."""
    web, chosen = view.web, view.random_parents(page, limits.parents)
    shown = view.children(page)[: limits.children]
    one_site = {view.unit(parent) for parent in chosen} == {view.unit(page)}
    weights = counted_parents(view, page, chosen, limits.window, limits.copies)
    sums: dict[bool, dict[int, float]] = {True: defaultdict(float), False: defaultdict(float)}
    for group in view.groups([parent for parent in weights if weights[parent]], units=not one_site):
        values: dict[tuple[bool, int], list[float]] = defaultdict(list)
        for parent in group:
            for in_section, target, value in together(view, parent, page, limits.window, elsewhere, near):
                values[in_section, view.node(target)].append(weights[parent] * value)
        for (in_section, candidate), each in values.items():
            if candidate not in never:
                sums[in_section][candidate] += math.sqrt(sum(each) * max(each))
    in_sections, shared = sums[True], sums[False]

    read, lists = len(chosen), sum(bool(links) for links in web.links.values())
    of_all = max(1.0, web.in_degree(page) / max(1, read))
    others = lists - read * of_all
    times = Counter(other for parent in chosen for other in view.window(parent, page, limits.window))
    for candidate, value in shared.items() if others >= MIN_SAMPLE else ():
        number = max(number for other, number in times.items() if view.node(other) == candidate)
        by_chance = min(1.0, max(0.0, web.in_degree(candidate) - number * of_all) / others)
        shared[candidate] = value * max(0.0, 1 - read * by_chance / number)

    all_links, all_together = sum(len(links) for links in web.links.values()), sum(in_sections.values())
    listed = {}
    for candidate, value in in_sections.items():
        votes = (limits.votes or {}).get(candidate, web.in_degree(candidate))
        listed[candidate] = max(0.0, value - votes / all_links * all_together)
        listed[candidate] *= max(1, votes) ** (0.0 if one_site else popularity)

    for child in shown:
        spouses = view.parents(child) if web.in_degree(child) <= MAX_CHILD_PARENTS else []
        for candidate in {view.node(spouse) for spouse in spouses if spouse != page}:
            shared[candidate] += rarity(web.in_degree(child))
    direct: dict[int, float] = defaultdict(float)  # of near-duplicates the strongest
    for other in {*chosen, *shown}:
        value = (other in chosen) * (rarity(web.out_degree(other)) + rarity(web.in_degree(page)))
        value += (other in shown) * (rarity(web.out_degree(page)) + rarity(web.in_degree(other)))
        direct[view.node(other)] = max(direct[view.node(other)], DIRECT * value)
    for candidate, value in direct.items():
        shared[candidate] += value

    size = sum(weight * rarity(web.out_degree(parent)) for parent, weight in weights.items())
    size += sum(rarity(web.in_degree(child)) for child in shown)
    size += rarity(web.out_degree(page)) + rarity(web.in_degree(page))  # its own parent and its own child
    n = sum(weight > 0 for weight in weights.values()) + len(shown) + 2
    found: dict[int, float] = defaultdict(float)
    for candidate, value in shared.items():
        if candidate not in never and value > 0:
            links = web.in_degree(candidate) + web.out_degree(candidate) + 2
            found[candidate] += value / size * math.sqrt(n / links)
    for candidate, value in listed.items():
        if value > 0:
            found[candidate] += value / math.sqrt(max(listed.values()))
    return found, any(in_sections.values())


def place(web: NaiveWeb, page: int, other: int) -> float:
    """What the host of another page says, and whether it is the first there."""
    first = "/" not in web.addresses[other].partition("://")[2].rstrip("/")
    return 0.25 * (web.unit("host", page) == web.unit("host", other)) + 0.25 * first


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
    best: int = 5,
    popularity: float = 0.18,
    copies: str = "lists",
    unit: str = "site",
    words: Mapping[int, Mapping[int, float]] | None = None,
    texts: bool = False,
    votes: Mapping[int, int] | None = None,
    **switches: Unpack[Switches],
) -> Ranking:
    """Pages by what links say, and words: `words` has, for query pages, the weighted cosines of others.

    `votes` has the in-links that count of pages, where these are not all in-links.
    `texts`: the store has any, and with them which page is the first of its host.
    """

    @cache
    def around(view: View, page: int, never: frozenset[int]) -> dict[int, float]:
        links, listed = by_links(
            view, page, never, Limits(parents, window, children, copies, votes), best, elsewhere, near, popularity
        )
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
    headings: Sequence[Mapping[str, float]], hashes: Callable[[int], int], counts: Callable[[int, int], float],
    stop: Collection[str] = (),
) -> dict[int, dict[str, float]]:  # fmt: skip
    """The words of the sections that list each page or its same-name pages; headings by the rarity of their words.

    `counts` says how much the list of a block counts for a page that it has. Stop words are skipped, except in a
    heading that has no other. Of sections with the same two links of smallest hash, the one that counts most for a page
    counts, or the first.
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
        copies: dict[frozenset[int], list[tuple[float, int]]] = defaultdict(list)
        for other, share in {page: 1.0, **{other: 0.5 * alike for other, alike in named.get(page, {}).items()}}.items():
            for number, block in enumerate(blocks):
                if other in block and len(block) > 1 and counts(other, number):
                    sketch = frozenset(sorted(block, key=hashes)[:2])
                    weight = share * rarity(len(block)) * counts(other, number)
                    copies[sketch].append((-round(weight, 6), number))
        for weight, number in map(min, copies.values()):
            for word, value in of_block[number].items():
                total[word] -= weight * value
        found[page] = of_length_1(total, 24)
    return found
