"""cocite serve and cocite mcp: a store for browsers, programs and assistants."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from cocite.errors import BadParameter
from cocite.operations import shared
from cocite.operations.declare import operation
from cocite.operations.task import Task, parse_size
from cocite.parameters import parameter

LOCAL_HOST, ASSISTANT_PORT = "127.0.0.1", 8001
ORIGINS = ("http://", "https://", "app://")
"""Of web pages, and of programs that are pages inside, such as Obsidian (app://obsidian.md)."""


@contextmanager
def _installed(what: str, extra: str) -> Iterator[None]:
    """Fail with the command that installs what an import lacks."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise BadParameter(f"{what} needs {error.name}: install it with pip install 'cocite[{extra}]'") from error


@operation(json=False)
class Serve(Task):
    """Serve a store: a web page at /, an HTTP interface at /api/, its description at /docs.

    The log goes to standard error, as JSON lines. After cocite add, or another change of the store, the server switches
    to the new one without dropping a request; SIGHUP makes it check at once. SIGTERM and Ctrl-C end it after the last
    pending answer. With --study, a terminal shows the link of each rater.

    Examples:
        cocite serve -i web.cocite --study trial
        cocite serve --host 0.0.0.0 --port 80 --name related.example.org --workers 4
        cocite serve --open --cors https://example.org --no-adapt
    """

    shows_itself = True
    host: str = parameter(LOCAL_HOST, "Address to listen on; 0.0.0.0 is every one", metavar="HOST")
    port: int = parameter(8000, "Port to listen on (0: any free one)", metavar="PORT", minimum=0, maximum=65535)
    workers: int = parameter(1, "Number of processes; each has its own cache and queue", minimum=1, maximum=64)
    threads: int = parameter(0, "Questions at once, per process (0: one per core)", minimum=0, maximum=256)
    queue: int = parameter(0, "Maximum length of the queue, per process (0: 32 per thread)", minimum=0)
    timeout: float = parameter(10.0, "Time limit of a question", metavar="SECONDS", minimum=0.1, maximum=600)
    cache: str = parameter("256M", "Memory of the cache, per process", metavar="SIZE")
    adapt: bool = parameter(
        True, "Use fewer parents when busy, more when idle; the answer says so", flags=("--adapt/--no-adapt",)
    )
    cors: tuple[str, ...] = parameter(
        (), "Allow requests from this origin, such as https://example.org; * is any", metavar="ORIGIN"
    )
    watch: float = parameter(
        2.0, "Time between checks for a new generation", metavar="SECONDS", minimum=0.1, maximum=3600
    )
    name: tuple[str, ...] = parameter(
        (), "Answer to this host name; localhost and IP addresses are known; may be repeated; * is any", metavar="NAME"
    )
    proxy: tuple[str, ...] = parameter(
        (), "Believe X-Forwarded-For from this address or network; may be repeated (default: this machine)",
        metavar="ADDRESS",
    )  # fmt: skip
    rate: float = parameter(
        0.0, "Requests per second of one client, per process (0: any number)", metavar="N", minimum=0
    )
    read_keys: str = parameter("", "Answer only who sends one of the keys in this file, one per line", metavar="FILE")
    write_key: str = parameter(
        "", "Let who sends this key write; better in the environment: COCITE_SERVE_WRITE_KEY", metavar="KEY"
    )
    record_clicks: bool = parameter(
        False, "Count which results are opened on this machine's web page, for whats_related and recommend"
    )
    metrics_port: int = parameter(
        0, "Serve /metrics at a port of its own (0: at the same one)", metavar="PORT", minimum=0, maximum=65535
    )
    study: str = parameter("", "Also serve a study of cocite study new, at /study", metavar="FOLDER")
    quiet: bool = shared.quiet("Log failures only, not every request")
    open: bool = parameter(False, "Open the page in a browser")

    def do(self, progress: object) -> None:
        """Serve until a signal ends it."""
        with _installed("Serving", "serve"):
            from cocite.http.access import checked_key, read_keys
            from cocite.http.run import address_of, listen, serve
            from cocite.http.settings import LOCAL_PROXIES, Settings
        from cocite.evaluate.tokens import rater_links
        from cocite.graph.generation import read_current

        store, study = Path(self.index), Path(self.study) if self.study else None
        read_current(store)  # fails before anything starts
        same = (
            "host", "port", "workers", "threads", "queue", "timeout", "adapt", "watch", "quiet", "rate", "write_key",
            "record_clicks",
        )  # fmt: skip
        keys = Path(self.read_keys) if self.read_keys else None
        settings = Settings(
            store, cache=parse_size(self.cache, "cache"), cors=origins(self.cors), study=study, names=self.name,
            proxies=self.proxy or LOCAL_PROXIES, read_keys=keys, metrics_port=self.metrics_port,
            **{name: getattr(self, name) for name in same},
        )  # fmt: skip
        if study is not None:
            rater_links(study, "")  # fails before anything starts
        if keys is not None:
            read_keys(keys)
        if self.write_key:
            checked_key(self.write_key)
        listening = listen(self.host, self.port)
        click.echo(f"Serving {store} at {address_of(listening)} (Ctrl-C to stop)", err=True)
        if study is not None:
            show_links(study, rater_links(study, address_of(listening)))
        if self.open:
            open_browser(address_of(listening))
        raise click.exceptions.Exit(serve(settings, listening))


def show_links(study: Path, links: Mapping[str, str]) -> None:
    """Show raters' links on a terminal only: elsewhere this is a log, which must not have their tokens."""
    if not sys.stdout.isatty():
        where = f"{study / 'tokens.json'} has the token of each rater"
        return click.echo(f"Raters open /study?token=TOKEN; {where}", err=True)
    for rater, link in links.items():
        click.echo(f"Rating link{rater and ' of ' + rater}: {link}")


def open_browser(address: str) -> None:
    """Open a page that is about to be served: the socket listens already, so the browser waits."""
    import webbrowser

    address = address.replace("//0.0.0.0", f"//{LOCAL_HOST}").replace("//[::]", "//[::1]")
    if not webbrowser.open(address):
        click.echo(f"No browser was found: open {address} yourself", err=True)


def origins(given: Sequence[str]) -> tuple[str, ...]:
    """Check that these are origins as browsers write them."""
    for origin in given:
        if origin != "*" and (not origin.startswith(ORIGINS) or origin.count("/") != 2):
            raise BadParameter(
                f"--cors must be an origin such as https://example.org, without a path, not {origin!r:.100}"
            )
    return tuple(given)


@operation(name="mcp", json=False)
class ServeAssistants(Task):
    """Serve a store to assistants, by the Model Context Protocol.

    Tools: related_pages, recommend, search, compare, hubs, communities, filter_pages, keywords, links. An assistant
    starts this command and uses its standard input and output; with --http it serves several, at /mcp. Nothing is sent
    anywhere else.

    Examples:
        cocite mcp -i /data/web.cocite
        cocite mcp --http --port 8001
        cocite mcp --http --host 0.0.0.0 --name related.example.org
    """

    shows_itself = True
    http: bool = parameter(False, "Serve by HTTP instead of standard input and output")
    host: str = parameter(LOCAL_HOST, "With --http: address to listen on", metavar="HOST")
    port: int = parameter(
        ASSISTANT_PORT, "With --http: port (0: any free one)", metavar="PORT", minimum=0, maximum=65535
    )
    name: tuple[str, ...] = parameter(
        (), "With --http: a host name of this server; may be repeated; * is any", metavar="NAME"
    )
    timeout: float = parameter(60.0, "Time limit of a question", metavar="SECONDS", minimum=0.1, maximum=600)

    def validate(self) -> None:
        if not self.http and (self.name or self.host != LOCAL_HOST or self.port != ASSISTANT_PORT):
            raise BadParameter("--host, --port and --name need --http")

    def do(self, progress: object) -> None:
        """Serve until standard input or a signal ends it."""
        with _installed("cocite mcp", "mcp"):
            from mcp.server import mcpserver  # noqa: F401

            from cocite.mcp.run import MCP_PATH, security_of, serve_http, serve_stdio
        from cocite.graph.generation import read_current

        store = Path(self.index)
        read_current(store)  # fails before anything starts
        if not self.http:
            return serve_stdio(store, self.timeout)
        from cocite.http.run import address_of, listen

        security, listening = security_of(self.host, self.name), listen(self.host, self.port)
        click.echo(f"Serving {store} to assistants at {address_of(listening)}{MCP_PATH} (Ctrl-C to stop)", err=True)
        serve_http(store, self.timeout, listening, security)
