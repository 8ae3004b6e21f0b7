"""How `cocite search`, `hubs`, `cluster` and `similarity` show their results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocite.cli import options as shared
from cocite.cli.commands import Options, View
from cocite.cli.failures import complain
from cocite.cli.files import read_addresses
from cocite.cli.terminal import Cell, Screen, seconds, size
from cocite.cli.views.related import score_width, show_page
from cocite.operations.declare import Operation, make
from cocite.operations.pages.cluster import Cluster
from cocite.operations.pages.hubs import Hubs
from cocite.operations.pages.similarity import Similarity
from cocite.operations.words.search import SearchPages
from cocite.results.text import count

if TYPE_CHECKING:
    from cocite.operations.pages.cluster import PageGroups
    from cocite.operations.pages.similarity import SimilarityResult
    from cocite.results.answer import Answers
    from cocite.web import Web
    from cocite.words.search import SearchIndex

Make = Annotated[bool, typer.Option("--make", help="Build the index again, even if there is one that fits.")]
AddressFile = Annotated[
    Path | None, typer.Option("--file", "-f", metavar="FILE", help="More addresses: a file, one per line.")
]


class SearchView(View):
    """Pages by words; --make builds the index."""

    operation = SearchPages
    options = {"make": (Make, False), "quiet": (shared.Quiet, False)}  # noqa: RUF012
    help = """build and add make the index if they keep texts, else the first search does. Exits with 1 if nothing is
found."""

    def run(self, values: Options, options: Options) -> None:
        """Search, or with --make alone, build the index."""
        if not options["make"] or values.get("query"):
            return super().run(values, options)
        from cocite.cli.progress import display
        from cocite.web import Web

        web, screen = Web(options["index"]), Screen()
        with display(options["quiet"]) as web.progress:
            made = build_index(web)
        if options["json"]:
            screen.json({"store": str(web.graph.path), "search": index_json(made)})
        else:
            screen.line("Built the search index of ", (str(web.graph.path), "bold"), f": {index_text(made)}")

    def prepare(self, web: Web, asked: Any, options: Options) -> None:
        """Build the index if there is none that fits."""
        from cocite.words.search import ready_search

        if options["make"]:
            build_index(web)
        web.search = ready_search(web.graph, progress=web.progress)

    def show(self, screen: Screen, asked: SearchPages, result: Answers, options: Options) -> None:
        """Print the pages."""
        had, words = int(result.facts["had"]), int(result.facts["asked"])
        if len(result) and had < words:
            many = f"at least {had} of them" if had else "single words of your phrases"
            screen.line((f"No page has all of these words; these pages have {many}", "yellow"))
        for answer in result:
            show_page(screen, answer, score_width(result))
        if len(result):
            screen.line((f"{result.milliseconds:.1f} ms", "dim"))


def build_index(web: Web) -> SearchIndex:
    """Build the search index of a store again, and vectors if it has none that fit."""
    from cocite.words.search import build_search
    from cocite.words.vectors import ready_vectors

    made = build_search(web.graph, progress=web.progress)
    if web.graph.texts:
        ready_vectors(web.graph, progress=web.progress)
    return made


def index_json(made: SearchIndex) -> dict[str, float]:
    """A search index that was built, for programs."""
    return {"pages": made.pages, "bytes": made.bytes, "seconds": round(made.seconds, 3)}


def index_text(made: SearchIndex) -> str:
    """A search index that was built, in words."""
    return f"{count(made.pages, 'page')}, {size(made.bytes)}, {seconds(made.seconds)}"


class HubsView(View):
    """Hubs with the best reason, then what each round explored."""

    operation = Hubs

    def show(self, screen: Screen, asked: Hubs, result: Answers, options: Options) -> None:
        """Print hubs and rounds."""
        from cocite.results.present import briefly

        if result.note:
            screen.line((result.note, "yellow"))
        for answer in result:
            title = answer.title or answer.url
            wide = min(len(title), int(screen.width * 0.5)) if screen.live else 0
            rank = Cell(str(answer.rank), 3, "dim", True)
            screen.row(rank, Cell(title, wide, "bold"), Cell(answer.url if answer.title else "", style="cyan"))
            screen.row(Cell(f"{answer.score:.6g}  {briefly(answer)}", style="dim"), indent=5)
        for step in result.steps:
            whole = step["untrimmed"]
            screen.line(
                (f"Distance {step['distance']}: ", "dim"),
                f"explored {step['explored']:,} of {step['met']:,} pages",
                (f"; without trimming {'not counted' if whole is None else f'{whole:,}'}", "dim"),
            )


class ClusterView(View):
    """Groups with their pages."""

    operation = Cluster
    options = {"file": (AddressFile, None)}  # noqa: RUF012

    def read(self, values: Options, options: Options) -> Operation:
        """The question, with the addresses of a file; pages of a file may be unknown."""
        file = options["file"]
        urls = [*values.pop("urls", ()), *(read_addresses(file) if file else ())]
        return make(Cluster, "cli", {**values, "urls": urls}, skip_unknown=file is not None)

    def warn(self, web: Web, asked: Cluster, result: PageGroups, options: Options) -> None:
        """Name the pages that the store doesn't have."""
        if result.unknown:
            some = ", ".join(result.unknown[:3])
            complain(f"Not in this store: {count(len(result.unknown), 'page')}, such as {some}")

    def show(self, screen: Screen, asked: Cluster, result: PageGroups, options: Options) -> None:
        """Print the groups."""
        for group in result.groups:
            screen.line((group.name, "bold green"), (f"  {count(len(group.pages), 'page')}", "dim"))
            for url, title in group.pages:
                name = Cell(title or url, 30 if screen.live else 0)
                screen.row(name, Cell(url if title else "", 0, "cyan"), indent=2)


class SimilarityView(View):
    """The score, then the reasons."""

    operation = Similarity
    help = "Exits with 0 if they are similar, 1 if the method finds nothing in common, 3 if one is unknown."

    def show(self, screen: Screen, asked: Similarity, result: SimilarityResult, options: Options) -> None:
        """Print the score and the reasons."""

        wrong = "" if result.error is None or result.error < 1e-6 else f" ± {result.error:.1g}"
        screen.line((f"{result.score:.6g}{wrong}", "bold"), f"  {' – '.join(result.pages)} by {result.method}")
        for reason in result.reasons:
            screen.row(Cell(reason.text, style="dim"), indent=2)
