"""A log of JSON lines on standard error: one object a line, `time`, `level` and `event` first.

Lines are gathered and written together, a few times a second: at thousands of requests a second a write for each would
cost as much as the answers.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import IO, Any

import orjson

ENOUGH = 64
"""Lines that are written at once."""


class Log:
    """Where a server says what it does."""

    def __init__(self, stream: IO[bytes] | None = None, worker: int = 0) -> None:
        self._stream = stream or sys.stderr.buffer
        self._about = {"worker": worker} if worker else {}
        self._lines: list[bytes] = []

    def say(self, event: str, level: str = "info", **facts: Any) -> None:
        """Note an event, and write it at once."""
        self.note(event, level, **facts)
        self.flush()

    def note(self, event: str, level: str = "info", **facts: Any) -> None:
        """Note an event, to be written soon."""
        line = {"time": now(), "level": level, "event": event, **self._about, **facts}
        self._lines.append(orjson.dumps(line, default=str, option=orjson.OPT_APPEND_NEWLINE))
        if len(self._lines) >= ENOUGH:
            self.flush()

    def flush(self) -> None:
        """Write what was noted. A reader that went away is no reason to stop serving."""
        lines, self._lines = self._lines, []
        if lines:
            with suppress(OSError, ValueError):
                self._stream.write(b"".join(lines))
                self._stream.flush()


def now() -> str:
    """The time as ISO 8601 has it, in UTC, to the millisecond."""
    moment = time.time()
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(moment))}.{int(moment * 1000) % 1000:03d}Z"
