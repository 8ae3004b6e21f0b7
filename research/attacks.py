"""What planted spam does to each method: precision before and after an attack, and how often the spam is a result.

    python -m research.attacks [-m METHOD]... [--only ATTACK]... [--queries 400] [--again]

Every attack adds pages or links to the awesome lists, to make one page, the target, a result for pages that are not
about it. Queries are chosen by hash: `--queries` of all judged ones, and as many of those that an attack touches, which
are judged pages that it links to. A method is asked on the store without and with the attack.
"""

from __future__ import annotations

import argparse
import random
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from bench.tables import show
from cocite.errors import BadSource, BadStore
from cocite.evaluate import measures
from cocite.evaluate.evaluation import Evaluation, ask_methods, in_store
from cocite.evaluate.judgements import Judgements
from cocite.related.methods import method
from cocite.sources.page_records import read_jsonl
from cocite.sources.records import Link, Page, ReadReport
from cocite.web import Web
from research import datasets
from research.quality import DATA, STORES
from research.reproduce.data import SEED, canonical_or_none

TARGET = "https://casino.example/"
SPAM = Link(TARGET, text="Best online casino", context="play and win")
FARM_SITES, FARM_PAGES, FARM_LINKS = 1000, 10, 10
POPULAR_PAGES = 300
COPIED_LISTS = 200
FOOTER_PAGES, FOOTER_LINKS = 1000, 50
METHODS = ("auto", "cocitation", "proximity", "companion", "kleinberg", "extended_cocitation", "lli", "walk")
Pages = list[Page]


class Planted(NamedTuple):
    """The pages of a web with spam, and the addresses that the spam is put next to."""

    pages: Pages
    touched: Collection[str]


def popular(pages: Pages, most: int = POPULAR_PAGES) -> list[str]:
    """The addresses with the most in-links."""
    times = Counter(url for page in pages for url in {link.url for link in page.links})
    return sorted(times, key=lambda url: (-times[url], url))[:most]


def with_target(links: Sequence[Link], rng: random.Random) -> list[Link]:
    """The links in any order, as one section, with the target among them."""
    mixed = [replace(link, block=0) for link in (*links, SPAM)]
    rng.shuffle(mixed)
    return mixed


def farm_page(site: int, page: int, links: list[Link]) -> Page:
    """A page of a link farm: a list, then links to its own site and the next one, in another section."""
    own = [f"https://farm{site}.example/{n}" for n in range(FARM_PAGES)]
    others = [*own, f"https://farm{(site + 1) % FARM_SITES}.example/{page}"]
    more = [Link(url, block=1) for url in others if url != own[page]]
    return Page(own[page], "Great links", links=[*links, *more], headings=["Great links", "More"])


def farm(pages: Pages, rng: random.Random) -> Planted:
    """A farm whose every page lists the target with ten popular pages, chosen at random."""
    pool = popular(pages)
    made = [
        farm_page(site, page, with_target([Link(url) for url in rng.sample(pool, FARM_LINKS)], rng))
        for site in range(FARM_SITES)
        for page in range(FARM_PAGES)
    ]
    return Planted([*pages, *made], pool)


def site_farm(pages: Pages, rng: random.Random) -> Planted:
    """A farm whose sites have one list each, on all ten pages."""
    pool, made = popular(pages), []
    for site in range(FARM_SITES):
        links = with_target([Link(url) for url in rng.sample(pool, FARM_LINKS)], rng)
        made += [farm_page(site, page, links) for page in range(FARM_PAGES)]
    return Planted([*pages, *made], pool)


def template_farm(pages: Pages, rng: random.Random) -> Planted:
    """A farm whose pages all have the same thirty popular pages and the target, beside links of their own."""
    pool = popular(pages, 30)
    links = with_target([Link(url) for url in pool], rng)
    made = [farm_page(site, page, links) for site in range(FARM_SITES) for page in range(FARM_PAGES)]
    return Planted([*pages, *made], pool)


