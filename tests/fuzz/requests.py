"""What a client may send to a server, byte by byte: read, answered or refused, and never a fault of the server.

The bytes go into a connection of a server in this process. The client is one that sends everything at once, waits for
the answers, and goes away; one that has sent half a request goes away at once. The server has every route: it may be
written to, records clicks, and has a rating study. What is written is read as before a commit, but not committed: else
each input would have another store.
"""

from __future__ import annotations

import asyncio
import atexit
import re
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from cocite.evaluate.study import new, read, write
from cocite.evaluate.tokens import read_tokens
from cocite.http import writer
from cocite.http.page.study import COOKIE
from cocite.log import Log
from cocite.related.methods import method
from cocite.serving.connections import Connection, Connections
from cocite.web import Web
from tests.fuzz.store import MEMORY
from tests.graph.webs import make
from tests.http.conftest import PAGES, Asking

ANSWER_SECONDS = 240.0  # kernels may have to be compiled
KEY = "k" * 32
TOKEN = b"$TOKEN"
"""Replaced in what is sent by the cookie of a rater."""
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


class Wire(asyncio.Transport):
    """A connection that keeps what is sent over it."""

    def __init__(self) -> None:
        super().__init__({"peername": ("192.0.2.1", 9), "sockname": ("127.0.0.1", 80)})
        self.sent, self.closed = bytearray(), False

    def write(self, data: Any) -> None:
        if not self.closed:
            self.sent += data

    def close(self) -> None:
        self.closed = True

    abort = close

    def is_closing(self) -> bool:
        return self.closed

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        pass


class CountingWriter:
    """Reads what is written, as the process that writes does, and leaves it at that."""

    def commit(self, kind: str, items: Sequence[str], _: dict[str, bytes]) -> list[Any]:
        """What the items have, or why they can't be used."""
        return [writer.counted(kind, item) for item in items]

    def close(self) -> None:
        """There is no process."""


class FuzzedServer:
    """A server whose store has a few pages, and everything that can be kept beside them."""

    def __init__(self, folder: Path) -> None:
        store, study = folder / "web.cocite", folder / "study"
        make(store, PAGES)
        write(new(Web(store), ["https://robin.example/"], [method("cocitation")], 3), study)
        self.token = f"{COOKIE}={read_tokens(study, read(study))['']}".encode()
        self.asking = Asking(store, cache=1 << 20, write_key=KEY, record_clicks=True, study=study)
        assert self.asking.service.writes is not None
        self.asking.service.writes._writer = CountingWriter()  # type: ignore[assignment]
        self.config = uvicorn.Config(
            self.asking.front, lifespan="off", ws="none", log_config=None, log_level="critical", access_log=False
        )
        self.config.load()

    def send(self, data: bytes) -> list[int]:
        """Send bytes; returns the statuses of the answers."""
        return self.asking.run(self._talk(data))

    async def _talk(self, data: bytes) -> list[int]:
        state, wire, data = ServerState(), Wire(), data.replace(TOKEN, self.token)
        connections = Connections(Log(_Nowhere()), 10.0)
        connection = Connection(connections, self.config, state, {}, asyncio.get_running_loop())
        connection.connection_made(wire)
        connection.data_received(data)
        while state.tasks and connection.state == "answer" and not wire.closed:
            done, _ = await asyncio.wait(set(state.tasks), timeout=ANSWER_SECONDS)
            assert done, "no answer came"
            await asyncio.sleep(0)
        connection.connection_lost(None)
        if state.tasks:
            _, pending = await asyncio.wait(set(state.tasks), timeout=ANSWER_SECONDS)
            assert not pending, "a request went on after its client had gone"
        if connections._timer is not None:
            connections._timer.cancel()
        return [int(status) for status in STATUS.findall(bytes(wire.sent))]


class _Nowhere:
    def write(self, _: bytes) -> int:
        return 0

    def flush(self) -> None:
        pass


@cache
def server() -> FuzzedServer:
    """Made once, and removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="cocite-fuzz-", dir=MEMORY))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return FuzzedServer(folder)


def request(data: bytes) -> None:
    """Whatever is sent, no answer is an internal error, and nothing is logged as a fault."""
    asked = server()
    statuses = asked.send(data)
    assert 500 not in statuses, f"an internal error: {faults(asked)}"


def faults(asked: FuzzedServer) -> list[str]:
    """The faults in the log."""
    return [line["trace"][-600:] for line in asked.asking.log if line["event"] == "fault"][-1:]
