"""How long it takes to find copies among sections of one site that list a page, by their number.

python bench/copies.py
"""

from __future__ import annotations

import time

import numpy as np

from cocite.graph.store import Graph
from cocite.kernels.related.independence import originals
from cocite.related.neighbourhood.view import GraphView, Switches
from cocite.sources.records import Link, Page

PAGE = "https://page.example/"
CASES = ((400, 50, 25), (800, 50, 25), (1600, 50, 25), (1900, 100, 50), (1600, 50, 0), (1600, 50, 49))
"""Sections, links of each, and how many of these all sections have in common."""
RUNS = 5
MAX_PARENTS = 2000


def milliseconds(sections: int, links: int, common: int) -> float:
    """The processor time that it takes, the least of some runs."""
    pages = [Page("https://far.example/", links=[Link(PAGE)])]
    for number in range(sections):
        targets = [PAGE, *(f"https://o{n}{f'-{number}' if n >= common else ''}.example/" for n in range(links))]
        given = [Link(url, block=0) for url in targets]
        pages.append(Page(f"https://site{number % 2}.example/{number}", headings=["One"], links=given))
    graph = Graph.from_records(pages)
    page = graph.find(PAGE)
    view = GraphView(graph, [page], Switches())
    parents = view.parents_of(page, MAX_PARENTS, MAX_PARENTS, sections=True)
    shares, taken = np.ones(len(parents.pages)), list[float]()
    for _ in range(RUNS + 1):  # compiled in the first
        began = time.process_time()
        originals(parents, shares, view.counted, graph.into.order)
        taken.append(1e3 * (time.process_time() - began))
    return min(taken[1:])


if __name__ == "__main__":
    print("| sections | links | in common | ms |\n|---:|---:|---:|---:|")
    for case in CASES:
        print(f"| {' | '.join(map(str, case))} | {milliseconds(*case):.2f} |", flush=True)