def copied(pages: Pages, rng: random.Random) -> Planted:
    """Two hundred lists, each copied to a host of its own with one link swapped for the target."""
    made = []
    for number, page in enumerate(rng.sample(pages, COPIED_LISTS)):
        links = list(page.links)
        at = rng.randrange(len(links))
        links[at] = replace(SPAM, block=links[at].block)
        made.append(replace(page, url=f"https://copy{number}.example/", links=links))
    return Planted([*pages, *made], {link.url for page in made for link in page.links})


def copied_sections(pages: Pages, rng: random.Random) -> Planted:
    """Two hundred sections, each copied to five hosts with one link swapped for the target; all else is their own."""
    made = []
    sections = [
        (page, block) for page in pages for block, n in Counter(link.block for link in page.links).items() if n >= 5
    ]
    for number, (page, block) in enumerate(rng.sample(sections, COPIED_LISTS)):
        links = [replace(link, block=0) for link in page.links if link.block == block]
        for copy in range(5):
            swapped = list(links)
            swapped[rng.randrange(len(links))] = replace(SPAM, block=0)
            own = [Link(f"https://copy{number}-{copy}.example/{n}", block=1) for n in range(10)]
            url = f"https://copy{number}-{copy}.example/"
            made.append(Page(url, page.title, links=[*swapped, *own], headings=["Links", "Us"]))
    return Planted([*pages, *made], {link.url for page in made for link in page.links})


def mirrored(pages: Pages, rng: random.Random) -> Planted:
    """Two hundred lists, each mirrored on five other hosts as they are."""
    chosen = rng.sample(pages, COPIED_LISTS)
    made = [
        replace(page, url=f"https://mirror{copy}.example/{number}")
        for number, page in enumerate(chosen)
        for copy in range(5)
    ]
    return Planted([*pages, *made], {link.url for page in chosen for link in page.links})


def commented(pages: Pages, rng: random.Random, mark: Callable[[Link], Link] = lambda link: link) -> Planted:
    """Half of all lists, with the target in a last section."""
    found, touched = [], set[str]()
    for page in pages:
        if rng.random() < 0.5:
            last = len(page.headings)
            spam = mark(replace(SPAM, block=last))
            touched |= {link.url for link in page.links}
            page = replace(page, links=[*page.links, spam], headings=[*page.headings, "Comments"])
        found.append(page)
    return Planted(found, touched)


def appended(pages: Pages, rng: random.Random) -> Planted:
    """Half of all lists, with the target as the last link of the last section."""
    return commented(pages, rng, lambda link: replace(link, block=max(0, (link.block or 0) - 1)))


def marked(pages: Pages, rng: random.Random) -> Planted:
    """The same in a last section, marked as nofollow and boilerplate."""
    return commented(pages, rng, lambda link: replace(link, rel="nofollow ugc", boilerplate=True))


def footers(pages: Pages, rng: random.Random) -> Planted:
    """A site of a thousand pages with links of their own and one footer: the target and fifty popular pages."""
    pool = popular(pages)
    chosen = rng.sample(pool, FOOTER_LINKS)
    footer = with_target([Link(url) for url in chosen], rng)
    made = []
    for number in range(FOOTER_PAGES):
        own = [Link(f"https://shop.example/{rng.randrange(FOOTER_PAGES)}", block=1) for _ in range(10)]
        links = [*own, *footer]
        made.append(Page(f"https://shop.example/{number}", "Shop", links=links, headings=["Partners", "Goods"]))
    return Planted([*pages, *made], chosen)


ATTACKS: Mapping[str, Callable[[Pages, random.Random], Planted]] = {
    "farm": farm,
    "site farm": site_farm,
    "template farm": template_farm,
    "copies": copied,
    "copied sections": copied_sections,
    "mirrors": mirrored,
    "comments": commented,
    "appended": appended,
    "marked comments": marked,
    "footers": footers,
}


