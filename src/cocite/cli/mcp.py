"""cocite mcp: the store for assistants."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cocite.cli import options as given
from cocite.errors import BadParameter


def mcp(
    index: given.Index = Path("web.cocite"),
    http: Annotated[bool, typer.Option("--http", help="Serve by HTTP instead of standard input and output.")] = False,
    host: Annotated[str, typer.Option(metavar="HOST", help="With --http: where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="With --http: 0 takes any free.")] = 8001,
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="With --http: a name by which others address this machine; may be repeated; * is any."
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, max=600, help="In which a question is answered.")
    ] = 60.0,
) -> None:
    """Let assistants ask a store, by the Model Context Protocol.

    Tools: related_pages, compare, hubs, communities, keywords, links. An assistant starts this command itself and talks
    with it by standard input and output; with --http it runs for several, at /mcp. Nothing is sent anywhere else.

    \b
    Examples:
      cocite mcp -i /data/web.cocite
      cocite mcp --http --port 8001
      cocite mcp --http --host 0.0.0.0 --name related.example.org
    """
    try:
        from mcp.server import mcpserver  # noqa: F401

        from cocite.mcp.run import PATH, security_of, serve_http, serve_stdio
    except ModuleNotFoundError as error:
        raise BadParameter(f"this needs {error.name}: install it with pip install 'cocite[mcp]'") from error
    from cocite.graph.generation import read_current

    read_current(index)  # says what is wrong before anything is begun
    if not http:
        if name or host != "127.0.0.1" or port != 8001:
            raise BadParameter("--host, --port and --name are for serving by HTTP: give --http too")
        return serve_stdio(index, timeout)
    from cocite.http.run import address_of, listen
    from cocite.http.settings import Settings

    security = security_of(host, name or [])
    listening = listen(Settings(index, host, port))
    typer.echo(f"serving {index} to assistants at {address_of(listening)}{PATH} (Ctrl-C ends it)", err=True)
    serve_http(index, timeout, listening, security)
