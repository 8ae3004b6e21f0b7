"""How small could link lists be? Bits a link of what lists say, and of ideas to say it in less.

    python research/link_limits.py STORE_OR_BVGRAPH ...

For lists out and in, of a sample of pages: what the store takes, split by what it says. The entropy of the same
symbols, alone and by the symbol before. What sets cost without their order, and the order, log2(n!) for a list of n
links. Runs, and copying from lists before, as WebGraph does. A mixture of reasons for a target (distance, in-links,
neighbours), which a range coder could use. Each idea has the decisions that a reader would make for a link.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from cocite.graph.build.passes import BuildOptions, build
from cocite.graph.encode import NO_ATTRIBUTES, count_symbols, encode
from cocite.graph.huffman import Code
from cocite.graph.store import Graph
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport

SAMPLE_LINKS, RUN_PAGES = 1_500_000, 1 << 12
Numbers = NDArray[np.int64]


class Sample(NamedTuple):
    """Lists of some pages, one after another."""

    pages: Numbers
    starts: Numbers
    targets: Numbers
    attributes: NDArray[np.uint32]  # empty for links in

    @property
    def owner(self) -> Numbers:
        """The page of each link."""
        return np.repeat(self.pages, np.diff(self.starts))

    @property
    def before(self) -> Numbers:
        """The target before each link; the page itself for the first."""
        found = np.append(np.int64(0), self.targets[:-1])
        firsts = self.starts[:-1][np.diff(self.starts) > 0]
        found[firsts] = self.pages[np.diff(self.starts) > 0]
        return found

    def ascending(self) -> Sample:
        """The same sets without their order."""
        order = np.lexsort((self.targets, np.repeat(np.arange(len(self.pages)), np.diff(self.starts))))
        return self._replace(targets=self.targets[order], attributes=NO_ATTRIBUTES)


def sample(graph: Graph, direction: str) -> Sample:
    """Runs of neighbouring pages, evenly spread."""
    share = min(1.0, SAMPLE_LINKS / max(1, len(graph.links)))
    step = max(RUN_PAGES, int(RUN_PAGES / share))
    pages = np.concatenate([np.arange(a, min(a + RUN_PAGES, graph.pages)) for a in range(0, graph.pages, step)])
    lists = graph.out if direction == "out" else graph.into
    starts, targets, attributes = graph.links.read_some(lists, pages, direction == "out")
    return Sample(pages, starts, targets.astype(np.int64), attributes)


def entropy(counts: NDArray[Any]) -> float:
    """Bits of all symbols together, each by how often it occurs."""
    some = counts[counts > 0].astype(np.float64)
    return float((some * np.log2(some.sum() / some)).sum())


def entropy_after(symbols: Numbers, context: Numbers) -> float:
    """Bits of all symbols, each by what it follows; the tables are free."""
    pairs = np.unique(context << 20 | symbols, return_counts=True)
    bounds = np.flatnonzero(np.diff(pairs[0] >> 20, prepend=-1, append=-1))
    return sum(entropy(pairs[1][a:b]) for a, b in pairwise(bounds.tolist()))


def four_classes(symbols: Numbers, lengths: Numbers) -> float:
    """Bits of all symbols, by four classes of the bit length before each: one of four tables is chosen early."""
    before = np.append(64, lengths[:-1])
    return min(
        entropy_after(symbols, np.searchsorted([a, b, c], before, "right"))
        for a, b, c in ((1, 4, 8), (1, 5, 10), (1, 3, 6), (4, 7, 11), (5, 9, 13))
    )


def bit_lengths(values: Numbers) -> Numbers:
    """The bit length of each number."""
    return np.frexp(values.astype(np.float64))[1].astype(np.int64)


def steps(lists: Sample) -> tuple[Numbers, Numbers]:
    """(symbol without `change`, low bits) of each link: the shorter one of both distances."""
    found = []
    for origin, mode in ((lists.before, 0), (lists.owner, 2)):
        up = lists.targets > origin
        distance = np.where(up, lists.targets - origin, origin - lists.targets) - 1
        found.append((bit_lengths(np.maximum(distance, 0)), mode + ~up, distance))
    nearer = (found[1][0] < found[0][0]) | (found[0][2] < 0)
    length = np.where(nearer, found[1][0], found[0][0])
    return np.where(nearer, found[1][1], found[0][1]) % 4 << 6 | length, np.maximum(length - 1, 0)


def coded(lists: Sample) -> float:
    """Bits of the lists in the store's code, made for this sample."""
    targets, owners = lists.targets.astype(np.uint32), lists.pages.astype(np.uint32)
    code = Code.from_counts(count_symbols(targets, lists.attributes, lists.starts, owners))
    return float(encode(targets, lists.attributes, lists.starts, owners, code).bits)


