"""cocite demo: the bundled sample web, and the links around pages that everybody knows."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
import tempfile
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocite import __version__
from cocite.errors import BadStore
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
      cocite demo lego.com fcbarcelona.com
    """
    screen = Screen()
    screen.line(("A small web", "bold"), " of link lists, written by hand: newspapers, databases, cars, museums, …")
    graph = sample_graph(screen, output)
    for url in urls or WELL_KNOWN:
        screen.blank()
        show(screen, graph, graph.find(url))
    screen.blank()
    show_next(screen, graph)


def sample_graph(screen: Screen, output: Path | None) -> Graph:
    """The sample as a store: the one of the last time if it is there and good, else a new one."""
    from cocite.graph.store import Graph

    store = output or cached_store()
    try:
        graph = Graph(store)
        note = "from the last run"
    except BadStore:
        store, took = build_sample(store)
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


def build_sample(store: Path) -> tuple[Path, float]:
    """Build the sample; returns where, and the seconds it took."""
    from cocite.graph.build import BuildOptions, build
    from cocite.sources.markdown import read_markdown
    from cocite.sources.open_source import Source
    from cocite.sources.records import Report
    from cocite.surfaces.cli.progress import display

    pages, report = sample_pages(), Report()
    source = Source(str(pages), "markdown", 0, report, lambda: read_markdown(pages, report))
    with display(building=True) as stages:
        built = build([source], store, report, BuildOptions(), stages)
    return built.path, built.seconds


def show(screen: Screen, graph: Graph, page: int) -> None:
    """Who cites a page, under which heading, and what stands beside it there."""
    from cocite.surfaces.cli.around import cited_in, parents

    citations = [cited_in(graph, page, parent) for parent in parents(graph, page, MOST_LISTS)]
    name = Counter(c.text for c in citations if c.text).most_common(1)
    total = int(graph.in_degree[page])
    title = graph.title(page) or (name[0][0] if name else "")
    screen.line((title, "bold"), ("  " if title else ""), (graph.address(page), "cyan"), f"  in {count(total, 'list')}")
    wide = (int(screen.width * 0.34), int(screen.width * 0.26), 0)
    if citations:
        heads = ("list", "under the heading", "next to it stands")
        screen.row(*(Cell(t, w, "dim") for t, w in zip(heads, wide, strict=True)), indent=2)
    for c in citations:
        beside = ", ".join(text or url for text, url in c.beside)
        screen.row(Cell(c.title or c.url, wide[0]), Cell(c.heading, wide[1], "green"), Cell(beside), indent=2)
    if total > len(citations):
        screen.line((f"and {count(total - len(citations), 'list')} more", "dim"), indent=2)
    together = beside_most(graph, page)
    if together:
        shown = ", ".join(f"{name} {number}×" for name, number in together)
        screen.line(("most often in the same section: ", "yellow"), shown, indent=2)


def beside_most(graph: Graph, page: int) -> list[tuple[str, int]]:
    """Pages that most lists have in one block with this page: (name, number of lists); copies of a list count once."""
    lists: Counter[int] = Counter()
    names: dict[int, Counter[str]] = {}
    for parent in {graph.representative(int(parent)) for parent in graph.links_to(page)}:
        links, texts = graph.links_from(parent), graph.anchors(parent)
        own = set(links.blocks[links.targets == page].tolist()) - {-1}
        for target, block, text in zip(links.targets.tolist(), links.blocks.tolist(), texts, strict=True):
            if block in own and target != page:
                lists[target] += 1
                names.setdefault(target, Counter())[text] += 1
    best = sorted(lists.items(), key=lambda item: (-item[1], item[0]))[:MOST_BESIDE]
    return [(names[target].most_common(1)[0][0] or graph.address(target), number) for target, number in best]


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
        screen.row(Cell(line, min(len(line), 44) if not note else 44, "cyan"), Cell(note, style="dim"), indent=2)
