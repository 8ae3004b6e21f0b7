"""Methods on damaged stores: a program, so that a crash cannot hide.

`python -m tests.related.methods.damage STORE` spoils what kernels read of copies of a store, one array after another,
asks, and prints what was raised beside the errors for users.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from cocite.errors import CociteError
from cocite.graph.generation import read_current
from cocite.related import methods
from cocite.results.ask import ask, question
from cocite.results.workers import answer
from cocite.web import Web
from tests.graph.damage import make_noise, reseal
from tests.graph.webs import THOROUGH
from tests.related.methods.long_web import CHILD, FULL, QUERY, TARGETS

METHODS = [
    "auto",
    "cocitation",
    "cocitation(window=0, merge=false)",
    "companion",
    "extended_cocitation",
    "hubfinder",
    "kleinberg",
    "proximity",
    "simrank",
]
CASES = [([QUERY], {}), ([QUERY], {"rel": "follow"}), ([FULL, TARGETS[5910]], {}), ([CHILD], {"unit": "host"})]
KINDS = ("best.", "in.", "near.", "out.", "page.site", "repeat.", "sample.")


def faults(store: Path) -> Iterator[str]:
    """What asking a store raises beside errors for users."""
    try:
        web = Web(store)
    except CociteError:
        return
    for name in METHODS:
        for urls, given in CASES:
            try:
                ask(web, question(web.graph, urls), methods.method(name, given), 10)
            except CociteError:
                pass
            except Exception:
                yield f"{name} {given} {urls}: {traceback.format_exc(limit=-3)}"
    try:
        answer(web, methods.method("cocitation"), np.arange(40, dtype=np.uint32), 5)
    except CociteError:
        pass
    except Exception:
        yield f"many at once: {traceback.format_exc(limit=-3)}"


def trials(store: Path) -> Iterator[str]:
    """Every array that loops read, full of the greatest number, and with noise."""
    folder, manifest = read_current(store)
    dice = random.Random(3)
    for name in manifest["arrays"]:
        size = (folder / f"{name}.bin").stat().st_size
        for noisy in range((20 if THOROUGH else 2) if size and name.startswith(KINDS) else 0):
            with tempfile.TemporaryDirectory(dir=store.parent) as place:
                copy = Path(shutil.copytree(store, Path(place) / "copy"))
                file = copy / folder.name / f"{name}.bin"
                make_noise(file, dice) if noisy else file.write_bytes(b"\xff" * size)
                reseal(copy)
                yield from (f"{name}: {fault}" for fault in faults(copy))


if __name__ == "__main__":
    json.dump(list(trials(Path(sys.argv[1]))), sys.stdout)
