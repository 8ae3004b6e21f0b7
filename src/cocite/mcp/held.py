"""The store that assistants ask: opened once, made ready in the background, opened anew when it has changed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from cocite.errors import BadStore, CociteError
from cocite.log import Log
from cocite.operations import DEFAULT_METHOD
from cocite.related.methods import method
from cocite.results.ask import ask, question
from cocite.snapshot import Snapshot, pointer_of, stamp_of

T = TypeVar("T")


class Held:
    """A store; any thread may ask it."""

    def __init__(self, path: Path) -> None:
        self._path, self._log, self._lock = path, Log(), threading.Lock()
        self._open()

    def _open(self) -> None:
        self._web = Snapshot(self._path)
        self._web.open_parts()
        self._making = threading.Thread(target=self._make_ready, args=(self._web,), daemon=True)
        self._making.start()

    def _make_ready(self, web: Snapshot) -> None:
        """Have loops compiled or loaded, then what the store lacks made; a question would wait for both."""
        with suppress(CociteError, OSError):
            if web.graph.pages:
                best = web.graph.address(int(web.graph.in_degree.argmax()))
                ask(web, question(web.graph, [best]), method(DEFAULT_METHOD))
        web.build_parts(self._log.write)

    @property
    def pages(self) -> int:
        """Pages of the store."""
        return self._web.graph.pages

    def current(self) -> Snapshot:
        """The store as it is now. While it is made ready, which changes files too, it is not looked at."""
        with self._lock:
            if not self._making.is_alive() and stamp_of(self._path, pointer_of(self._path)) != self._web.stamp:
                with suppress(BadStore, OSError):  # half-way through a change, or gone: the one that is open still is
                    self._open()
            return self._web

    def ask(self, work: Callable[[Snapshot], T]) -> T:
        """What a question finds; if it lacks a part that is being made, when that is made. Raises a CociteError."""
        web = self.current()
        making = self._making
        try:
            return work(web)
        except BadStore:
            if not making.is_alive():
                raise
        making.join()
        return work(web)
