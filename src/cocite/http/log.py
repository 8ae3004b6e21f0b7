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
        """Write an event at once; threads may do that, too."""
        self._write([self._line(event, level, facts)])

    def note(self, event: str, level: str = "info", **facts: Any) -> None:
        """Note an event, to be written soon. Only the event loop does that."""
        self._lines.append(self._line(event, level, facts))
        if len(self._lines) >= ENOUGH:
            self.flush()

    def flush(self) -> None:
        """Write what was noted."""
        lines, self._lines = self._lines, []
        if lines:
            self._write(lines)

    def _line(self, event: str, level: str, facts: dict[str, Any]) -> bytes:
        line = {"time": now(), "level": level, "event": event, **self._about, **facts}
        return orjson.dumps(line, default=str, option=orjson.OPT_APPEND_NEWLINE)

    def _write(self, lines: list[bytes]) -> None:
        """A reader that went away is no reason to stop serving."""
        with suppress(OSError, ValueError):
            self._stream.write(b"".join(lines))
            self._stream.flush()


def now() -> str:
    """The time as ISO 8601 has it, in UTC, to the millisecond."""
    moment = time.time()
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(moment))}.{int(moment * 1000) % 1000:03d}Z"
