"""How much each constant of `auto` matters: halved and doubled, on every collection; and leaving one collection out.

    python -m research.sensitivity [--queries 150] [--only NAME]... [--constant NAME]... [--kept FILE]

The first table has P@10 with the constants of `auto`, and for each constant halved and doubled the difference, in
thousandths. ▲ ▼: average precision is better or worse with p < 0.01 by Wilcoxon's signed ranks, not corrected.

The second table is a cross-validation across collections. For each collection, the setting of all those tried that is
best on the others is chosen, by the mean over these of MAP@10 divided by that of `auto`; variants of a collection, with
and without text, are left out together. The table has what that setting reaches on the collection that was left out.

Measures of each query are kept in a file (`--kept`), so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.tables import show
from cocite.evaluate import measures
from cocite.evaluate.evaluation import in_store
from cocite.evaluate.judgements import Judgements
from cocite.evaluate.significance import compare
from cocite.related.methods import auto, method
from cocite.related.neighbourhood import likeness
from cocite.results.ask import Question, ask
from cocite.results.filters import NO_FILTERS
from cocite.sources.records import ReadReport
from cocite.web import Web
from research import datasets
from research.quality import DATA, STORES
from research.reproduce.data import Data

OWN = "as in auto"
Values = NDArray[np.float64]
"""P@10 and average precision of every query, in two rows."""


class Constant(NamedTuple):
    """A constant of `auto`: a parameter, or an attribute of a module of Python, which isn't compiled."""

    name: str
    place: object = None  # None: a parameter

    @property
    def value(self) -> float:
        """As it is in `auto`."""
        return float(getattr(self.place or auto.Params(), self.name))

    def times(self, factor: float) -> float:
        """Its value times a factor; a number of things stays one."""
        own = getattr(self.place or auto.Params(), self.name)
        return float(type(own)(own * factor))

    @contextmanager
    def set_to(self, value: float) -> Iterator[str]:
        """How to call `auto` while the constant has another value."""
        own = getattr(self.place or auto.Params(), self.name)
        other = type(own)(value)
        if self.place is None:
            yield f"auto({self.name}={other})"
            return
        try:
            setattr(self.place, self.name, other)
            yield "auto"
        finally:
            setattr(self.place, self.name, own)


WEIGHTS = [
    *map(Constant, ("elsewhere", "near", "best", "popularity", "words", "context", "names", "usage")),
    Constant("DIRECT", likeness), Constant("DEVIATIONS", likeness), Constant("SAME_NAME", auto),
    Constant("PLACE", auto),
]  # fmt: skip
LIMITS = [
    *map(Constant, ("parents", "window", "children")),
    Constant("MAX_BEST_LINKS", likeness), Constant("MAX_LINKER_LINKS", likeness), Constant("MIN_SAMPLE", likeness),
    Constant("WORD_PAGES", auto),
]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=150, help="queries of each collection, chosen by hash; 0 is all")
    parser.add_argument("--only", action="append", choices=list(datasets.READERS), help="collections")
    parser.add_argument("--constant", action="append", help="constants, all unless some are given")
    parser.add_argument("--kept", type=Path, default=STORES / "sensitivity.json")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--stores", type=Path, default=STORES)
    options = parser.parse_args(arguments)
    chosen = [each for each in (*WEIGHTS, *LIMITS) if not options.constant or each.name in options.constant]
    kept: dict[str, dict[str, list[list[float]]]] = (
        json.loads(options.kept.read_text()) if options.kept.exists() else {}
    )
    collections, data = options.only or list(datasets.READERS), Data(options.data, options.stores)
    for name in collections:
        of = kept.setdefault(f"{name}, {options.queries} queries", {})
        ask_one = asker(data.web(name), datasets.some_queries(data.judged(name)[0], options.queries))
        if OWN not in of:
            of[OWN] = ask_one("auto")
        for constant in chosen:
            for factor in (0.5, 2):
                if (setting := f"{constant.name} × {factor:g}") not in of:
                    with constant.set_to(constant.times(factor)) as call:
                        of[setting] = ask_one(call)
        options.kept.parent.mkdir(parents=True, exist_ok=True)
        options.kept.write_text(json.dumps(kept))
    found = {
        name: {setting: np.array(values) for setting, values in kept[f"{name}, {options.queries} queries"].items()}
        for name in collections
    }
    show(
        "P@10 × 1000, and the difference from it", ("constant", "value", *collections), list(sensitivity(found, chosen))
    )
    show(
        f"Constants chosen without the collection, from {1 + 2 * len(chosen)} settings",
        ("collection", "chosen on the others", "auto, P@10 / MAP@10", "chosen, P@10 / MAP@10", "MAP@10, difference"),
        list(left_out(found)),
    )


def asker(web: Web, judgements: Judgements) -> Callable[[str], list[list[float]]]:
    """A function that measures a method on the queries of a store."""
    judged, numbers = in_store(web.graph, judgements, ReadReport())

    def measured(call: str) -> list[list[float]]:
        rows = []
        for query, page in numbers.items():
            found = ask(web, Question(("",), (page,)), method(call), measures.DEPTH, NO_FILTERS, explained=False)
            pages = [web.graph.canonical(each.page) for each in found]
            rows.append([of(pages, judged.right(query)) for of in (measures.precision, measures.average_precision)])
        return list(map(list, zip(*rows, strict=True)))

    return measured


def sensitivity(found: dict[str, dict[str, Values]], constants: list[Constant]) -> Iterator[list[str]]:
    """A row for the constants as they are, and two for each constant."""
    yield [OWN, "", *(f"{1000 * of[OWN][0].mean():.0f}" for of in found.values())]
    for constant in constants:
        for factor in (0.5, 2):
            row = []
            for of in found.values():
                values, own = of[f"{constant.name} × {factor:g}"], of[OWN]
                tested = compare(values[1].tolist(), own[1].tolist())
                mark = "" if tested.signed_rank >= 0.01 else " ▲" if tested.difference > 0 else " ▼"
                row.append(f"{1000 * (values[0] - own[0]).mean():+.0f}{mark}")
            yield [constant.name, f"{constant.times(factor):g}", *row]


def left_out(found: dict[str, dict[str, Values]]) -> Iterator[list[str]]:
    """A row for each collection: the setting that is best on the others, and what it reaches here."""
    gains = {
        name: {setting: float(values[1].mean() / of[OWN][1].mean()) for setting, values in of.items()}
        for name, of in found.items()
    }
    totals = []
    for name, of in found.items():
        others = [other for other in found if family(other) != family(name)]
        best = max(of, key=lambda setting: (np.mean([gains[other][setting] for other in others]), setting == OWN))
        own, chosen = of[OWN].mean(axis=1), of[best].mean(axis=1)
        totals.append((own, chosen))
        yield [name, best, *(f"{p:.4f} / {ap:.4f}" for p, ap in (own, chosen)), f"{chosen[1] - own[1]:+.4f}"]
    own, chosen = np.mean(totals, axis=0)
    yield ["mean", "", *(f"{p:.4f} / {ap:.4f}" for p, ap in (own, chosen)), f"{chosen[1] - own[1]:+.4f}"]


def family(name: str) -> str:
    """Variants of a collection have one: with and without text, sparse and dense."""
    return name.removesuffix("-links").split("-")[0]


if __name__ == "__main__":
    main()
