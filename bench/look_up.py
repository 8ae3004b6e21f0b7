"""How fast the two basic look-ups of a store are: which page is this, and what does it link to?

    python bench/look_up.py STORE

`find` is compared with marisa-trie and with a SQLite index over the same addresses, in the same run, for addresses that
are there, in random order.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import marisa_trie
import numpy as np

from cocite.graph.names import CODED_NAMES
from cocite.graph.store import Graph
from cocite.kernels.codec.lists import read_list
from cocite.kernels.codec.look_up import find_key
from cocite.kernels.codec.name_codec import MAX_KEY_BYTES
from cocite.kernels.jit import kernel
from cocite.pages.key import from_key, key
from tables import microseconds, show

QUESTIONS = 20_000


@kernel
def find_all(names, data, offsets, buffer, found):  # type: ignore[no-untyped-def]
    """Look up keys one after another."""
    for i in range(len(offsets) - 1):
        found[i] = find_key(names, data[offsets[i] : offsets[i + 1]], buffer)


@kernel
def read_all(lists, pages, targets, attributes):  # type: ignore[no-untyped-def]
    """Read lists one after another."""
    total = 0
    for page in pages:
        total += read_list(lists, page, targets, attributes)
    return total


def main() -> None:
    """Print the tables."""
    start = time.perf_counter()
    graph = Graph(sys.argv[1])
    opened = (time.perf_counter() - start) * 1e3
    rng = np.random.default_rng(1)
    pages = rng.choice(graph.pages, min(QUESTIONS, graph.pages), replace=False)
    canonical = [graph.canonical(int(page)) for page in pages]
    shown = [graph.address(int(page)) for page in pages]
    keys = [key(name).encode() for name in canonical]
    data = np.frombuffer(b"".join(keys), np.uint8)
    offsets = np.zeros(len(keys) + 1, np.int64)
    np.cumsum([len(k) for k in keys], out=offsets[1:])
    buffer, found = np.empty(MAX_KEY_BYTES, np.uint8), np.empty(len(keys), np.int64)
    compiled = microseconds(lambda: find_all(graph.names.index, data, offsets, buffer, found)) / len(keys)
    assert (found == pages).all()

    def each(function, questions):  # type: ignore[no-untyped-def]
        return microseconds(lambda: [function(question) for question in questions], at_least=2) / len(questions)

    rows = [
        ["cocite, from compiled code, canonical key", f"{compiled:.2f}"],
        ["cocite, from Python, canonical address", f"{each(graph.find, canonical):.2f}"],
        ["cocite, from Python, as spelled", f"{each(graph.find, shown):.2f}"],
    ]
    everything = all_names(graph)
    trie = marisa_trie.Trie(everything)
    rows.append(["marisa-trie, from Python, canonical address only", f"{each(trie.__getitem__, canonical):.2f}"])
    with tempfile.TemporaryDirectory() as folder:
        database = sqlite3.connect(Path(folder) / "names.sqlite")
        database.execute("CREATE TABLE names (name TEXT PRIMARY KEY, id INTEGER) WITHOUT ROWID")
        database.executemany(
            "INSERT OR IGNORE INTO names VALUES (?, ?)", ((name, i) for i, name in enumerate(everything))
        )
        database.commit()

        def ask(name: str) -> int:
            return int(database.execute("SELECT id FROM names WHERE name = ?", (name,)).fetchone()[0])

        rows.append(["SQLite index, from Python, canonical address only", f"{each(ask, canonical):.2f}"])
        sqlite_size = (Path(folder) / "names.sqlite").stat().st_size
    size = sum(graph.array(name).nbytes for name in CODED_NAMES)
    index = sum(graph.array(name).nbytes for name in ("fingerprint", "look_up.start", "look_up.page"))
    trie_size = len(trie.tobytes())
    show(f"find, {graph.pages:,} pages; open takes {opened:.1f} ms", ["look-up", "µs"], rows)
    show(
        "Size of names",
        ["names", "bytes/page"],
        [
            ["cocite names, both ways", f"{size / graph.pages:.2f}"],
            ["cocite fingerprints and their index", f"{index / graph.pages:.2f}"],
            ["marisa-trie", f"{trie_size / graph.pages:.2f}"],
            ["SQLite", f"{sqlite_size / graph.pages:.2f}"],
            ["plain text", f"{sum(len(name) for name in everything) / graph.pages:.2f}"],
        ],
    )
    lists(graph, rng)


def all_names(graph: Graph) -> list[str]:
    """Every canonical address of a store."""
    from cocite.kernels.codec.name_codec import decode_names

    names, step, found = graph.names.index.names, 1 << 16, []
    buffer, data, offsets = (
        np.empty(MAX_KEY_BYTES, np.uint8),
        np.empty(step * 4096, np.uint8),
        np.zeros(step + 1, np.int64),
    )
    for first in range(0, graph.pages, step):
        count = min(step, graph.pages - first)
        decode_names(names, first, count, buffer, data, offsets)
        raw = data[: offsets[count]].tobytes()
        found += [from_key(raw[offsets[i] : offsets[i + 1]].decode()) for i in range(count)]
    return found


def lists(graph: Graph, rng: np.random.Generator) -> None:
    """Reading lists of about 30 links, and all lists."""
    rows = []
    for name, lists in (("links_from", graph.out), ("links_to", graph.into)):
        about = np.flatnonzero((lists.degree >= 28) & (lists.degree <= 32))
        if not len(about):
            continue
        some = rng.choice(about, min(QUESTIONS, len(about)), replace=False).astype(np.uint32)
        targets, attributes = np.empty(1 << 20, np.uint32), np.empty(1 << 20 if name == "links_from" else 0, np.uint32)
        each = microseconds(partial(read_all, lists, some, targets, attributes)) / len(some)
        ask = graph.links_from if name == "links_from" else graph.links_to
        few = some[:5000].tolist()
        python = microseconds(lambda ask=ask, few=few: [ask(page) for page in few], at_least=2) / len(few)
        rows.append([f"{name}, 28–32 links", f"{each:.2f}", f"{python:.2f}", f"{each / 30 * 1e3:.1f}"])
    show("Lists", ["list", "µs, compiled", "µs, Python", "ns per link"], rows)


if __name__ == "__main__":
    main()
