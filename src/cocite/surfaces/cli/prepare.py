"""Compiling with two processes instead of one, in the first build on a machine.

Numba compiles one loop at a time, in the order in which a build comes to them, and the first of them, which keys
addresses, takes as long as all others. So while a build waits for that one, a second process builds a web of two pages,
keying their addresses in plain Python, and has the other loops in Numba's cache on disk when the first comes to them.
Nothing depends on it: if it fails, the first process compiles everything itself.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES = (("https://a.example/", "https://b.example/c"), ("https://b.example/c", "https://a.example/"))


@contextmanager
def helper() -> Iterator[Callable[[], None]]:
    """A function that starts the second process, which ends with the context at the latest."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        if not started and (os.cpu_count() or 1) > 1:
            command = [sys.executable, "-m", "cocite.surfaces.cli.prepare"]
            nowhere = subprocess.DEVNULL
            started.append(
                subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)
            )

    try:
        yield start
    finally:
        for process in started:
            process.kill()
            process.wait()


def compile_most() -> None:
    """Build a web of two pages without the loop that keys addresses."""
    from cocite.graph import spill
    from cocite.graph.build import BuildOptions, build
    from cocite.sources.open_source import Source
    from cocite.sources.records import Link, Page, Report

    spill.key_addresses = keyed_plainly  # type: ignore[attr-defined]
    report = Report()
    pages = [
        Page(
            url,
            "title",
            "text",
            [Link(target, "text", 0, "context")],
            ["heading"],
            200,
            captured="2020-01-01",
            lang="en",
        )
        for url, target in PAGES
    ]
    source = Source("two pages", "records", 0, report, lambda: iter(pages))
    with tempfile.TemporaryDirectory(prefix="cocite-prepare-") as folder:
        build([source], Path(folder) / "web.cocite", report, BuildOptions())


def keyed_plainly(data: Any, offsets: Any) -> Any:
    """Does what `key_addresses` does, slowly, for addresses without faults; the fingerprints are others."""
    import numpy as np

    from cocite.kernels.addresses import Keyed
    from cocite.pages.address import parse
    from cocite.pages.key import key

    texts = [data[start:stop].tobytes().decode() for start, stop in pairwise(offsets.tolist())]
    keys = [key(parse(text).canonical).encode() for text in texts]
    ends = np.append(0, np.cumsum([len(one) for one in keys])).astype(np.int64)
    numbers = [int.from_bytes(hashlib.blake2b(one, digest_size=8).digest(), "little") for one in keys]
    flags = np.zeros(len(keys), np.uint8)
    return Keyed(np.array(numbers, np.uint64), flags, np.frombuffer(bytearray(b"".join(keys)), np.uint8), ends, {}, [])


if __name__ == "__main__":
    compile_most()
