"""What planted spam does to each method: precision before and after an attack, and how often the spam is a result.

    python -m research.attacks [-m METHOD]... [--only ATTACK]... [--queries 0] [--second] [--again]

Every attack adds pages or links to the awesome lists, to make one page, the target, a result for pages that are not
about it. Queries are all judged ones, or `--queries` of them, and those that an attack touches: judged pages that it
links to. A method is asked on the store without and with the attack. `--second` plants the same attacks with another
seed and other sizes. The change of P@10 has its standard error, over queries. To see which part of a method an attack
changes, ask it without that part too: `-m auto -m 'auto(context=0)' -m 'auto(popularity=0)'`.
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

import numpy as np

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
METHODS = ("auto", "cocitation", "proximity", "companion", "kleinberg", "extended_cocitation", "lli", "walk")
Pages = list[Page]


class Plan(NamedTuple):
    """The seed and the sizes of all attacks."""

    seed: int = SEED
    farm_sites: int = 1000
    farm_pages: int = 10  # of each site
    farm_links: int = 10  # of each page, beside the target
    popular_pages: int = 300  # that a farm and a footer link to
    template_links: int = 30
    copied_lists: int = 200  # and sections
    changed_links: float = 0.1  # the share of links that are swapped in changed copies
    section_hosts: int = 5
    mirror_hosts: int = 5
    commented_share: float = 0.5
    footer_pages: int = 1000
    footer_links: int = 50


SECOND = Plan(SEED + 1, 600, 17, 15, 500, 45, 300, 0.2, 8, 9, 0.3, 2500, 30)


class Planted(NamedTuple):
    """The pages of a web with spam, and the addresses that the spam is put next to."""

    pages: Pages
    touched: Collection[str]


def popular(pages: Pages, most: int) -> list[str]:
    """The addresses with the most in-links."""
    times = Counter(url for page in pages for url in {link.url for link in page.links})
    return sorted(times, key=lambda url: (-times[url], url))[:most]


def with_target(links: Sequence[Link], rng: random.Random) -> list[Link]:
    """The links in any order, as one section, with the target among them."""
    mixed = [replace(link, block=0) for link in (*links, SPAM)]
    rng.shuffle(mixed)
    return mixed


def swap_links(links: Sequence[Link], rng: random.Random, share: float = 0.0) -> list[Link]:
    """The links, one of them swapped for the target, and of a share the others for pages that nobody else has."""
    found, number = list(links), max(1, round(share * len(links)))
    for count, at in enumerate(rng.sample(range(len(found)), number)):
        other = SPAM if count == 0 else Link(f"https://other{rng.randrange(1 << 40)}.example/")
        found[at] = replace(other, block=found[at].block)
    return found


def farm_page(plan: Plan, site: int, page: int, links: list[Link]) -> Page:
    """A page of a link farm: a list, then links to its own site and the next one, in another section."""
    own = [f"https://farm{site}.example/{n}" for n in range(plan.farm_pages)]
    others = [*own, f"https://farm{(site + 1) % plan.farm_sites}.example/{page}"]
    more = [Link(url, block=1) for url in others if url != own[page]]
    return Page(own[page], "Great links", links=[*links, *more], headings=["Great links", "More"])


def farm(pages: Pages, plan: Plan, rng: random.Random) -> Planted:
    """A farm whose every page lists the target with popular pages, chosen at random."""
    pool = popular(pages, plan.popular_pages)
    made = [
        farm_page(plan, site, page, with_target([Link(url) for url in rng.sample(pool, plan.farm_links)], rng))
        for site in range(plan.farm_sites)
        for page in range(plan.farm_pages)
    ]
    return Planted([*pages, *made], pool)


def site_farm(pages: Pages, plan: Plan, rng: random.Random) -> Planted:
    """A farm whose sites have one list each, on all pages."""
    pool, made = popular(pages, plan.popular_pages), []
    for site in range(plan.farm_sites):
        links = with_target([Link(url) for url in rng.sample(pool, plan.farm_links)], rng)
        made += [farm_page(plan, site, page, links) for page in range(plan.farm_pages)]
    return Planted([*pages, *made], pool)


def template_farm(pages: Pages, plan: Plan, rng: random.Random) -> Planted:
    """A farm whose pages all have the same popular pages and the target, beside links of their own."""
    pool = popular(pages, plan.template_links)
    links = with_target([Link(url) for url in pool], rng)
    made = [farm_page(plan, site, page, links) for site in range(plan.farm_sites) for page in range(plan.farm_pages)]
    return Planted([*pages, *made], pool)


def copied(pages: Pages, plan: Plan, rng: random.Random, share: float = 0.0) -> Planted:
    """Lists, each copied to a host of its own with a link swapped for the target, or a share of all links."""
    made = []
    for number, page in enumerate(rng.sample(pages, plan.copied_lists)):
        made.append(replace(page, url=f"https://copy{number}.example/", links=swap_links(page.links, rng, share)))
    return Planted([*pages, *made], {link.url for page in made for link in page.links})


def changed_copies(pages: Pages, plan: Plan, rng: random.Random) -> Planted:
    """The same with more links swapped than a near-duplicate may have."""
    return copied(pages, plan, rng, plan.changed_links)


def copied_sections(pages: Pages, plan: Plan, rng: random.Random) -> Planted:
    """Sections, each copied to several hosts with a link swapped for the target; all else is their own."""
    made = []
    sections = [
        (page, block) for page in pages for block, n in Counter(link.block for link in page.links).items() if n >= 5
    ]
    for number, (page, block) in enumerate(rng.sample(sections, plan.copied_lists)):
        links = [replace(link, block=0) for link in page.links if link.block == block]
        for copy in range(plan.section_hosts):
            swapped = swap_links(links, rng)
            own = [Link(f"https://copy{number}-{copy}.example/{n}", block=1) for n in range(10)]
            url = f"https://copy{number}-{copy}.example/"
            made.append(Page(url, page.title, links=[*swapped, *own], headings=["Links", "Us"]))
    return Planted([*pages, *made], {link.url for page in made for link in page.links})


def mirrored(pages: Pages, plan: Plan, rng: random.Random) -> Planted:
    """Lists, each mirrored on several other hosts as they are."""
    chosen = rng.sample(pages, plan.copied_lists)
    made = [
        replace(page, url=f"https://mirror{copy}.example/{number}")
        for number, page in enumerate(chosen)
        for copy in range(plan.mirror_hosts)
    ]
    return Planted([*pages, *made], {link.url for page in chosen for link in page.links})


def commented(
    pages: Pages, plan: Plan, rng: random.Random, mark: Callable[[Link], Link] = lambda link: link
) -> Planted:
    """Many lists, with the target in a last section."""
    found, touched = [], set[str]()
    for page in pages:
        if rng.random() < plan.commented_share:
            last = len(page.headings)
            spam = mark(replace(SPAM, block=last))
            touched |= {link.url for link in page.links}
            page = replace(page, links=[*page.links, spam], headings=[*page.headings, "Comments"])
        found.append(page)
    return Planted(found, touched)


def appended(pages: Pages, plan: Plan, rng: random.Random) -> Planted:
    """Many lists, with the target as the last link of the last section."""
    return commented(pages, plan, rng, lambda link: replace(link, block=max(0, (link.block or 0) - 1)))


def marked(pages: Pages, plan: Plan, rng: random.Random) -> Planted:
    """The same in a last section, marked as nofollow and boilerplate."""
    return commented(pages, plan, rng, lambda link: replace(link, rel="nofollow ugc", boilerplate=True))


def footers(pages: Pages, plan: Plan, rng: random.Random) -> Planted:
    """A site of many pages with links of their own and one footer: the target and popular pages."""
    pool = popular(pages, plan.popular_pages)
    chosen = rng.sample(pool, plan.footer_links)
    footer = with_target([Link(url) for url in chosen], rng)
    made = []
    for number in range(plan.footer_pages):
        own = [Link(f"https://shop.example/{rng.randrange(plan.footer_pages)}", block=1) for _ in range(10)]
        links = [*own, *footer]
        made.append(Page(f"https://shop.example/{number}", "Shop", links=links, headings=["Partners", "Goods"]))
    return Planted([*pages, *made], chosen)


ATTACKS: Mapping[str, Callable[[Pages, Plan, random.Random], Planted]] = {
    "farm": farm,
    "site farm": site_farm,
    "template farm": template_farm,
    "copies": copied,
    "changed copies": changed_copies,
    "copied sections": copied_sections,
    "mirrors": mirrored,
    "comments": commented,
    "appended": appended,
    "marked comments": marked,
    "footers": footers,
}


def measured(web: Web, call: str, judged: Judgements, queries: Mapping[str, int]) -> dict[str, tuple[float, bool]]:
    """P@10 of each query, and whether the target is a result."""
    (run,) = ask_methods(web, [method(call)], queries)
    found = Evaluation(judged, [run])
    names = [query for query in queries if query in run.answers]
    spam = canonical_or_none(TARGET)
    values = found.values(run, measures.precision, names)
    return {name: (value, spam in run.answers[name]) for name, value in zip(names, values, strict=True)}


def compared(
    before: Mapping[str, tuple[float, bool]], after: Mapping[str, tuple[float, bool]], queries: Collection[str]
) -> list[str]:
    """P@10 before and after, its change with the standard error, and how often the target is a result afterwards."""
    both = [query for query in queries if query in before and query in after]
    if not both:
        return ["", "", ""]
    one, other = (np.array([values[query] for query in both]) for values in (before, after))
    base, change = max(one[:, 0].mean(), 1e-9), other[:, 0] - one[:, 0]
    error = change.std() / np.sqrt(len(both))
    moved = f"{change.mean() / base:+.1%} ± {error / base:.1%}"
    return [f"{one[:, 0].mean():.4f} → {other[:, 0].mean():.4f}", moved, f"{other[:, 1].mean():.1%}"]


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
    plan = SECOND if options.second else Plan()
    before: dict[str, dict[str, tuple[float, bool]]] = {}
    for name in options.only or ATTACKS:
        planted = ATTACKS[name](pages, plan, random.Random(plan.seed))
        stem = f"{name}, second" if options.second else name
        web = store(planted.pages, options.stores / "attacked" / f"{stem}.cocite", options.again)
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
                row += compared(before[call], after, queries)
            print(*row, f"{len(some)} touched", sep="\t", flush=True)
            yield [*row, str(len(some))]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--method", dest="methods", action="append")
    parser.add_argument("--only", action="append", choices=list(ATTACKS))
    parser.add_argument("--queries", type=int, default=0, help="of each kind, chosen by hash; 0 is all")
    parser.add_argument("--second", action="store_true", help="another seed and other sizes")
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
