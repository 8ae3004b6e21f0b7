"""uvicorn's reading of HTTP, with two limits that it does not have: on the size of a request's head, and on the time
in which it has to come. Without them a stranger could fill the memory with one endless line, or all connections with
heads that never end.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from cocite.http.replies import error_body
from cocite.http.settings import LONGEST_QUERY

HEAD_SECONDS = 10.0
LONGEST_HEAD = LONGEST_QUERY + (16 << 10)
UNREADABLE = error_body("BadRequest", "this is no HTTP request, or it is too long", "ask about fewer pages at once")


class Limited(HttpToolsProtocol):
    """One connection."""

    _timer: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody is there: now something has to come."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is there any more."""
        self._come()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._head = 0
        self._wait()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """A part of its address."""
        self._grow(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header."""
        self._grow(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._come()
        super().on_headers_complete()

    def _grow(self, by: int) -> None:
        self._head += by
        if self._head > LONGEST_HEAD:
            raise ValueError("the head of the request is too long")  # which uvicorn answers with 400

    def _wait(self) -> None:
        self._come()
        self._timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _come(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """What cannot be read, or is too long, is told in the shape of all errors."""
        head = b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n"
        self.transport.write(head + b"content-length: %d\r\n\r\n" % len(UNREADABLE) + UNREADABLE)
        self.transport.close()