def order_bits(lists: Sample) -> float:
    """log2(n!) of each list."""
    return float((gammaln(np.diff(lists.starts) + 1.0) / np.log(2)).sum())


def section_bits(lists: Sample) -> tuple[float, float]:
    """Bits of whether the attribute changes, by entropy, and of what it becomes, as the store writes it."""
    own = lists.attributes.astype(np.int64)
    before = np.append(0, own[:-1])
    before[lists.starts[:-1][np.diff(lists.starts) > 0]] = 0
    changed = own != before
    following = changed & (own == before + 1)
    block = own & ((1 << 24) - 1)
    anew = np.where(following, 1, 14 + bit_lengths(block))[changed].sum()
    flags = np.bincount(changed.astype(np.int64), minlength=2)
    return entropy(flags), float(anew)


def with_runs(lists: Sample) -> tuple[float, float, int]:
    """(Bits if a run of neighbours is one symbol, for ascending lists; by four classes; the number of symbols)."""
    gap = lists.targets - lists.before - 1
    first = np.zeros(len(gap), np.bool_)
    first[lists.starts[:-1][np.diff(lists.starts) > 0]] = True
    inside = (gap == 0) & ~first
    begins = np.flatnonzero(~inside)
    sizes = np.diff(np.append(begins, len(gap)))
    symbols, low = steps(lists)
    length = bit_lengths(sizes - 1)
    after = np.maximum(length[sizes > 1] - 1, 0).sum()
    own, more = symbols[begins] << 6 | length, float(low[begins].sum() + after)
    return entropy(np.bincount(own)) + more, four_classes(own, symbols[begins] & 63) + more, len(begins)


def with_copies(lists: Sample, window: int = 7) -> tuple[float, float]:
    """Bits if links that one of the lists before has too are copied, as WebGraph does, each list from the cheapest.

    A list without references is as `with_runs`; copied links take the entropy of whether each link of the reference is
    copied, by whether the one before it was. Returns also the share of links that are copied.
    """
    bits = with_runs(lists)[0] / max(1, len(lists.targets))  # of a link that is not copied
    total, copied = 0.0, 0
    ends = lists.starts.tolist()
    sets = [lists.targets[a:b] for a, b in pairwise(ends)]
    for i, own in enumerate(sets):
        best, most = bits * len(own), 0
        for k in range(1, min(window, i) + 1):
            other = sets[i - k]
            if not len(other) or not len(own) or lists.pages[i] - lists.pages[i - k] != k:
                continue
            has = np.isin(other, own, assume_unique=True)
            shared = int(has.sum())
            if not shared:
                continue
            runs = 1 + int(np.count_nonzero(has[1:] != has[:-1]))
            cost = runs * (1 + np.log2(1 + len(other) / runs)) + bits * (len(own) - shared)
            if cost < best:
                best, most = cost, shared
        total, copied = total + best + (np.log2(window + 1) if len(own) else 0) * 0.5, copied + most
    return total, copied / max(1, len(lists.targets))


def mixture(lists: Sample, weight: NDArray[np.float64], rounds: int = 12) -> float:
    """Bits of each target by the best mixture of reasons: its links, its distance from the page, from the link before.

    A distance of bit length L has the probability of L, and all distances of it have the same.
    """
    parts = [weight[lists.targets] / weight.sum()]
    for origin in (lists.owner, lists.before):
        distance = lists.targets - origin
        kind = bit_lengths(np.abs(distance)) << 1 | (distance > 0)
        counts = np.bincount(kind)
        parts.append(counts[kind] / counts.sum() / 2.0 ** np.maximum((kind >> 1) - 1, 0))
        # The same, but a popular page is likelier than its neighbours.
        blocks = np.add.reduceat(weight, np.arange(0, len(weight), 64))
        near = weight[lists.targets] / np.maximum(blocks[lists.targets >> 6], 1) * 64
        parts.append(parts[-1] * np.where(kind >> 1 > 6, near, 0))
    shares = np.full(len(parts), 1 / len(parts))
    for _ in range(rounds):
        each = np.array([share * part for share, part in zip(shares, parts, strict=True)])
        whole = each.sum(axis=0)
        shares = (each / whole).mean(axis=1)
    return float(-np.log2(whole).sum())


