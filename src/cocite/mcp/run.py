"""The server as a process: on standard input and output, or by HTTP."""

import os
import signal
import socket
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from cocite.errors import BadParameter
from cocite.log import Log
from cocite.mcp.server import CurrentStore, assistant_server
from cocite.serving.connections import IDLE_SECONDS, Connections, Door, allowed_connections
from cocite.serving.mapped import survive_lost_files

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
MAX_BODY_BYTES = 1 << 20
MCP_PATH = "/mcp"
INTERRUPTED_EXIT = 130


def serve_stdio(store: Path, timeout: float) -> None:
    """Answer on standard input and output until the first ends, or Ctrl-C does."""
    # At once: a thread of the SDK waits for standard input, and would keep the process. Nothing is half written.
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED_EXIT))
    survive_lost_files(Log())
    server = assistant_server(CurrentStore(store), timeout)

    async def serve() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(serve)


def serve_http(store: Path, timeout: float, listening: socket.socket, security: TransportSecuritySettings) -> None:
    """Answer by HTTP until a signal ends it. Sessions are not kept: no tool needs one, and a restart loses nothing."""
    app = assistant_server(CurrentStore(store), timeout).streamable_http_app(
        streamable_http_path=MCP_PATH, json_response=True, stateless_http=True, max_request_body_size=MAX_BODY_BYTES,
        transport_security=security,
    )  # fmt: skip
    survive_lost_files(Log())
    protocol: Any = partial(Door, Connections(Log(), timeout, maximum=allowed_connections()))
    config = uvicorn.Config(
        posts_only(app), log_level="warning", access_log=False, server_header=False, proxy_headers=False, ws="none",
        http=protocol, timeout_keep_alive=int(IDLE_SECONDS), timeout_graceful_shutdown=5,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])


def posts_only(app: Any) -> Any:
    """An application that is only posted to. The SDK would keep a connection open for every GET, and send nothing."""

    async def front(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] == "POST":
            await app(scope, receive, send)
            return
        headers = [(b"allow", b"POST"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 405, "headers": headers})
        await send({"type": "http.response.body"})

    return front


def security_of(host: str, names: Sequence[str]) -> TransportSecuritySettings:
    """Which Host and Origin headers are answered: without a check, any web page could ask through its reader's browser.

    Raises BadParameter if other machines may ask, but no name says how they address this one.
    """
    if "*" in names:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    if host not in LOOPBACK_HOSTS and not names:
        raise BadParameter(
            f"--host {host} lets other machines ask: say by --name how they address this one, such as --name "
            "related.example.org, or --name '*' for any"
        )
    hosts = [f"[{name}]" if ":" in name else name for name in (*LOOPBACK_HOSTS, *names)]
    spellings = [f"{name}{port}" for name in hosts for port in ("", ":*")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=spellings,
        allowed_origins=[f"{scheme}://{spelling}" for scheme in ("http", "https") for spelling in spellings],
    )
