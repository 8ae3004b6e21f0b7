"""cocite demo: the bundled sample web, and the links around pages that everybody knows."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocite import __version__
from cocite.errors import BadStore
from cocite.surfaces.cli.prepare import helper
from cocite.surfaces.cli.terminal import Cell, Screen, count, seconds

if TYPE_CHECKING:
    from cocite.graph.store import Graph

WELL_KNOWN = ["nytimes.com", "postgresql.org", "bmw.com", "louvre.fr"]
MOST_LISTS, MOST_BESIDE = 4, 8


def demo(
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="Pages to show, if not a few known ones.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="STORE", help="Make the store here, not in the user's cache."),
    ] = None,
) -> None:
    """Show a sample web at work, in one command.

    The sample comes with cocite: link lists as people write them, on newspapers, databases, cars, museums and more. The
    first run on a machine also compiles, once.

    \b
    Examples:
      cocite demo
      cocite demo python.org lufthansa.com
    """
    screen = Screen()
    screen.line(("A small web", "bold"), " of link lists, written by hand: papers, databases, cars, museums …")
    with helper() as start:
        graph = sample_graph(screen, output, start)
        for url in urls or WELL_KNOWN:
            screen.blank()
            show(screen, graph, graph.find(url))
    screen.blank()
    show_next(screen, graph)


def sample_graph(screen: Screen, output: Path | None, compiling: Callable[[], object]) -> Graph:
    """The sample as a store: the one of the last time if it is there and good, else a new one."""
    from cocite.graph.store import Graph

    store = output or cached_store()
    try:
        graph = Graph(store)
        note = "from the last run"
    except BadStore:
        store, took = build_sample(store, compiling)
        graph = Graph(store)
        note = f"built in {seconds(took)}"
    lists = sum(entry["records"] for entry in graph.manifest["sources"])
    counts = f"{count(lists, 'list')}, {count(graph.links, 'link')} to {count(graph.pages - lists, 'page')}"
    screen.line((f"{counts}, {note}", "dim"))
    return graph


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
    """Where the sample's store is kept: a name for every version of cocite and of the sample."""
    checksum = hashlib.blake2b(digest_size=4)
    for page in sorted(sample_pages().iterdir()):
        checksum.update(page.name.encode() + page.read_bytes())
    try:
        home = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
        folder = Path(os.environ.get("XDG_CACHE_HOME") or home) / "cocite"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, RuntimeError):  # no home, or none that can be written to
        folder = Path(tempfile.mkdtemp(prefix="cocite-"))
    return folder / f"sample-{__version__}-{checksum.hexdigest()}.cocite"


def build_sample(store: Path, compiling: Callable[[], object]) -> tuple[Path, float]:
    """Build the sample; returns where, and the seconds it took."""
    from cocite.graph.build import BuildOptions, build
    from cocite.sources.markdown import read_markdown
    from cocite.sources.open_source import Source
    from cocite.sources.records import Report
    from cocite.surfaces.cli.progress import display

    pages, report = sample_pages(), Report()
    source = Source(str(pages), "markdown", 0, report, lambda: read_markdown(pages, report))
    with display(compiling=compiling) as stages:
        built = build([source], store, report, BuildOptions(), stages)
    return built.path, built.seconds


def show(screen: Screen, graph: Graph, page: int) -> None:
    """What stands beside a page in most lists, and some of the lists: under which heading, and next to what."""
    from cocite.surfaces.cli.around import cited_in

    company = company_of(graph, page)
    lists = (cited_in(graph, page, parent) for parent in typical(graph, page, company)[: 3 * MOST_LISTS])
    different = {(citation.heading, *citation.beside): citation for citation in lists}
    cited = list(different.values())[:MOST_LISTS]
    names = Counter(citation.text for citation in cited if citation.text).most_common(1)
    title = graph.title(page) or (names[0][0] if names else "")
    total = int(graph.in_degree[page])
    screen.line((title, "bold"), "  " if title else "", (graph.address(page), "cyan"), f"  in {count(total, 'list')}")
    if company:
        shown = [f"{label(graph, other, who)} {len(who)}×" for other, who in list(company.items())[:MOST_BESIDE]]
        screen.line(("most often beside it: ", "yellow"), ", ".join(shown), indent=2)
    wide = (int(screen.width * 0.34), int(screen.width * 0.26), 0)
    if cited:
        heads = ("for example in the list", "under the heading", "next to")
        screen.row(*(Cell(text, width, "dim") for text, width in zip(heads, wide, strict=True)), indent=2)
    for citation in cited:
        beside = ", ".join(text or url for text, url in citation.beside)
        cells = Cell(citation.title or citation.url, wide[0]), Cell(citation.heading, wide[1], "green"), Cell(beside)
        screen.row(*cells, indent=2)


def company_of(graph: Graph, page: int) -> dict[int, list[int]]:
    """The pages that lists have in one block with this page, and those lists; the most frequent first.

    Of copies of a list one counts.
    """
    found: dict[int, list[int]] = {}
    for parent in sorted({graph.representative(int(parent)) for parent in graph.links_to(page)}):
        links = graph.links_from(parent)
        own = links.blocks[links.targets == page]
        for other in links.targets[(links.blocks == own[:1]) & (links.blocks >= 0)].tolist() if len(own) else []:
            if other != page:
                found.setdefault(other, []).append(parent)
    return dict(sorted(found.items(), key=lambda item: (-len(item[1]), item[0])))


def typical(graph: Graph, page: int, company: dict[int, list[int]]) -> list[int]:
    """The lists that have the page, those with most of its usual company first."""
    usual: Counter[int] = Counter()
    for lists in company.values():
        for parent in lists:
            usual[parent] += len(lists) - 1
    parents = {graph.representative(int(parent)) for parent in graph.links_to(page)}
    return sorted(parents, key=lambda parent: (-usual[parent], parent))


def label(graph: Graph, page: int, lists: list[int]) -> str:
    """What most lists call a page."""
    texts = Counter(
        text
        for parent in lists
        for target, text in zip(graph.links_from(parent).targets.tolist(), graph.anchors(parent), strict=True)
        if target == page and text
    )
    return texts.most_common(1)[0][0] if texts else graph.address(page)


def show_next(screen: Screen, graph: Graph) -> None:
    """What to try next."""
    home = str(Path.home()) if "HOME" in os.environ else ""
    store = shlex.quote(str(graph.path.absolute()))
    if home and store.startswith(home + "/"):
        store = "~" + store.removeprefix(home)
    screen.line(("Try next", "bold"))
    for line, note in (
        (f"export COCITE_INDEX={store}", ""),
        ("cocite links louvre.fr", "all links around a page"),
        ("cocite links homes.example/~tom/links.html", "a list, with its sections"),
        ("cocite info", "what the store holds"),
        ("cocite build bookmarks.html -o web.cocite", "a store of your own"),
    ):
        screen.row(Cell(line, 44 if note else 0, "cyan"), Cell(note, style="dim"), indent=2)
