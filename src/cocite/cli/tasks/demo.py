"""cocite demo: the bundled sample web, and pages related to well-known ones."""

import hashlib
import os
import shlex
import shutil
import sys
import tempfile
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from cocite import __version__
from cocite.cli.terminal import Cell, Screen, seconds, short_address
from cocite.errors import BadStore
from cocite.operations.declare import Graph, Progress, Web, operation
from cocite.operations.pages.related import Related
from cocite.operations.task import Task, user_cache
from cocite.parameters import parameter
from cocite.text import count

if TYPE_CHECKING:
    from cocite.cli.progress import Stages

WELL_KNOWN = ["nytimes.com", "postgresql.org", "bmw.com", "louvre.fr"]
RESULTS_SHOWN = 5


@operation(store=False, json=False)
class Demo(Task):
    """Show a sample web at work, in one command.

    The sample comes with cocite: link lists on newspapers, databases, cars, museums and more.

    Examples:
        cocite demo
        cocite demo python.org lufthansa.com
        cocite demo --open
    """

    shows_itself = True
    urls: tuple[str, ...] = parameter(
        (), "A page to show (default: a few well-known ones)", metavar="URL", positional=True
    )
    output: str = parameter(
        "", "Build the store here (default: in the user's cache)", metavar="STORE", flags=("--output", "-o")
    )
    open: bool = parameter(False, "Then serve the sample, and open it in a browser")

    def do(self, progress: object) -> None:
        """Build the sample unless it is there, and show what is related to its pages."""
        screen = Screen()
        screen.line(("A small web", "bold"), " of hand-written link lists: newspapers, databases, cars, museums …")
        from cocite.cli.progress import display
        from cocite.kernels.interpreted import interpreting
        from cocite.web import Web

        store = Path(self.output) if self.output else cached_store()
        with interpreting():
            with display() as stages:
                graph, note = sample_graph(store, stages)
            self.show_answers(screen, Web(graph), note)
        if self.open:
            from cocite.cli.tasks.serve import Serve

            Serve(index=str(graph.path), port=0, open=True, quiet=True).do(None)
        else:
            show_next(screen, graph)

    def show_answers(self, screen: Screen, web: Web, note: str) -> None:
        """What the sample has, and what is related to some of its pages."""
        graph = web.graph
        lists = sum(entry["records"] for entry in graph.manifest["sources"])
        counts = f"{count(lists, 'list')}, {count(len(graph.links), 'link')} to {count(graph.pages - lists, 'page')}"
        screen.line((f"{counts}, {note}", "dim"))
        for url in self.urls or WELL_KNOWN:
            screen.blank()
            show(screen, web, url)
        screen.blank()


def sample_graph(store: Path, stages: "Stages") -> tuple[Graph, str]:
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
    from cocite.results.naming import titles_of
    from cocite.results.present import brief, lines

    graph, answers = web.graph, Related(urls=(url,), k=RESULTS_SHOWN).run(web)
    page = graph.find(url)
    title, address, total = titles_of(graph).of(page), graph.address(page), count(int(graph.in_degree[page]), "list")
    shown = short_address(address) if screen.live else address
    screen.line(("Related to ", "dim"), (title or shown, "bold"), "  ", (shown, "cyan"), (f"  in {total}", "dim"))
    wide = min(26, max((len(answer.title or answer.url) for answer in answers), default=0))
    for answer in answers:
        first, name = answer.rank == 1, Cell(answer.title or answer.url, wide, "bold")
        if first:
            screen.row(Cell(str(answer.rank), 1, "dim"), name, indent=2)
        elif screen.live:
            screen.entry(
                Cell(f"{answer.rank}  {name.text}", wide + 3, "bold"), brief(answer.reasons)[0], style="dim", indent=2
            )
        else:
            screen.row(Cell(str(answer.rank)), name, Cell(" · ".join(brief(answer.reasons))), indent=2)
        for line in lines(answer) if first else ():
            screen.line((line, "dim"), indent=5)
    if not len(answers):
        screen.line(("Nothing: no list has it together with another page", "dim"), indent=2)


def show_next(screen: Screen, graph: Graph) -> None:
    """What to try next."""
    home = str(Path.home()) if "HOME" in os.environ else ""
    store = shlex.quote(str(graph.path.absolute()))
    if home and store.startswith(home + "/"):
        store = "~" + store.removeprefix(home)
    screen.line(("Try next", "bold"))
    lines = (
        (f"export COCITE_INDEX={store}", ""),
        ("related louvre.fr --explain", "all reasons"),
        ("related audi.com bmw.com -m lli", "related to both, by another method"),
        ("compare nytimes.com", "methods side by side"),
        ("links homes.example/~tom/links.html", "a list, with its sections"),
        ("info", "what the store has"),
        ("demo --open", "the same in a browser"),
        ("get --list", "public webs to download, such as the awesome lists"),
        ("build --help", "a store of your own: crawls, bookmarks, …"),
    )
    texts = [(line if line.startswith("export") else f"{program()} {line}", note) for line, note in lines]
    wide = max(len(text) for text, note in texts if note)
    for text, note in texts:
        cells = [Cell(text, wide if note else 0, "cyan"), Cell(note, style="dim")]
        screen.wrapped_row(*cells, indent=2) if note else screen.row(*cells, indent=2)


def program() -> str:
    """How to start this program in a shell: `cocite` if that is found, else by its path."""
    here = Path(sys.argv[0])
    found = shutil.which("cocite")
    if here.name != "cocite" or (found and Path(found).resolve() == here.resolve()):
        return "cocite"
    path = here.absolute()
    return shlex.quote(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))
