"""Bytes of every file of a store are changed, one at a time: `check` finds it, nothing crashes, nothing builds on it.

A change that `check` does not find must be one that nobody can notice: every question has the same answer. After each
of some changes `add` is run: it refuses, or makes what an undamaged store gives, or leaves the damage where it was, to
be found there; `compact` then refuses. Neither may give its own checksums to what is damaged.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cocite.errors import BadStore, CociteError
from cocite.graph.check import check
from cocite.graph.store import Graph
from cocite.operations.words.keywords import FindKeywords
from cocite.related.methods import method
from cocite.results.ask import Question, ask
from cocite.web import Web
from cocite.words.search import SEARCH
from cocite.words.vectors import VECTORS
from tests.faults.dying import WRONG, command, finished, fork, in_child
from tests.faults.model import LINKS, clicked, content, look, names_of, ranked, store, word
from tests.graph.damage import read_all
from tests.words.read import most_similar, shared_terms

MAX_SECONDS = 120
"""Seconds for all questions after one change: one that does not come to its end is a fault, too."""
METHODS = (
    "auto", "cocitation", "companion", "proximity", "integrated", "whats_related", "lli", "semantic",
    "cocitation(parents=2)",  # as many as are kept ready in `sample`, which none reads that asks for more
)  # fmt: skip
REFUSED = "refused"


class Flipped(NamedTuple):
    """One line of the log: the files of one kind."""

    files: str  # of this kind
    number: int
    flips: int
    found: int  # by check
    harmless: int  # not found, and without any effect
    adds: int  # how often `add` was run on a damaged store
    failed_adds: int  # how often it failed


def flip_all(model: Path, flips: int, seed: int, every: int = 1) -> list[Flipped]:
    """Change every file of the model's store (or each `every`-th of its files) so often; and add to it, once each."""
    files = [file for file in sorted(store(model).rglob("*")) if file.is_file()][seed % every :: every]
    questions(model, without="search")  # loops are loaded here, and not again in each process
    answers = in_child(lambda: questions(model))
    counts: dict[str, Counter[str]] = {}
    with copied(model) as place:
        assert finished(fork(adding(place))) == 0
        after = in_child(lambda: look(place))
    for number, file in enumerate(files):
        name, size = file.relative_to(model), file.stat().st_size
        count = counts.setdefault(kind_of(name), Counter())
        count["number"] += 1
        if not size:  # such as a lock
            continue
        chosen = list(changes(size, flips, seed * 1000 + number))
        count["flips"] += len(chosen)
        count.update(in_child(partial(look_at, model, name, chosen, answers), f"{name}, one of the changes {chosen},"))
        count["adds"] += 1
        count["failed_adds"] += add_to(model, name, chosen[0], after)
    return [Flipped(kind, *(count[field] for field in Flipped._fields[1:])) for kind, count in sorted(counts.items())]


def kind_of(name: Path) -> str:
    """What a file of a store is there for."""
    parts = name.parts[1:]
    if name.suffix == ".lock" or name.name == "lock":
        return "locks"
    if parts[0] == "side":
        return f"side data: {parts[1].split('-')[0].removesuffix('.json')}"
    return {".bin": "arrays", ".layer": "layers"}.get(name.suffix, "pointer and manifest")


def changes(size: int, flips: int, seed: int) -> Iterator[tuple[int, int]]:
    """(place, what is added to the byte there by exclusive or): single bits and whole bytes, in turn."""
    dice = random.Random(seed)
    for number in range(flips):
        yield dice.randrange(size), 1 << dice.randrange(8) if number % 2 else dice.randrange(1, 256)


@contextmanager
def copied(model: Path, name: Path | None = None, change: tuple[int, int] = (0, 0)) -> Iterator[Path]:
    """A place as the model is, but for one byte of a file. The others are the model's own: nobody writes into them."""
    with tempfile.TemporaryDirectory(prefix="flipped-", dir=model.parent) as folder:
        place = Path(shutil.copytree(model, Path(folder) / "place", copy_function=os.link))
        if name is not None:
            data = bytearray((model / name).read_bytes())
            data[change[0]] ^= change[1]
            (place / name).unlink()
            (place / name).write_bytes(data)
        yield place


