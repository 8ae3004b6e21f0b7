"""The server as a process: on standard input and output, or by HTTP."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Sequence
from pathlib import Path

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from cocite.errors import BadParameter
from cocite.mcp.held import Held
from cocite.mcp.server import Assistants

LOOPBACK = ("127.0.0.1", "localhost", "::1")
LARGEST_BODY = 1 << 20
"""Bytes of one request."""
PATH = "/mcp"


def serve_stdio(store: Path, timeout: float) -> None:
    """Answer on standard input and output until the first ends, or Ctrl-C does."""
    signal.signal(signal.SIGINT, _end)
    Assistants(Held(store), timeout).run("stdio")


def _end(number: int, frame: object) -> None:
    """At once: a thread of the SDK waits for standard input, and would keep the process. Nothing is half written."""
    os._exit(128 + signal.SIGINT)


def serve_http(store: Path, timeout: float, listening: socket.socket, security: TransportSecuritySettings) -> None:
    """Answer by HTTP until a signal ends it. Sessions are not kept: no tool needs one, and a restart loses nothing."""
    app = Assistants(Held(store), timeout).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=LARGEST_BODY,
        transport_security=security,
    )
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, proxy_headers=False, ws="none",
        timeout_graceful_shutdown=5,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])


def security_of(host: str, names: Sequence[str]) -> TransportSecuritySettings:
    """Which Host and Origin headers are answered: without a check, any web page could ask through its reader's browser.

    Raises BadParameter where others are let in without a word on how they name this server.
    """
    if "*" in names:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    if host not in LOOPBACK and not names:
        raise BadParameter(
            f"--host {host} lets other machines ask: say by --name how they address this one, such as --name "
            "related.example.org, or --name '*' for any"
        )
    hosts = [f"[{name}]" if ":" in name else name for name in (*LOOPBACK, *names)]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[spelling for name in hosts for spelling in (name, f"{name}:*")],
        allowed_origins=[
            f"{scheme}://{name}{port}" for scheme in ("http", "https") for name in hosts for port in ("", ":*")
        ],
    )
