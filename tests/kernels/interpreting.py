"""Build webs and ask them everything. A program, because a kernel that a process has compiled isn't interpreted there.

`python -m tests.kernels.interpreting FOLDER [few]` prints what `everything` found, and which kernels were compiled.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from cocite.cli.tasks.demo import build_sample
from cocite.errors import CociteError
from cocite.graph.build.passes import BuildOptions, build
from cocite.kernels import jit
from cocite.kernels.interpreted import interpreting
from cocite.operations.pages.hubs import Hubs
from cocite.operations.pages.related import Related
from cocite.operations.words.keywords import FindKeywords
from cocite.related import methods
from cocite.sources.records import Link, Page, ReadReport, batches
from cocite.web import Web

WEBS = 2
DENSE = {"block_simrank", "integrated", "link_similarity", "matchsim", "prank", "probabilistic_simrank", "walk"}
"""Methods that compile: they work on all pairs of pages, or for long."""
WELL_KNOWN = ("nytimes.com", "louvre.fr")


class Given:
    """Page records as a source."""

    spec = kind = "records"

    def __init__(self, pages: list[Page]) -> None:
        self.pages = pages

    def records(self) -> Iterator[Any]:
        return batches(self.pages)


def random_web(seed: int) -> list[Page]:
    """Lists in sections, texts, copies, redirects, pages of one site, odd addresses."""
    dice = random.Random(seed)
    sites = [f"https://{'www.' * dice.randrange(2)}site{n}.example" for n in range(dice.randint(3, 40))]
    known = [f"{dice.choice(sites)}/{dice.choice(['', 'a', 'B?q=1', 'ü/ß', 'x.html'])}" for _ in range(60)]
    words = [f"word{n}" for n in range(50)]

    def text(count: int) -> str:
        return " ".join(dice.choice(words) for _ in range(dice.randrange(count)))

    pages = []
    for n in range(dice.randint(20, 90)):
        size, headings = dice.randint(1, 9), [text(3) for _ in range(dice.randrange(4))]
        links = [Link(dice.choice(known), text=text(4), block=at // size) for at in range(dice.randrange(40))]
        url = f"https://list{n}.example/" if dice.random() < 0.7 else dice.choice(known)
        pages.append(Page(url, title=text(5), text=text(40), links=links, headings=headings))
        if dice.random() < 0.2:
            pages.append(Page(f"https://copy{n}.example/", title="A copy", links=links))
        if dice.random() < 0.1:
            pages.append(Page(f"https://old{n}.example/", redirect=url))
    return pages


def everything(folder: Path) -> dict[str, Any]:
    """Digests of all arrays of some stores, and what all quick methods answer there, with reasons."""
    stores, found = [build_sample(folder / "sample", lambda *_: None)[0]], dict[str, Any]()
    for seed in range(WEBS):
        path = folder / f"web{seed}"
        stores.append(build([Given(random_web(seed))], path, ReadReport(), BuildOptions(threads=1 + seed % 2)).path)
    quick = sorted({*methods.names()} - DENSE)
    for store in stores:
        web, name = Web(store), store.name
        found |= {f"{name} {array}": about["digest"] for array, about in web.graph.manifest["arrays"].items()}
        pages = WELL_KNOWN if name == "sample" else [web.graph.address(page) for page in range(0, web.graph.pages, 41)]
        for url in pages:
            for method in quick if url != "nytimes.com" else ["auto"]:
                found[f"{name} {url} {method}"] = answers(Related(urls=(url,), method=method), web)
            found[f"{name} {url} hubs"] = answers(Hubs(urls=(url,)), web)
        found[f"{name} keywords"] = answers(FindKeywords(words=("word1" if name != "sample" else "museum",)), web)
    return found


def answers(asked: Any, web: Web) -> str:
    """What an operation found, as text."""
    with suppress(CociteError):
        result = asked.run(web)
        return repr(list(result) if isinstance(result, Iterable) else result)
    return "nothing"


if __name__ == "__main__":
    compiled: list[str] = []
    with jit.watch(compiled.append), interpreting() if "few" in sys.argv else nullcontext():
        done = everything(Path(tempfile.mkdtemp(dir=sys.argv[1])))
    json.dump({"found": done, "compiled": compiled}, sys.stdout)
