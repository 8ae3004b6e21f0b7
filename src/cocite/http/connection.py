"""uvicorn's HTTP connection, with two more limits on the head of a request: its size, and the time it may take.

Without them a stranger could fill the memory with one endless line, or all connections with heads that never end.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from cocite.http.responses import error_body
from cocite.http.settings import MAX_QUERY_BYTES

HEAD_SECONDS = 10.0
MAX_HEAD_BYTES = MAX_QUERY_BYTES + (16 << 10)
UNREADABLE = error_body("BadRequest", "Not an HTTP request, or too long", "Ask about fewer pages at once")


class LimitedConnection(HttpToolsProtocol):
    """One connection."""

    _timer: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start waiting for the first request."""
        super().connection_made(transport)
        self._start_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Start waiting for the rest of a head."""
        self._head = 0
        self._start_waiting()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Count a part of the address."""
        self._grow(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header."""
        self._grow(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is complete: stop waiting."""
        self._stop_waiting()
        super().on_headers_complete()

    def _grow(self, by: int) -> None:
        self._head += by
        if self._head > MAX_HEAD_BYTES:
            raise ValueError("the head of the request is too long")  # uvicorn answers with 400

    def _start_waiting(self) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Answer an unreadable request with an error in the usual shape."""
        head = b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n"
        self.transport.write(head + b"content-length: %d\r\n\r\n" % len(UNREADABLE) + UNREADABLE)
        self.transport.close()
