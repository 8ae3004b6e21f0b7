"""How a server is set up, and what it takes from strangers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

MOST_K = 1000
MOST_PAGES = 50
"""Query pages of one question, unwanted ones included."""
LONGEST_ADDRESS = 4096
LONGEST_TEXT = 1000
"""Characters of a search, of a method with its parameters, and of every other text."""
LARGEST_BODY = 1 << 20
"""Bytes of a page record."""
LONGEST_QUERY = 1 << 16
"""Bytes of everything after the question mark: uvicorn takes no longer line anyway."""


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Settings:
    """One server."""

    store: Path
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    threads: int = 0  # that work on questions, in each worker; 0: one a core, and at least two
    queue: int = 0  # questions that may wait, in each worker; 0: 32 for each thread
    timeout: float = 10.0  # seconds in which a question is answered
    cache: int = 256 << 20  # bytes, in each worker
    adapt: bool = True  # limits follow the load
    watch: float = 2.0  # seconds between looks at the store
    cors: tuple[str, ...] = ()  # origins whose pages may ask
    quiet: bool = False  # no line of log for a request that succeeds
    study: Path | None = None  # the folder of a rating study

    @property
    def working(self) -> int:
        """Threads that work on questions."""
        return self.threads or max(2, usable_cores() // max(1, self.workers))

    @property
    def waiting(self) -> int:
        """Questions that may wait."""
        return self.queue or 32 * self.working
