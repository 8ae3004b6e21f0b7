"""Does What's Related know where people go next? Wikispeedia's click paths: half of the games train, the others test.

    python -m research.next_page_tables [FOLDER] [--part dev|test]

FOLDER holds wikispeedia/: articles, links, the first characters of texts, and paths (see docs/lab/next-page.md). It
builds a store with the clicks of the training games. `--part dev` tries weights; `--part test`, for when they are
chosen, compares What's Related with links alone, words alone and other methods on games that chose nothing. Every
method ranks the same candidates, see `research.next_page`. The links of an article are in alphabetical
order here, so distance means nothing: near=false.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np

from bench.tables import show
from cocite.related import methods
from cocite.related.methods import whats_related
from cocite.related.neighbourhood.scores import Scores
from cocite.web import Web
from research import datasets
from research.next_page import Ranks, Steps, compare, measures, part_of, ranks_of, steps_of

DATA = Path(__file__).parents[2] / "shared" / "data"
PRIORS, WORDS = (5.0, 20.0, 60.0), (0.0, 0.1, 0.2, 0.5, 1.0)
OTHERS = ("auto", "auto(usage=0)", "cocitation(chop=none)", "companion(unit=none, chop=none)")
Relate = Callable[[int], Scores]


def read(folder: Path, into: Path) -> tuple[Web, dict[str, list[list[int]]]]:
    """A store with the clicks of the training games, and all paths by part."""
    teaching = datasets.wikispeedia(folder, lambda game: part_of(game[0], game[-1]) == "train")
    web = Web(datasets.make(teaching, into / "web.cocite").path)
    numbers = [web.graph.find(datasets.WIKI + name) for name in datasets.article_names(folder)]
    paths = defaultdict(list)
    for game in datasets.games(folder):
        paths[part_of(game[0], game[-1])].append([numbers[int(number)] for number in game])
    return web, dict(paths)


def mixed(web: Web) -> Callable[..., Relate]:
    """What's Related with any weights; the scores by links, words and usage are computed once per page."""

    @cache
    def gathered(page: int) -> dict[str, whats_related.KindShares]:
        return whats_related.parts_of(web, page, whats_related.Params(near=False, words=1.0, prior=1.0))

    def weighed(links: float, words: float, usage: float, prior: float) -> Relate:
        weights = {"links": prior * links, "words": prior * words, "usage": usage}

        def relate(page: int) -> Scores:
            found = {
                kind: each._replace(weight=each.weight * weights[kind])
                for kind, each in gathered(page).items()
                if weights[kind]
            }
            return Scores(*whats_related.join(found), [page], np.array([page], np.uint32))

        return relate

    return weighed


def choose(web: Web, steps: Steps) -> None:
    """Print the quality of weights on the part that chooses them."""
    weighed, rows = mixed(web), []
    for usage in (0.0, 1.0):
        for words in WORDS:
            for prior in PRIORS if usage else (1.0,):
                relate = weighed(1.0, words, usage, prior)
                found = [measures(ranks)["MRR"] for ranks in ranks_of(web.graph, steps, relate)]
                rows.append([words, usage, prior if usage else "", *(f"{value:.4f}" for value in found)])
    show("Weights on dev, MRR", ["words", "usage", "prior", "among links", "all pages"], rows)


def related(web: Web, method: methods.Method, page: int) -> Scores:
    """The scores of a method for one page."""
    return method.relate(web, [page])


def report(web: Web, steps: Steps) -> None:
    """Print the comparison."""
    weighed, usual = mixed(web), whats_related.Params()
    ours = f"whats_related: {usual.links:g} links, {usual.words:g} words, {usual.usage:g} usage, prior {usual.prior:g}"
    systems: dict[str, Relate] = {
        ours: weighed(usual.links, usual.words, usual.usage, usual.prior),
        "links alone": weighed(1, 0, 0, 1),
        "words alone": weighed(0, 1, 0, 1),
        "links and words": weighed(usual.links, usual.words, 0, 1),
        "usage alone": weighed(0, 0, 1, 1),
    }
    for name in OTHERS:
        systems[name] = partial(related, web, methods.method(name))
    check(web, systems[ours], steps)
    found = {name: ranks_of(web.graph, steps, relate) for name, relate in systems.items()}
    clicks = f"{len(steps.path):,} clicks of {len(set(steps.path.tolist())):,} paths"
    links = {name: each.among_links for name, each in found.items()}
    table(f"The next page among the links of the page, {clicks}", steps, links)
    table(f"The next page among all pages, {clicks}", steps, {name: each.among_all for name, each in found.items()})


def check(web: Web, relate: Relate, steps: Steps) -> None:
    """Check that the method itself returns what is measured here."""
    for page in np.unique(steps.source)[::100].tolist():
        itself = methods.method("whats_related(near=false)").relate(web, [page])
        assert list(itself.ranked(web.graph.in_degree)) == list(relate(page).ranked(web.graph.in_degree)), page


def table(title: str, steps: Steps, ranks: dict[str, Ranks]) -> None:
    """Measures of each method, and by how much the first is better by path."""
    (ours, first), *_ = ranks.items()
    rows = []
    for name, found in ranks.items():
        row = [name, *(f"{value:.4f}" for value in measures(found).values())]
        if name != ours:
            d = compare(steps, first, found)
            row += [f"{d.mean:+.4f} ({d.low:+.4f} to {d.high:+.4f})", f"{d.better:,} : {d.worse:,}"]
            row += [f"{d.bootstrap:.1g}", f"{d.wilcoxon:.1g}" if d.wilcoxon else "< 1e-300"]
        rows.append(row + [""] * (9 - len(row)))
    header = [
        "",
        "MRR",
        "hits@1",
        "hits@5",
        "hits@10",
        "whats_related better by (95 %)",
        "paths better : worse",
        "p bootstrap",
        "p Wilcoxon",
    ]
    show(title, header, rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--part", choices=("dev", "test"), default="test")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        web, paths = read(options.folder, Path(folder))
        sizes = ", ".join(f"{len(found):,} {part}" for part, found in sorted(paths.items()))
        print(f"paths: {sizes}; {web.clicks!r}")
        steps = steps_of(paths[options.part])
        (choose if options.part == "dev" else report)(web, steps)


if __name__ == "__main__":
    main()
