"""A small store for assistants, and a way to ask it with the SDK's own client."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server import Server
from mcp_types import CallToolResult

from cocite.cli.tasks.demo import sample_pages
from cocite.mcp.server import CurrentStore, assistant_server
from cocite.python import build
from mcp import Client
from tests.graph.webs import make
from tests.http.conftest import PAGES


@pytest.fixture(scope="session")
def birds(fast_root: Path) -> Iterator[Path]:
    """The store of the service's tests; not to be changed."""
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        make(Path(folder) / "web.cocite", PAGES)
        yield Path(folder) / "web.cocite"


@pytest.fixture(scope="session")
def server(birds: Path) -> Server[Any]:
    """A server of it in this process, with all that it makes itself."""
    store = CurrentStore(birds)
    store.preparing.join()  # what is asked before goes by links alone
    return assistant_server(store, timeout=120)


@pytest.fixture(scope="session")
def sample(fast_root: Path) -> Iterator[Server[Any]]:
    """A server of the sample web."""
    with tempfile.TemporaryDirectory(dir=fast_root) as folder:
        build([str(sample_pages())], Path(folder) / "web.cocite")
        store = CurrentStore(Path(folder) / "web.cocite")
        store.preparing.join()
        yield assistant_server(store, timeout=120)


def calls(to: Any, *questions: tuple[str, dict[str, Any]]) -> list[CallToolResult]:
    """Ask by the SDK's client, which checks what comes back against the tools' schemas."""

    async def asking() -> list[CallToolResult]:
        async with Client(to) as client:
            await client.list_tools()
            return [await client.call_tool(tool, arguments) for tool, arguments in questions]

    return anyio.run(asking)


def call(to: Any, tool: str, arguments: dict[str, Any]) -> CallToolResult:
    """Ask once."""
    return calls(to, (tool, arguments))[0]


def text(result: CallToolResult) -> str:
    """What an assistant reads."""
    (block,) = result.content
    assert block.type == "text"
    return block.text
