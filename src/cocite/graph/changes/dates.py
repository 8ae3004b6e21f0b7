"""A store as of a date: built from the captures that were known then, kept beside the store, and opened again.

`dates/ID-DATE/` in a store is a store of its own, built by the passes of any build. So everything works on it, and its
answers are those of a store built from these captures. At most MAX_DATES are kept, those that were used last; a
change of the store removes all. Where a store can't be written, the graph is built in memory.

A build takes longer than a server lets anybody wait. So a server builds in a thread of its own: a question that is
cancelled ends at once, and the build goes on for the next one.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import copy_context
from functools import partial
from math import ceil
from pathlib import Path

from cocite.budget import NO_LIMIT, limited, spend
from cocite.errors import BadParameter, BadStore, TooSoon
from cocite.graph.arrays import IN_MEMORY
from cocite.graph.changes.history import CaptureHistory, history_of
from cocite.graph.generation import DATES, Progress, digest, kept_dates, no_progress, remove_dates
from cocite.graph.side import only_one
from cocite.graph.store import Graph

MAX_DATES = 8  # kept beside a store
BUILD_BYTES = 1 << 30  # memory for building one, roughly
FREE_SECONDS, BUILD_SHARE = 60.0, 0.2
"""A server may spend this much time at once on building dates, and then this share of its time."""
WAIT_SECONDS = 0.05
"""How soon a question that waits for a date learns that it was cancelled."""
_one_at_a_time = threading.Lock()


class BuildTime:
    """The time that a server may spend on building dates: who asks for one more than are kept makes it build forever.

    Dates that are open or kept cost none of it. Builds come one at a time.
    """

    def __init__(self, seconds: float = FREE_SECONDS, share: float = BUILD_SHARE) -> None:
        self._most, self._share = seconds, share
        self._left, self._as_of = seconds, time.monotonic()

    @contextmanager
    def spent(self) -> Iterator[None]:
        """Build within this context; raises TooSoon if earlier builds took too long."""
        began = time.monotonic()
        self._left, self._as_of = min(self._most, self._left + self._share * (began - self._as_of)), began
        if self._left <= 0:
            after = max(1, ceil(-self._left / self._share))
            raise TooSoon(f"Too many dates in the past were built lately; try again in {after} s", after)
        try:
            yield
        finally:
            self._left -= time.monotonic() - began


BUILD_TIME = BuildTime()
"""That of this process, for all stores and their generations."""


class DateBuilds:
    """Builds dates in a thread, one at a time, whether or not somebody still waits for them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: tuple[Path, Future[Graph]] | None = None

    @property
    def is_building(self) -> bool:
        """Whether a date is being built."""
        return self._running is not None

    def graph(self, path: Path, build: Callable[[], Graph]) -> Graph:
        """The graph of a date, when it is built, after those that are built before. Raises what `build` raises.

        Raises TooMuchWork when the question that waits is cancelled.
        """
        while True:
            with self._lock:
                if self._running is None:
                    self._running = path, Future()
                    work = partial(copy_context().run, self._build, self._running[1], build)
                    threading.Thread(target=work, name="cocite-date", daemon=True).start()
                building, future = self._running
            wait([future], WAIT_SECONDS)
            if building == path and future.done():
                return future.result()
            spend()

    def _build(self, future: Future[Graph], build: Callable[[], Graph]) -> None:
        try:
            future.set_result(build())
        except BaseException as error:
            future.set_exception(error)
        with self._lock:
            self._running = None  # or it would keep the date open


BUILDS = DateBuilds()
"""Those of this process."""


def day_of(graph: Graph, seconds: float) -> tuple[CaptureHistory, int]:
    """The history of a store, and the newest day of captures up to a moment; raises BadParameter."""
    history = history_of(graph)
    if history is None:
        raise BadParameter(
            f"Dates need a store with history, and {graph.path} keeps only the newest capture of each page: "
            "build one with cocite build SOURCE... --history -o STORE"
        )
    return history, history.day_index(seconds)


def graph_of_day(
    history: CaptureHistory, index: int, progress: Progress = no_progress, allowed: BuildTime | None = None
) -> Graph:
    """The graph of the captures up to a day, by its index: opened if it is kept, else built, which may be limited."""
    graph, folder = history.graph, history.graph.path / DATES
    path = folder / f"{graph.manifest['id']}-{history.dates[index - 1]}"
    if graph.path == IN_MEMORY:
        return _build(history, index, None, progress, allowed)
    with suppress(BadStore):  # there is none, or it is removed meanwhile, or damaged: built anew
        return _opened(path)
    made = partial(_made, history, index, path, progress, allowed)
    return made() if allowed is None else BUILDS.graph(path, made)


def _made(history: CaptureHistory, index: int, path: Path, progress: Progress, allowed: BuildTime | None) -> Graph:
    """The graph of a day: opened if somebody has built it meanwhile, else built and kept, or built in memory."""
    graph, folder = history.graph, path.parent
    with _one_at_a_time:
        try:
            with only_one(graph, DATES, "a date in the past"):
                with suppress(BadStore):
                    return _opened(path)
                folder.mkdir(exist_ok=True)
                with suppress(BadStore):  # a change of the store removes it meanwhile, or it can't be built
                    _build(history, index, path, progress, allowed)
                    others = [each for each in kept_dates(folder) if each != path]  # those not used for longest go
                    others.sort(key=lambda each: each.stat().st_mtime)
                    remove_dates(others[: max(0, len(others) - MAX_DATES + 1)])
                    return _opened(path)
        except (BadStore, OSError) as error:
            if os.access(graph.path, os.W_OK) and not isinstance(error, OSError):
                raise
        return _build(history, index, None, progress, allowed)


def _opened(path: Path) -> Graph:
    graph = Graph(path)
    with suppress(OSError):
        os.utime(path)
    return graph


def _build(
    history: CaptureHistory, index: int, path: Path | None, progress: Progress, allowed: BuildTime | None
) -> Graph:
    """Build the graph of a day, as a store at `path`, or in memory."""
    from cocite.graph.build.passes import BuildOptions, Past, build, build_in_memory
    from cocite.sources.records import ReadReport

    graph, past = history.graph, Past(history, index)
    anchors, text = (bool(graph.manifest.get("options", {}).get(name, True)) for name in ("anchors", "text"))
    threads = 0 if path is None else 2
    options = BuildOptions(anchors, text, memory=BUILD_BYTES, platforms=_platforms(graph), threads=threads)
    within: AbstractContextManager[None] = nullcontext() if allowed is None else allowed.spent()
    with within, limited(NO_LIMIT):  # whoever asks first pays with time, not with the budget of a question
        if path is None:
            return Graph(build_in_memory([], ReadReport(), options, past=past, removed=graph.removed))
        build([], path, ReadReport(), options, progress, remove=graph.removed, past=past)
    return Graph(path)


def _platforms(graph: Graph) -> Path | None:
    """The table of platforms that a store was built with."""
    if not graph.manifest.get("platforms"):
        return None
    for source in graph.manifest.get("sources", ()):
        file = Path(source.get("said", {}).get("platforms", ""))
        if file.is_file() and digest(file.read_bytes()) == graph.manifest["platforms"]:
            return file
    raise BadStore(f"{graph.path} was built with its own table of platforms, which is gone: restore it, or build again")
