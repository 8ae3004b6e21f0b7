"""How good methods are on every judged collection, and which differences from one of them are more than luck.

    python -m research.quality [-m METHOD]... [--than METHOD] [--beside] [--only NAME]... [--queries 0] [--per-site 2]
                               [--seconds 15]

Collections are those of `research.datasets`; baselines of `research.rivals` are asked like methods (`-m scipy`).
Stores are made once and kept under bench/data/judged (`--stores`), and so are the answers of each method:
`-m auto --beside` asks auto alone and sets it beside all methods that were asked before. Differences from `--than` are
tested query by query, average precision by Wilcoxon's signed ranks, corrected by Holm's method for all comparisons on
a collection: ▲ better and ▼ worse with p < 0.01, △ and ▽ with p < 0.05, = luck. `--per-site` says what a limit for each
site costs. `--seconds` stops a method that takes longer on a collection; the table then has its limit.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing import TimeoutError as TookTooLong
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from bench.tables import show
from cocite.evaluate import measures
from cocite.evaluate.evaluation import Evaluation, in_store
from cocite.evaluate.judgements import Judgements, Run
from cocite.evaluate.significance import Tests, compare, holm
from cocite.operations import DEFAULT_METHOD
from cocite.related.methods import method, names
from cocite.results.ask import Question, ask
from cocite.results.filters import Filters
from cocite.sources.records import ReadReport
from cocite.web import Web
from research import datasets, rivals
from research.reproduce.data import Data

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
STORES = ROOT / "bench" / "data" / "judged"
NOT_RELATED = ("community",)
"""Answers another question: which communities there are round a page."""

web: Web


class Answered(NamedTuple):
    """The answers to a query."""

    pages: list[str]
    milliseconds: float


def answer(call: str, filters: Filters, page: int) -> Answered:
    """In a process of its own."""
    found = ask(web, Question(("",), (page,)), method(call), measures.DEPTH, filters, explained=False)
    return Answered([web.graph.canonical(each.page) for each in found], found.milliseconds)


def opened(name: str, options: argparse.Namespace) -> tuple[Web, Judgements, dict[str, int]]:
    """The store of a collection, made if there is none, and what is judged of it."""
    store = Data(options.data, options.stores).web(name)
    judgements = datasets.read(name, options.data).judgements
    return store, *in_store(store.graph, datasets.some_queries(judgements, options.queries), ReadReport())


def kept_at(folder: Path, call: str) -> Path:
    """Where the answers of a method are kept."""
    return folder / f"{call}.json"


def asked(name: str, options: argparse.Namespace, per_site: int) -> Evaluation:
    """All methods on one collection, each run now or read from an earlier run; without those that took too long."""
    global web
    web, judged, numbers = opened(name, options)
    folder = options.stores / "runs" / f"{name}, {options.queries or 'all'} queries, per site {per_site}"
    folder.mkdir(parents=True, exist_ok=True)
    filters = Filters(per_site=per_site)
    calls = list(options.methods)
    if options.beside:
        calls += [each for file in sorted(folder.glob("*.json")) if (each := file.stem) not in calls]
    runs = []
    for call in calls:
        if call in rivals.RIVALS and (call in options.methods or not options.beside):
            began = time.perf_counter()
            best = rivals.best(web, call, list(numbers.values()), measures.DEPTH)
            pages = {query: [*map(web.graph.canonical, each)] for query, each in zip(numbers, best, strict=True)}
            each = 1e3 * (time.perf_counter() - began) / len(numbers)
            kept_at(folder, call).write_text(json.dumps({"answers": pages, "milliseconds": dict.fromkeys(pages, each)}))
            print(f"{name}  {call}  {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        elif call in options.methods or not options.beside:
            if not options.seconds:  # else a process that can be stopped makes it
                answer(call, filters, next(iter(numbers.values())))  # what is made once is made before the clock runs
            with get_context("fork").Pool(options.processes) as pool:
                began = time.perf_counter()
                waiting = pool.map_async(partial(answer, call, filters), numbers.values(), chunksize=8)
                try:
                    found = waiting.get(options.seconds or None)
                except TookTooLong:
                    kept_at(folder, call).write_text(json.dumps({"seconds": options.seconds}))
                    print(f"{name}  {call}  more than {options.seconds} s", file=sys.stderr, flush=True)
                    continue
            pages = {query: each.pages for query, each in zip(numbers, found, strict=True)}
            times = {query: each.milliseconds for query, each in zip(numbers, found, strict=True)}
            kept_at(folder, call).write_text(json.dumps({"answers": pages, "milliseconds": times}))
            print(f"{name}  {call}  {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        kept = json.loads(kept_at(folder, call).read_text())
        if "seconds" not in kept:
            runs.append(Run(call, kept["answers"], kept["milliseconds"]))
    return Evaluation(judged, runs)


def sign(found: Tests) -> str:
    """Whether a difference is more than luck."""
    marks = "▲△" if found.difference > 0 else "▼▽"
    return marks[0] if found.signed_rank < 0.01 else marks[1] if found.signed_rank < 0.05 else "="


def tests(found: Evaluation, than: str) -> dict[str, Tests]:
    """Every other run beside one."""
    values = {run.name: found.values(run, measures.average_precision, found.queries) for run in found.runs}
    found_tests = {name: compare(of, values[than]) for name, of in values.items() if name != than and than in values}
    corrected = holm([each.signed_rank for each in found_tests.values()])
    return {name: each._replace(signed_rank=p) for (name, each), p in zip(found_tests.items(), corrected, strict=True)}


def details(found: Evaluation, against: dict[str, Tests]) -> Iterator[list[str]]:
    """A row for every method: measures, coverage, time, and the difference."""
    for run in found.runs:
        values = (measures.precision, measures.average_precision, measures.ndcg, measures.answered)
        times = sorted(run.milliseconds.values())
        row = [run.name, *(f"{found.mean(run, each, found.queries):.4f}" for each in values)]
        row.append(f"{times[len(times) // 2]:.1f}")
        if run.name in against:
            one = against[run.name]
            row += [f"{one.difference:+.4f} ({one.low:+.4f} to {one.high:+.4f})", f"{one.better} : {one.worse}"]
            row += [f"{one.signed_rank:.1g}"]
        yield row + [""] * (9 - len(row))


def overview(
    evaluations: dict[str, Evaluation], against: dict[str, dict[str, Tests]], seconds: int = 0
) -> Iterator[list[str]]:
    """A row for every method: P@10 / MAP@10 on each collection, or the limit that it exceeded."""
    calls = dict.fromkeys(run.name for found in evaluations.values() for run in found.runs)
    for call in calls:
        row = [call]
        for name, found in evaluations.items():
            run = next((run for run in found.runs if run.name == call), None)
            if run is None:
                row.append(f"over {seconds} s" if seconds else "")
                continue
            p, ap = (found.mean(run, each, found.queries) for each in (measures.precision, measures.average_precision))
            row.append(f"{p:.4f} / {ap:.4f} {sign(against[name][call]) if call in against[name] else '·'}")
        yield row


def losses(evaluations: dict[str, Evaluation], few: dict[str, Evaluation]) -> Iterator[list[str]]:
    """A row for every method: P@10 without and with a limit for a site, and what part of it is lost."""
    calls = dict.fromkeys(run.name for found in few.values() for run in found.runs)
    for call in calls:
        row = [call]
        for name in few:
            values = []
            for found in (evaluations[name], few[name]):
                run = next((run for run in found.runs if run.name == call), None)
                values.append(found.mean(run, measures.precision, found.queries) if run else 0.0)
            row.append(f"{values[0]:.4f} → {values[1]:.4f} ({values[1] / max(values[0], 1e-9) - 1:+.1%})")
        yield row


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--method", dest="methods", action="append", help="all, unless some are given")
    parser.add_argument("--than", default="", help="tests others against this one (the default)")
    parser.add_argument("--beside", action="store_true", help="beside the kept answers of all other methods")
    parser.add_argument("--only", action="append", choices=list(datasets.READERS), help="collections")
    parser.add_argument("--queries", type=int, default=500, help="queries of each collection, chosen by hash; 0 is all")
    parser.add_argument("--per-site", type=int, default=0, help="also with a maximum number of results per site")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=0, help="limit of a method on a collection; 0 is none")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--stores", type=Path, default=STORES)
    options = parser.parse_args(arguments)
    options.methods = options.methods or [*(name for name in names() if name not in NOT_RELATED), *rivals.RIVALS]
    options.methods = [call if call in rivals.RIVALS else str(method(call)) for call in options.methods]
    than = str(method(options.than or (DEFAULT_METHOD if DEFAULT_METHOD in options.methods else options.methods[0])))
    collections = options.only or list(datasets.READERS)
    evaluations = {name: asked(name, options, 0) for name in collections}
    against = {name: tests(found, than) for name, found in evaluations.items()}
    head = ("method", "P@10", "MAP@10", "nDCG@10", "answered", "ms")
    for name, found in evaluations.items():
        title = f"{name}, {len(found.queries):,} queries"
        gap = (f"MAP, more than {than} (95 %)", "better : worse", "p")
        show(title, (*head, *gap), list(details(found, against[name])))
    title = f"P@10 / MAP@10; beside {than}: ▲ better, ▼ worse, p < 0.01; △ ▽ p < 0.05; = luck"
    show(title, ("method", *evaluations), list(overview(evaluations, against, options.seconds)))
    if options.per_site:
        few = {name: asked(name, options, options.per_site) for name in collections}
        show(
            f"P@10 with at most {options.per_site} answers of a site", ("method", *few), list(losses(evaluations, few))
        )


if __name__ == "__main__":
    main()