class Asked(NamedTuple):
    """What a method does on one store, over some queries."""

    precision: float
    fooled: float  # the share of queries with the target among the first ten results


def measured(web: Web, call: str, judged: Judgements, queries: Mapping[str, int]) -> dict[str, tuple[float, bool]]:
    """P@10 of each query, and whether the target is a result."""
    (run,) = ask_methods(web, [method(call)], queries)
    found = Evaluation(judged, [run])
    names = [query for query in queries if query in run.answers]
    spam = canonical_or_none(TARGET)
    values = found.values(run, measures.precision, names)
    return {name: (value, spam in run.answers[name]) for name, value in zip(names, values, strict=True)}


def summed(values: Mapping[str, tuple[float, bool]], queries: Collection[str]) -> Asked:
    """The means over some queries."""
    some = [values[query] for query in queries if query in values]
    return Asked(*(sum(column) / max(1, len(some)) for column in zip(*some, strict=True))) if some else Asked(0, 0)


def store(pages: Pages, path: Path, again: bool) -> Web:
    """A store of pages: as it was made before, or made again."""
    with suppress(BadStore):
        if not again:
            return Web(path)
    shutil.rmtree(path, ignore_errors=True)
    made = datasets.Dataset(path.stem, datasets.Held(path.stem, pages), Judgements())
    return Web(datasets.make(made, path, search=False))


def rows(options: argparse.Namespace, pages: Pages) -> Iterator[list[str]]:
    """A row for every attack and method."""
    judgements = datasets.read("awesome", options.data).judgements
    clean = store(pages, options.stores / "attacked" / "clean.cocite", options.again)
    _, known = in_store(clean.graph, judgements, ReadReport())
    everybody = list(datasets.some_queries(judgements, options.queries).ratings)
    before: dict[str, dict[str, tuple[float, bool]]] = {}
    for name in options.only or ATTACKS:
        planted = ATTACKS[name](pages, random.Random(SEED))
        web = store(planted.pages, options.stores / "attacked" / f"{name}.cocite", options.again)
        near = {canonical_or_none(url) for url in planted.touched}
        touched = Judgements({q: r for q, r in judgements.ratings.items() if q in near}, judgements.repeated)
        some = list(datasets.some_queries(touched, options.queries).ratings)
        judged, numbers = in_store(web.graph, judgements, ReadReport())
        for call in options.methods:
            wanted = {query: known[query] for query in {*everybody, *some} - {*before.get(call, {})} if query in known}
            before.setdefault(call, {}).update(measured(clean, call, judgements, wanted) if wanted else {})
            asked = {query: numbers[query] for query in {*everybody, *some} if query in numbers}
            after = measured(web, call, judged, asked)
            row = [name, call]
            for queries in (everybody, some):
                one, other = summed(before[call], queries), summed(after, queries)
                change = other.precision / max(one.precision, 1e-9) - 1
                row += [f"{one.precision:.4f} → {other.precision:.4f}", f"{change:+.1%}", f"{other.fooled:.1%}"]
            print(*row, f"{len(some)} touched", sep="\t", flush=True)
            yield [*row, str(len(some))]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--method", dest="methods", action="append")
    parser.add_argument("--only", action="append", choices=list(ATTACKS))
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--again", action="store_true", help="make stores again that were made before")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--stores", type=Path, default=STORES)
    options = parser.parse_args(arguments)
    options.methods = options.methods or list(METHODS)
    path = options.data / "awesome" / "pages.jsonl.gz"
    if not path.exists():
        raise BadSource(f"there is no {path}: give the folder that has all collections")
    found = list(rows(options, list(read_jsonl(path, ReadReport()))))
    head = ("attack", "method", "P@10, all", "change", "spam", "P@10, touched", "change", "spam", "touched")
    show("P@10 without and with an attack; spam: queries with the target among ten results", head, found)


if __name__ == "__main__":
    main()
