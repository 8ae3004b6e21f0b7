"""A base set with noise planted in it, as Hou & Zhang 2002 (§3) describe noise: pages that are linked with a small
part of the root set, each with few of its pages, but densely with each other.

A model, made of a seed alone. Root pages link to each other now and then; topic pages are linked with several root
pages each, some with one only (those are *suspected*, §4), and a little with each other. Noise pages come in through
one root page each, and are linked among themselves with a given density.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cocite.graph.store import Graph
from cocite.sources.records import Link, Page

ROOT, TOPIC, NOISE = "https://root{}.example/", "https://topic{}.example/", "https://noise{}.example/"


@dataclass(frozen=True)
class Planted:
    """The pages of a planted base set; their addresses name their kinds."""

    pages: list[Page]
    root: list[str]
    topic: list[str]
    noise: list[str]


def planted(
    density: float,
    seed: int,
    *,
    root: int = 100,
    topic: int = 400,
    noise: int = 200,
    doors: int = 100,
    suspected: float = 0.2,
    ties: float = 5.0,
    links_in_root: float = 0.5,
) -> Planted:
    """`density` is the share of all pairs of noise pages that are linked.

    `doors` are the root pages through which noise comes in: fewer are harder, because noise is then a direction of
    its own in the links between root set and rest. `suspected` is the share of topic pages with one link to the
    root set; the others have at least 2 and about `ties` on average. A root page links to `links_in_root` others.
    """
    random = np.random.default_rng(seed)
    names = {
        "root": [ROOT.format(n) for n in range(root)],
        "topic": [TOPIC.format(n) for n in range(topic)],
        "noise": [NOISE.format(n) for n in range(noise)],
    }
    links: dict[str, list[str]] = {name: [] for of in names.values() for name in of}

    def link(one: str, other: str) -> None:
        source, target = (one, other) if random.random() < 0.5 else (other, one)
        links[source].append(target)

    for name in names["root"]:
        for other in random.choice(root, random.poisson(links_in_root), replace=False):
            if names["root"][other] != name:
                links[name].append(names["root"][other])
    for name in names["topic"]:
        count = 1 if random.random() < suspected else min(root, 2 + random.poisson(max(0.0, ties - 2)))
        for other in random.choice(root, count, replace=False):
            link(name, names["root"][other])
        links[name].append(names["topic"][random.integers(topic)])
    gates = random.choice(root, min(doors, root), replace=False)
    for name in names["noise"]:
        link(name, names["root"][random.choice(gates)])
        for other in np.flatnonzero(random.random(noise) < density / 2):
            links[name].append(names["noise"][other])
    pages = [Page(name, links=[Link(target) for target in targets]) for name, targets in links.items()]
    return Planted(pages, names["root"], names["topic"], names["noise"])


def pages_of(graph: Graph, addresses: Sequence[str]) -> NDArray[np.uint32]:
    """The page numbers of addresses."""
    return np.array([graph.find(address) for address in addresses], np.uint32)
