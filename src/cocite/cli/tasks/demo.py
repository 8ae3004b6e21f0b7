"""cocite demo: the bundled sample web, and pages related to well-known ones."""

from __future__ import annotations

import hashlib
import os
import shlex
import tempfile
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from cocite import __version__
from cocite.cli.terminal import Cell, Screen, seconds
from cocite.errors import BadStore
from cocite.operations.declare import Graph, Progress, Web, operation
from cocite.operations.pages.related import Related
from cocite.operations.task import Task, user_cache
from cocite.parameters import parameter
from cocite.text import count
from cocite.warm import SecondProcess

if TYPE_CHECKING:
    from cocite.cli.progress import Stages

WELL_KNOWN = ["nytimes.com", "postgresql.org", "bmw.com", "louvre.fr"]
RESULTS_SHOWN = 5


@operation(store=False, json=False)
class Demo(Task):
    """Show a sample web at work, in one command.

    The sample comes with cocite: link lists on newspapers, databases, cars, museums and more. The first run on a
    machine also compiles, once.

    Examples:
        cocite demo
        cocite demo python.org lufthansa.com
    """

    shows_itself = True
    urls: tuple[str, ...] = parameter(
        (), "A page to show (default: a few well-known ones)", metavar="URL", positional=True
    )
    output: str = parameter(
        "", "Build the store here (default: in the user's cache)", metavar="STORE", flags=("--output", "-o")
    )

    def do(self, progress: object) -> None:
        """Build the sample unless it is there, and show what is related to its pages."""
        screen = Screen()
        screen.line(("A small web", "bold"), " of hand-written link lists: newspapers, databases, cars, museums …")
        with SecondProcess() as second:
            store = Path(self.output) if self.output else cached_store()
            if not store.exists():  # most likely the first run on this machine; started before a second of imports
                second.start()
            from cocite.cli.progress import display
            from cocite.web import Web

            with display(compiling=second.start) as stages:
                graph, note = sample_graph(store, stages)
                web = Web(graph.path)
                # This process compiles looking up and counts words while the second compiles the rest.
                _ = graph.get(WELL_KNOWN[0]), web.vectors
                second.wait(stages.compile)
        lists = sum(entry["records"] for entry in graph.manifest["sources"])
        counts = f"{count(lists, 'list')}, {count(len(graph.links), 'link')} to {count(graph.pages - lists, 'page')}"
        screen.line((f"{counts}, {note}", "dim"))
        for url in self.urls or WELL_KNOWN:
            screen.blank()
            show(screen, web, url)
        screen.blank()
        show_next(screen, graph)


def sample_graph(store: Path, stages: Stages) -> tuple[Graph, str]:
    """The store of the sample, and a note whether it is from the last run or was built now."""
    from cocite.graph.store import Graph

    try:
        return Graph(store), "from the last run"
    except BadStore:
        store, took = build_sample(store, stages)
        return Graph(store), f"built in {seconds(took)}"


def sample_pages() -> Path:
    """The folder of the bundled pages; a copy of it if cocite is not installed as plain files."""
    bundled = resources.files("cocite.sample").joinpath("pages")
    if isinstance(bundled, Path):
        return bundled
    copy = Path(tempfile.mkdtemp(prefix="cocite-sample-"))
    for page in bundled.iterdir():
        (copy / page.name).write_bytes(page.read_bytes())
    return copy


def cached_store() -> Path:
    """The path of the sample's store: one for every version of cocite and of the sample."""
    checksum = hashlib.blake2b(digest_size=4)
    for page in sorted(sample_pages().iterdir()):
        checksum.update(page.name.encode() + page.read_bytes())
    try:
        folder = user_cache()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, RuntimeError):  # no home, or none that can be written to
        folder = Path(tempfile.mkdtemp(prefix="cocite-"))
    return folder / f"sample-{__version__}-{checksum.hexdigest()}.cocite"


def build_sample(store: Path, stages: Progress) -> tuple[Path, float]:
    """Build the sample, without a search index; returns its path and the seconds it took."""
    from cocite.graph.build.passes import BuildOptions, build
    from cocite.sources.open_source import open_source
    from cocite.sources.records import ReadReport

    report = ReadReport()
    source = open_source(str(sample_pages()), report, kind="markdown")
    built = build([source], store, report, BuildOptions(), stages)
    return built.path, built.seconds


def show(screen: Screen, web: Web, url: str) -> None:
    """The pages most related to one page: the best with all reasons, the others with one line each."""
    from cocite.results.naming import title_of
    from cocite.results.present import briefly, lines

    graph, answers = web.graph, Related(urls=(url,), k=RESULTS_SHOWN).run(web)
    page = graph.find(url)
    title, address, total = title_of(graph, page), graph.address(page), count(int(graph.in_degree[page]), "list")
    screen.line(("Related to ", "dim"), (title or address, "bold"), "  ", (address, "cyan"), (f"  in {total}", "dim"))
    wide = min(26, max((len(answer.title or answer.url) for answer in answers), default=0))
    for answer in answers:
        first, name = answer.rank == 1, Cell(answer.title or answer.url, wide, "bold")
        why = Cell("" if first else briefly(answer), style="dim")
        screen.row(Cell(str(answer.rank), 1, "dim"), name, why, indent=2)
        for line in lines(answer) if first else ():
            screen.row(Cell(line, style="dim"), indent=5)
    if not len(answers):
        screen.line(("Nothing: no list has it together with another page", "dim"), indent=2)


def show_next(screen: Screen, graph: Graph) -> None:
    """What to try next."""
    home = str(Path.home()) if "HOME" in os.environ else ""
    store = shlex.quote(str(graph.path.absolute()))
    if home and store.startswith(home + "/"):
        store = "~" + store.removeprefix(home)
    screen.line(("Try next", "bold"))
    for line, note in (
        (f"export COCITE_INDEX={store}", ""),
        ("cocite related louvre.fr --explain", "all reasons"),
        ("cocite related audi.com bmw.com -m companion", "related to both, by another method"),
        ("cocite compare nytimes.com", "methods side by side"),
        ("cocite links homes.example/~tom/links.html", "a list, with its sections"),
        ("cocite info", "what the store has"),
        ("cocite build bookmarks.html -o web.cocite", "a store of your own"),
    ):
        screen.row(Cell(line, 44 if note else 0, "cyan"), Cell(note, style="dim"), indent=2)
