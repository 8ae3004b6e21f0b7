"""A web server on loopback that serves files as publishers do, and fails as they do."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FileServer(ThreadingHTTPServer):
    """Files by path; `log` has the path and the Range header of every request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.log: list[tuple[str, str]] = []
        self.cuts: list[int] = []  # bytes after which the next responses break off
        self.stall_after = -1  # bytes after which a response waits until `go_on` is set
        self.go_on = threading.Event()
        self.redirects: dict[str, str] = {}
        self.statuses: list[int] = []  # of the next responses
        self.ranges = self.lengths = self.validators = True  # whether the server has them

    def handle_error(self, *_: object) -> None:
        """Ignore clients that went away."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: FileServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server, wanted = self.server, self.headers.get("Range", "")
        server.log.append((self.path, wanted))
        if server.statuses and (status := server.statuses.pop(0)) != 200:
            return self.answer(status, b"")
        if self.path in server.redirects:
            return self.answer(302, b"", Location=server.redirects[self.path])
        if self.path not in server.files:
            return self.answer(404, b"")
        content = server.files[self.path]
        tag = f'"{hash(content) & 0xFFFFFFFF:x}"'
        about = {"ETag": tag} if server.validators else {}
        if self.headers.get("If-None-Match") == tag:
            return self.answer(304, b"", **about)
        found = re.fullmatch(r"bytes=(\d+)-", wanted)
        if found and server.ranges and self.headers.get("If-Range") == tag:
            first, size = int(found[1]), len(content)
            if first >= size:
                return self.answer(416, b"", **{"Content-Range": f"bytes */{size}"})
            return self.answer(206, content[first:], **about, **{"Content-Range": f"bytes {first}-{size - 1}/{size}"})
        return self.answer(200, content, **about)

    def answer(self, status: int, content: bytes, **headers: str) -> None:
        cut = self.server.cuts.pop(0) if self.server.cuts and status in (200, 206) else len(content)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.server.lengths or status not in (200, 206):
            self.send_header("Content-Length", str(len(content) if status != 304 else 0))
        self.send_header("Connection", "close")
        self.close_connection = True
        self.end_headers()
        if 0 <= self.server.stall_after < len(content):
            self.wfile.write(content[: self.server.stall_after])
            self.server.go_on.wait(60)
        else:
            self.wfile.write(content[:cut])

    def log_message(self, *_: object) -> None:
        """Nothing on standard error."""


@contextmanager
def serving() -> Iterator[FileServer]:
    """A server that runs meanwhile."""
    with FileServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
