"""How fast a web graph release, as Common Crawl publishes them, becomes a store.

    python bench/release.py STORE [--keep FOLDER]

The links of a store are written as vertices (`number<TAB>com.name`, sorted by reversed name) and edges, gzipped, and
built again. Every page becomes a domain, so the result has the shape of a domain graph. It doesn't measure how names
compress.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import tempfile
from pathlib import Path

import numpy as np

from build import HEADER, OURS, build_row, run
from cocite.graph.store import Graph
from tables import show

ENDINGS = ("com", "de", "net", "org", "uk")
CONSONANTS, VOWELS = "bcdfghklmnprstvw", "aeiou"
AT_ONCE = 1 << 20


def names(count: int) -> list[str]:
    """A number of different reversed domain names, sorted: eight pronounceable letters, and perhaps a digit."""
    chosen = np.random.default_rng(3).permutation(count)
    made = []
    for number, at in enumerate(chosen.tolist()):
        letters, rest = [], at
        for place in range(8):
            alphabet = VOWELS if place % 2 else CONSONANTS
            letters.append(alphabet[rest % len(alphabet)])
            rest //= len(alphabet)
        made.append(f"{ENDINGS[number % len(ENDINGS)]}.{''.join(letters)}{at % 7 or ''}")
    return sorted(made)


def write_release(graph: Graph, folder: Path) -> None:
    """Vertices and edges of a store's links."""
    with gzip.open(folder / "bench-domain-vertices.txt.gz", "wt", compresslevel=1) as file:
        file.writelines(f"{number}\t{name}\t1\n" for number, name in enumerate(names(graph.pages)))
    links = graph.to_scipy()
    sources = np.repeat(np.arange(graph.pages, dtype=np.int32), np.diff(links.indptr))
    with gzip.open(folder / "bench-domain-edges.txt.gz", "wb", compresslevel=1) as file:
        for start in range(0, len(graph.links), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            pairs = zip(sources[part].tolist(), links.indices[part].tolist(), strict=True)
            file.write("".join([f"{source}\t{target}\n" for source, target in pairs]).encode())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--keep", type=Path, help="keep the release here, or read it if it exists")
    options = parser.parse_args()
    graph = Graph(options.store)
    folder = Path(tempfile.mkdtemp())
    try:
        release = options.keep or folder / "release"
        if not release.is_dir():
            release.mkdir(parents=True)
            write_release(graph, release)
        ours, peak, disk = run(OURS, folder, str(release), str(folder / "web.cocite"), str(4 << 30), "")
        show(
            f"Building a release: {ours['pages']:,} domains, {ours['links']:,} links",
            HEADER,
            [build_row("cocite", ours, len(graph.links), peak, disk, 1.0)],
        )
        show("Passes", ["pass", "seconds"], [[name, f"{value:.1f}"] for name, value in ours["passes"].items()])
        print(f"\n{ours['bytes'] / ours['links']:.1f} bytes per link; faults found by check: {ours['faults']}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