def report(graph: Graph, direction: str) -> None:
    """Print a table of one direction."""
    lists = sample(graph, direction)
    links, plain = len(lists.targets), lists._replace(attributes=NO_ATTRIBUTES)
    symbols, low = steps(plain)
    first = np.zeros(links, np.bool_)
    first[lists.starts[:-1][np.diff(lists.starts) > 0]] = True
    context = np.where(first, 1 << 12, np.append(0, symbols[:-1]))
    sizes = bit_lengths(np.repeat(np.diff(lists.starts), np.diff(lists.starts)))
    ascending = plain.ascending()
    whole = graph.array(f"{direction}.words").nbytes * 8 / len(graph.links)
    by_size, by_class = (entropy_after(symbols, of) + low.sum() for of in (sizes, np.clip(sizes // 2, 1, 4)))
    four = four_classes(symbols, symbols & 63)
    rows: list[tuple[str, float, str]] = [
        ("the store", whole, "1"),
        ("the store's code, made for the sample", coded(lists) / links, "1"),
        ("  targets alone", coded(plain) / links, "1"),
        ("    of these, symbols by their entropy", entropy(np.bincount(symbols)) / links, ""),
        ("    low bits of distances", float(low.sum()) / links, ""),
        ("  symbols by the symbol before, low bits", (entropy_after(symbols, context) + low.sum()) / links, "1"),
        ("  symbols by four classes of the one before, low bits", (four + low.sum()) / links, "1"),
        ("  symbols by the bit length of the list's degree, low bits", by_size / links, "1"),
        ("  the same with four classes", by_class / links, "1"),
        ("order, log2(n!)", order_bits(lists) / links, ""),
        ("sets: targets ascending, the store's code", coded(ascending) / links, "1"),
    ]
    if direction == "out":
        changes, anew = section_bits(lists)
        rows += [("sections: whether they change", changes / links, ""), ("  what they become", anew / links, "")]
    bits, by_four, count = with_runs(ascending)
    rows.append(("sets with runs as one symbol", bits / links, f"{count / links:.2f}"))
    rows.append(("  by four classes of the symbol before", by_four / links, f"{count / links:.2f}"))
    few = sample_head(ascending, 200_000)
    bits, share = with_copies(few)
    rows.append((f"  and {share:.0%} of links copied from 7 lists before", bits / len(few.targets), "other lists"))
    weight = (graph.in_degree if direction == "out" else graph.out_degree).astype(np.float64) + 1
    rows.append(("targets by a mixture of reasons", mixture(plain, weight) / links, "about 8"))
    rows.append(("sets by a mixture of reasons", mixture(ascending, weight) / links, "about 8"))
    print(f"\nLinks {direction}, a sample of {links:,}\n\n| what | bits a link | decisions a link |\n|---|---:|---:|")
    for what, value, decisions in rows:
        print(f"| {what} | {value:.2f} | {decisions} |")


def sample_head(lists: Sample, links: int) -> Sample:
    """The first lists, with about that number of links."""
    some = int(np.searchsorted(lists.starts, min(links, int(lists.starts[-1])), "right")) - 1
    return lists._replace(
        pages=lists.pages[:some], starts=lists.starts[: some + 1], targets=lists.targets[: lists.starts[some]]
    )


@contextmanager
def opened(path: Path) -> Iterator[Graph]:
    """A store, or a store built of a BVGraph."""
    if path.is_dir():
        yield Graph(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        found, store = ReadReport(), Path(folder) / "web.cocite"
        source = open_source(str(path.with_suffix(".graph")), found)
        build([source], store, found, BuildOptions(anchors=False, text=False))
        yield Graph(store)


def main() -> None:
    """Print the tables of each store."""
    for name in sys.argv[1:]:
        with opened(Path(name)) as graph:
            print(f"\n## {Path(name).name}: {graph.pages:,} pages, {len(graph.links):,} links")
            for direction in ("out", "in"):
                report(graph, direction)


if __name__ == "__main__":
    main()