def look_at(model: Path, name: Path, chosen: list[tuple[int, int]], answers: dict[str, Any]) -> list[str]:
    """What became of each change of one file. For a process of its own: it ends when one takes too long."""
    seen = []
    for change in chosen:
        signal.alarm(MAX_SECONDS)
        with copied(model, name, change) as place:
            try:
                found = bool(check(store(place)))
            except BadStore:
                found = True
            try:
                same = questions(place) == answers
            except Exception as error:
                raise AssertionError(f"{name} with {change[1]:#x} at {change[0]}") from error
            if not found and not same:
                raise AssertionError(f"{name} with {change[1]:#x} at {change[0]}: check finds nothing, answers differ")
            seen.append("found" if found else "harmless")
    return seen


def questions(place: Path, without: str = "") -> dict[str, Any]:
    """The answers to every kind of question, or REFUSED for an error message. Any other exception is a fault."""
    asked: dict[str, Callable[[Web], Any]] = {
        "content": lambda web: content(web.graph, names_of(web.graph)),
        "clicks": lambda web: clicked(web.graph, names_of(web.graph)),
        "rank": lambda web: ranked(web.graph, "pagerank"),
        "vectors": alike,
        "keywords": lambda web: FindKeywords(words=(word(7),)).run(web).to_dict(),
        "page": lambda web: FindKeywords(page="https://site7.example/").run(web).to_dict(),
        "search": lambda web: SEARCH.open(web.graph).search(f"{word(7)} page", 20).hits,
        **{name: lambda web, name=name: related(web, name) for name in METHODS},
    }
    try:
        unexpected = list(read_all(Graph(store(place))))
    except CociteError:
        return {}
    assert not unexpected, unexpected[0]
    return {name: answered(place, question) for name, question in asked.items() if name != without}


def answered(place: Path, question: Callable[[Web], Any]) -> Any:
    """What one question gives, in the form in which processes tell each other."""
    try:
        return json.loads(json.dumps(question(Web(store(place)))))
    except CociteError:
        return REFUSED


def alike(web: Web) -> list[Any]:
    """The pages that each page is most like, and why."""
    vectors = VECTORS.open(web.graph)
    near = {page: most_similar(vectors, page, 3).tolist() for page in range(web.graph.pages)}
    return [
        [page, other, shared_terms(vectors, page, np.array([other], np.uint32))]
        for page, others in near.items()
        for other in others
    ]


def related(web: Web, name: str) -> list[Any]:
    """The answers of one method to some pages, with their reasons."""
    pages = range(0, web.graph.pages, max(1, web.graph.pages // LINKS))
    return [answer.to_dict() for page in pages for answer in ask(web, Question(("",), (page,)), method(name), 5)]


def adding(place: Path) -> Callable[[], None]:
    """More pages for the store of a place."""
    return command("add", place / "new.jsonl", "-i", store(place), "-q")


def add_to(model: Path, name: Path, change: tuple[int, int], after: dict[str, Any]) -> bool:
    """Add to a damaged store; return whether it failed. If the store is clean afterwards, its content is right."""
    where = f"{name} with {change[1]:#x} at {change[0]}, then add"
    with copied(model, name, change) as place:
        code = finished(fork(adding(place)))
        if code not in (0, WRONG):
            raise AssertionError(f"{where}: ended with {code}")
        try:
            clean = not in_child(lambda: [str(fault) for fault in faults_of(place)])
        except AssertionError as error:
            raise AssertionError(f"{where}: {error}") from error
        if clean and (code or in_child(lambda: look(place)) != after):
            raise AssertionError(f"{where}: ended with {code}, and check finds nothing in what is not right")
        if not code and not clean and "side" not in name.parts:
            code = finished(fork(command("compact", "-i", store(place), "-q")))
            if code != WRONG:
                raise AssertionError(f"{where}, then compact: ended with {code}")
    return code == WRONG


def faults_of(place: Path) -> list[Any]:
    """What is wrong with a store."""
    try:
        return list(check(store(place)))
    except BadStore as error:
        return [error]
