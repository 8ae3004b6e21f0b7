"""cocite serve and cocite mcp: a store for browsers, programs and assistants."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cocite.cli import options as shared
from cocite.errors import BadParameter
from cocite.operations.task import parse_size


def serve(
    index: shared.Index = Path("web.cocite"),
    host: Annotated[
        str, typer.Option(metavar="HOST", help="Address to listen on; 0.0.0.0 is every one.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="Port to listen on (0: any free one).")
    ] = 8000,
    workers: Annotated[
        int, typer.Option(metavar="N", min=1, max=64, help="Number of processes; each has its own cache and queue.")
    ] = 1,
    threads: Annotated[
        int, typer.Option(metavar="N", min=0, max=256, help="Questions at once, per process (0: one per core).")
    ] = 0,
    queue: Annotated[
        int, typer.Option(metavar="N", min=0, help="Maximum length of the queue, per process (0: 32 per thread).")
    ] = 0,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, max=600, help="Time limit of a question.")
    ] = 10.0,
    cache: Annotated[str, typer.Option(metavar="SIZE", help="Memory of the cache, per process.")] = "256M",
    adapt: Annotated[
        bool,
        typer.Option("--adapt/--no-adapt", help="Use fewer parents when busy, more when idle; the answer says so."),
    ] = True,
    cors: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Allow requests from this origin, such as https://example.org; * is any."),
    ] = None,
    watch: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, max=3600, help="Time between checks for a new generation.")
    ] = 2.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Log failures only, not every request.")] = False,
    study: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also serve a study of cocite study new, at /study.")
    ] = None,
) -> None:
    """Serve a store: a web page at /, an HTTP interface at /api/, its description at /docs.

    The log goes to standard error, as JSON lines. After cocite add, or another change of the store, the server switches
    to the new one without dropping a request; SIGHUP makes it check at once. SIGTERM and Ctrl-C end it after the last
    pending answer.

    \b
    Examples:
      cocite serve -i web.cocite --study trial
      cocite serve --host 0.0.0.0 --port 80 --workers 4 --cache 1G
      cocite serve --cors https://example.org --no-adapt
    """
    try:
        from cocite.http.run import address_of, listen
        from cocite.http.run import serve as run
        from cocite.http.settings import Settings
    except ModuleNotFoundError as error:
        raise BadParameter(f"Serving needs {error.name}: install it with pip install 'cocite[serve]'") from error
    from cocite.graph.generation import read_current

    read_current(index)  # fails before anything starts
    settings = Settings(
        index,
        host,
        port,
        workers,
        threads,
        queue,
        timeout,
        parse_size(cache, "--cache"),
        adapt,
        watch,
        origins(cors or []),
        quiet,
        study,
    )
    if study is not None:
        from cocite.evaluate.study import read

        read(study)
    listening = listen(settings)
    typer.echo(f"Serving {index} at {address_of(listening)} (Ctrl-C to stop)", err=True)
    raise typer.Exit(run(settings, listening))


def origins(given_: list[str]) -> tuple[str, ...]:
    """Check that these are origins as browsers write them."""
    for origin in given_:
        if origin != "*" and (not origin.startswith(("http://", "https://")) or origin.count("/") != 2):
            raise BadParameter(
                f"--cors must be an origin such as https://example.org, without a path, not {origin!r:.100}"
            )
    return tuple(given_)


def mcp(
    index: shared.Index = Path("web.cocite"),
    http: Annotated[bool, typer.Option("--http", help="Serve by HTTP instead of standard input and output.")] = False,
    host: Annotated[str, typer.Option(metavar="HOST", help="With --http: address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="With --http: port (0: any free one).")
    ] = 8001,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --http: a host name of this server; may be repeated; * is any."),
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, max=600, help="Time limit of a question.")
    ] = 60.0,
) -> None:
    """Serve a store to assistants, by the Model Context Protocol.

    Tools: related_pages, compare, hubs, communities, keywords, links. An assistant starts this command and uses its
    standard input and output; with --http it serves several, at /mcp. Nothing is sent anywhere else.

    \b
    Examples:
      cocite mcp -i /data/web.cocite
      cocite mcp --http --port 8001
      cocite mcp --http --host 0.0.0.0 --name related.example.org
    """
    try:
        from mcp.server import mcpserver  # noqa: F401

        from cocite.mcp.run import MCP_PATH, security_of, serve_http, serve_stdio
    except ModuleNotFoundError as error:
        raise BadParameter(f"cocite mcp needs {error.name}: install it with pip install 'cocite[mcp]'") from error
    from cocite.graph.generation import read_current

    read_current(index)  # fails before anything starts
    if not http:
        if name or host != "127.0.0.1" or port != 8001:
            raise BadParameter("--host, --port and --name need --http")
        return serve_stdio(index, timeout)
    from cocite.http.run import address_of, listen
    from cocite.http.settings import Settings

    security = security_of(host, name or [])
    listening = listen(Settings(index, host, port))
    typer.echo(f"Serving {index} to assistants at {address_of(listening)}{MCP_PATH} (Ctrl-C to stop)", err=True)
    serve_http(index, timeout, listening, security)
