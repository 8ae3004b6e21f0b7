"""A small store, and a server of it that is asked in this process."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

from cocite.http.app import make_app
from cocite.http.front import Front
from cocite.http.metrics import Metrics, SharedCounters
from cocite.http.responses import Reply, to_json
from cocite.http.service import Service
from cocite.http.settings import Settings
from cocite.log import Log
from cocite.snapshot import Snapshot
from cocite.sources.records import Link, Page
from tests.graph.webs import make

NASTY = "<script>alert(1)</script> \"quoted\" 'q' & \u202egnp\x07 </title>]]>"
EVIL = "https://evil.example/'onmouseover='alert(1)"
BIRDS, FISH = "https://birds.example/", "https://fish.example/"
NAMES = ("robin", "wren", "finch", "heron")
PAGES = [
    *(
        Page(
            f"https://list{n}.example/all",
            f"List {n} of birds" if n else NASTY,
            text="birds of all kinds and feathers",
            links=[Link(f"https://{name}.example/", name.title(), 0) for name in NAMES[: 4 - n % 2]]
            + [Link(EVIL, NASTY, 0), Link(BIRDS, "Birds", 1)],
            headings=["Songbirds", "General"],
            lang="en",
            captured=f"202{n}-01-01",
        )
        for n in range(5)
    ),
    Page(BIRDS, "All about birds", text="feathers and wings", links=[Link("https://robin.example/", "Robin")]),
    Page(FISH, "Fish", text="scales and fins", links=[Link(BIRDS, "birds too")]),
    Page("https://lonely.example/", "Nobody links here"),
]
T = TypeVar("T")


class Response(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, read."""
        return json.loads(self.body)

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()


class Asking:
    """A server in this process; what is written to its log is in `log`."""

    client = "192.0.2.1"  # who asks

    def __init__(self, store: Path, **settings: Any) -> None:
        self.runner = asyncio.Runner()
        self._written = io.BytesIO()
        self.service = self.run(self._start(Settings(store, **settings)))
        self.front = Front(make_app(self.service), self.service)

    async def _start(self, settings: Settings) -> Service:
        service = Service(settings, Metrics(SharedCounters(1)), Log(self._written))
        service.web.build_parts(service.log.write)
        return service

    @property
    def log(self) -> list[dict[str, Any]]:
        """All lines of the log."""
        self.service.log.flush()
        return [json.loads(line) for line in self._written.getvalue().splitlines()]

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Have something done by the event loop."""
        return self.runner.run(work)

    def get(self, target: str, **headers: str) -> Response:
        """GET."""
        return self.run(self.ask("GET", target, **headers))

    def post(self, target: str, body: bytes | dict[str, Any], **headers: str) -> Response:
        """POST."""
        return self.run(
            self.ask("POST", target, body if isinstance(body, bytes) else json.dumps(body).encode(), **headers)
        )

    async def ask(self, method: str, target: str, body: bytes = b"", **headers: str) -> Response:
        """One request through the whole application."""
        path, _, query = target.partition("?")
        scope = {
            "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query.encode(),
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
            "client": (self.client, 1), "server": ("test", 80), "scheme": "http", "http_version": "1.1",
            "root_path": "", "asgi": {"version": "3.0"},
        }  # fmt: skip
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.front(scope, receive, send)
        names = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Response(sent[0]["status"], names, b"".join(each.get("body", b"") for each in sent[1:]))

    def close(self) -> None:
        """End it."""
        self.service.close()
        self.runner.close()


@dataclass(frozen=True)
class Plain:
    """A question whose answer is what a function finds."""

    route: str
    parts: tuple[Any, ...]
    find: Callable[[Snapshot], Any] = field(compare=False)
    slow: bool = False

    def keys(self, web: Snapshot) -> tuple[tuple[Any, ...], ...]:
        """What the answer depends on."""
        return ((self.route, *self.parts),)

    def work(self, web: Snapshot, load: int) -> Reply:
        """The answer."""
        return Reply(200, to_json(self.find(web)))


@pytest.fixture(scope="session")
def made(fast_root: Path) -> Iterator[Path]:
    """The store of PAGES with all that is kept beside it; not to be changed."""
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        store = Path(folder) / "web.cocite"
        make(store, PAGES)
        Asking(store).close()  # makes search index, keywords and so on
        yield store


@pytest.fixture(scope="session")
def asking(made: Path) -> Iterator[Asking]:
    """A server of that store that many tests ask."""
    server = Asking(made, names=("testserver",))  # as schemathesis calls it
    yield server
    server.close()


@pytest.fixture
def own(made: Path, place: Path) -> Path:
    """A copy of that store, to be changed."""
    shutil.copytree(made, place / "web.cocite")
    return place / "web.cocite"
