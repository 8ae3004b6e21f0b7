"""A log of JSON lines on standard error, for servers.

Lines of requests are written together, a few times a second: at thousands of requests a second, one write each would
cost as much as the answers.
"""

import sys
import time
from contextlib import suppress
from typing import IO, Any

import orjson

MAX_BUFFERED_LINES = 64


class Log:
    """Writes events as JSON lines: `time`, `level` and `event`, then facts."""

    def __init__(self, stream: IO[bytes] | None = None, worker: int = 0) -> None:
        self._stream = stream or sys.stderr.buffer
        self.worker = worker
        self._about = {"worker": worker} if worker else {}
        self._lines: list[bytes] = []

    def write(self, event: str, level: str = "info", **facts: Any) -> None:
        """Write an event now; any thread may."""
        self._write([self._line(event, level, facts)])

    def buffer(self, event: str, level: str = "info", **facts: Any) -> None:
        """Write an event soon; only the event loop may."""
        self._lines.append(self._line(event, level, facts))
        if len(self._lines) >= MAX_BUFFERED_LINES:
            self.flush()

    def flush(self) -> None:
        """Write buffered events."""
        lines, self._lines = self._lines, []
        if lines:
            self._write(lines)

    def _line(self, event: str, level: str, facts: dict[str, Any]) -> bytes:
        now = time.time()
        at = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now * 1000) % 1000:03d}Z"
        line = {"time": at, "level": level, "event": event, **self._about, **facts}
        return orjson.dumps(line, default=str, option=orjson.OPT_APPEND_NEWLINE)

    def _write(self, lines: list[bytes]) -> None:
        """Write lines; the server goes on if nobody reads them any more."""
        with suppress(OSError, ValueError):
            self._stream.write(b"".join(lines))
            self._stream.flush()
