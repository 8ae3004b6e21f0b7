"""uvicorn's HTTP connection, with two more limits on the head of a request: its size, and the time it may take.

Without them a stranger could fill the memory with one endless line, or all connections with heads that never end.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from cocite.http.responses import error_reply
from cocite.http.settings import MAX_QUERY_BYTES

HEAD_SECONDS = 10.0
MAX_HEAD_BYTES = MAX_QUERY_BYTES + (16 << 10)
UNREADABLE = error_reply(400, "BadRequest", "Not an HTTP request, or too long", "Ask about fewer pages at once").body


class LimitedConnection(HttpToolsProtocol):
    """One connection. A timer runs while it waits for the head of a request, or for its rest."""

    _timer: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._restart_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Wait for the rest of a head."""
        self._head_bytes = 0
        self._restart_timer()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Count a part of the address."""
        self._count_head(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header."""
        self._count_head(name + value)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is complete: stop the timer."""
        self._stop_timer()
        super().on_headers_complete()

    def _count_head(self, part: bytes) -> None:
        self._head_bytes += len(part)
        if self._head_bytes > MAX_HEAD_BYTES:
            raise ValueError("the head of the request is too long")  # uvicorn answers with 400

    def _restart_timer(self) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def send_400_response(self, msg: str) -> None:
        """Answer an unreadable request with an error in the usual shape."""
        head = b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n"
        self.transport.write(head + b"content-length: %d\r\n\r\n" % len(UNREADABLE) + UNREADABLE)
        self.transport.close()
