"""The addresses of all pages at once, for exports: decoded in page order, set down on disk, and mapped.

Links name their targets in any order, so every address must be in reach: on disk, whatever their number.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa

from cocite.graph.generation import Progress
from cocite.graph.store import Graph
from cocite.pages.key import APART, from_key, shown

CHUNK_PAGES = 1 << 14
CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


@contextmanager
def mapped_addresses(graph: Graph, beside: Path | None, progress: Progress, marked: bool = False) -> Iterator[pa.Array]:
    """The addresses as an Arrow array, item p for page p, while the context lasts.

    With `marked` they are in the form that page records need: `name:` before opaque names, `host:` before addresses
    without a scheme. Else they are as shown, on one line. `beside` is a file in whose folder there is room.
    """
    folder = Path(tempfile.mkdtemp(prefix=".cocite-export-", dir=None if beside is None else beside.absolute().parent))
    try:
        ends = [np.zeros(1, np.int64)]
        with (folder / "addresses").open("wb") as file:
            for first in range(0, graph.pages, CHUNK_PAGES):
                texts = [
                    text.encode() for text in addresses(graph, first, min(CHUNK_PAGES, graph.pages - first), marked)
                ]
                file.writelines(texts)
                ends.append(ends[-1][-1] + np.cumsum([len(text) for text in texts]))
                progress("reading names", len(texts), graph.pages)
        data = np.memmap(folder / "addresses", np.uint8, "r") if ends[-1][-1] else np.zeros(1, np.uint8)
        offsets = np.concatenate(ends)
        yield pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def addresses(graph: Graph, first: int, count: int, marked: bool = False) -> Iterator[str]:
    """The addresses of pages [first, first + count)."""
    data, offsets = graph.names.keys(first, count)
    raw, ends = data.tobytes(), offsets.tolist()
    spellings = graph.array("name.spelling")[first : first + count].tolist()
    for i, spelling in enumerate(spellings):
        canonical = from_key(raw[ends[i] : ends[i + 1]].decode("utf-8", "replace"))
        text = graph.address(first + i) if spelling == APART else shown(canonical, spelling)
        if not marked:
            yield CONTROL.sub(" ", text)
        elif canonical.startswith("name:"):
            yield canonical
        else:
            yield text if "://" in text else "host:" + text
