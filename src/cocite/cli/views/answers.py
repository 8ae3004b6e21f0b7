"""How commands show pages with scores and reasons: related, recommend, search, hubs, cluster, similarity, compare."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocite.cli import options as shared
from cocite.cli.commands import CommandView, Options
from cocite.cli.failures import complain
from cocite.cli.terminal import Cell, Screen, rate, seconds, size
from cocite.errors import BadAddress, BadParameter
from cocite.operations.declare import Operation, make
from cocite.operations.pages.batch import Batch
from cocite.operations.pages.cluster import Cluster
from cocite.operations.pages.collection import RelatedToCollection
from cocite.operations.pages.compare import Compare
from cocite.operations.pages.hubs import Hubs
from cocite.operations.pages.recommend import Recommend
from cocite.operations.pages.related import Related
from cocite.operations.pages.similarity import Similarity
from cocite.operations.task import read_addresses
from cocite.operations.words.search import SearchPages
from cocite.text import count

if TYPE_CHECKING:
    from cocite.operations.pages.batch import BatchSummary
    from cocite.operations.pages.cluster import PageGroups
    from cocite.operations.pages.collection import CollectionResults
    from cocite.operations.pages.compare import Comparison
    from cocite.operations.pages.similarity import SimilarityResult
    from cocite.results.answer import Answer, Answers
    from cocite.web import Web
    from cocite.words.search import SearchIndex

Explain = Annotated[bool, typer.Option("--explain", "-e", help="Show all reasons, not one line of them.")]
Csv = Annotated[
    bool, typer.Option("--csv", help="Print comma-separated values; ' precedes what a spreadsheet would run.")
]
Tsv = Annotated[bool, typer.Option("--tsv", help="Print tab-separated values.")]
HistoryFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Pages that were read: address, tab, weight per line (default: 1).")
]
LikeFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="More query pages: addresses, one per line; or bookmarks or OPML, asked folder by folder."
    ),
]
MakeIndex = Annotated[bool, typer.Option("--make", help="Build the index again, even if there is one that fits.")]
AddressFile = Annotated[
    str, typer.Option("--file", "-f", metavar="FILE", help="More addresses: a file, one per line.", show_default=False)
]
Queries = Annotated[
    str, typer.Option(metavar="FILE", help="Only for the pages of this file of addresses, one per line.")
]
EXIT_CODES = "Exits with 0 if there are results, 1 if the page is known but nothing is related, 3 if it is unknown."


class AnswersView(CommandView):
    """A page per line or two, with its reasons; or a table."""

    options = {"history": (HistoryFile, None), "explain": (Explain, False), "csv": (Csv, False), "tsv": (Tsv, False)}  # noqa: RUF012
    help = EXIT_CODES

    def run(self, values: Options, options: Options) -> None:
        """Check that the ways of printing go together."""
        if options["json"] + options["csv"] + options["tsv"] > 1:
            raise BadParameter("--json, --csv and --tsv: give one of them")
        if values.get("group") and (options["csv"] or options["tsv"]):
            raise BadParameter("--group has no table: leave out --csv and --tsv, or give --json")
        super().run(values, options)

    def warn(self, web: Web, asked: Any, result: Any, options: Options) -> None:
        """Name the pages of a history that the store doesn't have."""
        question = asked.question if isinstance(asked, Recommend) else asked
        if unknown := [url for url, _ in question.history if not is_known(web, url)]:
            where = f" of {options['history']}" if options["history"] else ""
            complain(f"Not in this store: {count(len(unknown), 'page')}{where}, such as {', '.join(unknown[:3])}")
        if not asked.k:
            complain("-k 0 asks for no results: give 1 or more")

    def show(self, screen: Screen, asked: Any, result: Answers, options: Options) -> None:
        """Print the results."""
        if options["csv"] or options["tsv"]:
            from cocite.results.present import separated

            typer.echo(separated(result, "\t" if options["tsv"] else ","), nl=False)
        else:
            show_answers(screen, result, options["explain"])


class RelatedView(AnswersView):
    """Also about a file of addresses, or a collection."""

    operation = Related
    options = {"like": (LikeFile, None), **AnswersView.options}  # noqa: RUF012
    help = f"""With --like and the bookmarks of a browser, or the OPML file of a feed reader, pages near the whole
collection are shown: -k for every folder, none that is in it already. Pages that the store doesn't have are counted.

{EXIT_CODES}"""

    def read(self, values: Options, options: Options) -> Operation:
        """The question, with the addresses of files."""
        from cocite.operations.pages.collection import read_collection
        from cocite.results.history import read_history

        like, history = options["like"], options["history"]
        if like is not None and (collection := read_collection(like)) is not None:
            if values.get("urls") or history or values["group"] or options["csv"] or options["tsv"]:
                others = "addresses, --history, --group, --csv and --tsv"
                raise BadParameter(f"Each folder of {like} is a question of its own: remove {others}")
            asked = make(Related, "cli", {**values, "urls": ["any"]})
            return RelatedToCollection(**{**vars(asked), "urls": (), "collection": collection, "file": str(like)})
        urls = [*values.pop("urls", ()), *(read_addresses(str(like)) if like else ())]
        read = tuple(read_history(history)) if history else ()
        return make(Related, "cli", {**values, "urls": urls}, history=read)

    def warn(self, web: Web, asked: Any, result: Any, options: Options) -> None:
        """Name the pages of a collection that were not asked about."""
        if not isinstance(asked, RelatedToCollection):
            return super().warn(web, asked, result, options)
        if result.unknown:
            some, pages = ", ".join(result.unknown[:3]), count(result.pages, "page")
            complain(f"Not in this store: {len(result.unknown):,} of {pages} of {asked.file}, such as {some}")
        for folder in result.folders:
            if folder.left_out:
                complain(f"{folder.folder}: the last {count(folder.left_out, 'page')} of this folder were skipped")

    def show(self, screen: Screen, asked: Any, result: Any, options: Options) -> None:
        """Print the results, those of a collection by its folders."""
        if isinstance(asked, RelatedToCollection):
            show_collection(screen, result, options["explain"])
        else:
            super().show(screen, asked, result, options)


class RecommendView(AnswersView):
    """Results of a history, from a file or from addresses."""

    operation = Recommend

    def read(self, values: Options, options: Options) -> Operation:
        """The question, with the history of a file."""
        from cocite.results.history import read_history

        read = [(url, 1.0) for url in values.pop("urls", ())]
        read += read_history(options["history"]) if options["history"] else []
        asked = make(Recommend, "cli", {**values, "urls": [url for url, _ in read]})
        return replace(asked, weights=tuple(weight for _, weight in read))


def is_known(web: Web, url: str) -> bool:
    """Whether the store has a page."""
    with suppress(BadAddress):
        return web.graph.get(url) is not None
    return False


def show_answers(screen: Screen, answers: Any, explained: bool) -> None:
    """Answers, in their groups if they have any."""
    if answers.note:
        screen.line((answers.note, "yellow"))
    for group, some in getattr(answers, "groups", None) or [(None, answers)]:
        if group is not None:
            screen.line((group.name, "bold green"), (f"  {count(len(some), 'page')}", "dim"))
        for answer in some:
            show_answer(screen, answer, score_width(answers), explained)
    if len(answers):
        facts = ", ".join(
            f"{name}: {value}" if isinstance(value, str) else f"{name} {value:,.6g}"
            for name, value in answers.facts.items()
        )
        took = f"{answers.milliseconds:.1f} ms by {answers.method}"
        screen.line((took + (f": {facts}" if facts and explained else ""), "dim"))


def show_collection(screen: Screen, found: CollectionResults, explained: bool) -> None:
    """Folders in their order, without those that have no results."""
    wide = score_width([answer for folder in found.folders for answer in folder.answers])
    for folder in found.folders:
        if folder.answers:
            near = f"  near {folder.known:,} of {count(folder.pages, 'page')}"
            screen.line((folder.folder, "bold green"), (near, "dim"))
        for answer in folder.answers:
            show_answer(screen, answer, wide, explained)
    if found.about is not None:
        screen.line((f"{found.milliseconds:.1f} ms by {found.about.method}", "dim"))


def score_width(answers: Any) -> int:
    """The width of the column of scores."""
    return max((len(f"{answer.score:.6g}") for answer in answers), default=0)


def show_answer(screen: Screen, answer: Answer, wide: int, explained: bool) -> None:
    """One answer with its reasons; its score is `wide` characters wide at most."""
    from cocite.results.present import briefly, lines

    brief = briefly(answer)
    show_page(screen, answer, wide, "" if explained else brief)
    for line in lines(answer) if explained else [brief] if screen.live else []:
        screen.row(Cell(line, style="dim"), indent=5)


def show_page(screen: Screen, answer: Answer, wide: int = 0, why: str = "") -> None:
    """Rank, title and address of an answer on one line; without a terminal, also its score and reason."""
    rank = Cell(str(answer.rank), 3, "dim", True)
    if screen.live:
        screen.page(answer.title, answer.url, rank, style="bold")
    else:
        score = Cell(f"{answer.score:.6g}", wide, "dim", True)
        screen.row(rank, score, Cell(answer.url), Cell(answer.title), Cell(why))


class SearchView(CommandView):
    """Pages by words; --make builds the index."""

    operation = SearchPages
    options = {"make": (MakeIndex, False), "quiet": (shared.Quiet, False)}  # noqa: RUF012
    help = """build and add make the index if they keep texts, else the first search does. Exits with 1 if nothing is
found."""

    def run(self, values: Options, options: Options) -> None:
        """SearchPages, or with --make alone, build the index."""
        if not options["make"] or values.get("query"):
            return super().run(values, options)
        from cocite.cli.progress import display
        from cocite.web import Web

        web, screen = Web(options["index"]), Screen()
        with display(options["quiet"]) as web.progress:
            made = build_index(web)
        if options["json"]:
            facts = {"pages": made.pages, "bytes": made.bytes, "seconds": round(made.seconds, 3)}
            screen.json({"store": str(web.graph.path), "search": facts})
        else:
            text = f"{count(made.pages, 'page')}, {size(made.bytes)}, {seconds(made.seconds)}"
            screen.line("Built the search index of ", (str(web.graph.path), "bold"), f": {text}")

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


class HubsView(CommandView):
    """Hubs with the best reason, then what each round explored."""

    operation = Hubs

    def show(self, screen: Screen, asked: Hubs, result: Answers, options: Options) -> None:
        """Print hubs and rounds."""
        from cocite.results.present import briefly

        if result.note:
            screen.line((result.note, "yellow"))
        for answer in result:
            screen.page(answer.title, answer.url, Cell(str(answer.rank), 3, "dim", True), style="bold")
            screen.row(Cell(f"{answer.score:.6g}  {briefly(answer)}", style="dim"), indent=5)
        for step in result.steps:
            whole = step["untrimmed"]
            screen.line(
                (f"Distance {step['distance']}: ", "dim"),
                f"explored {step['explored']:,} of {step['met']:,} pages",
                (f"; without trimming {'not counted' if whole is None else f'{whole:,}'}", "dim"),
            )


class ClusterView(CommandView):
    """Groups with their pages."""

    operation = Cluster
    options = {"file": (AddressFile, "")}  # noqa: RUF012

    def read(self, values: Options, options: Options) -> Operation:
        """The question, with the addresses of a file; pages of a file may be unknown."""
        urls = [*values.pop("urls", ()), *read_addresses(options["file"])]
        return make(Cluster, "cli", {**values, "urls": urls}, skip_unknown=bool(options["file"]))

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


class SimilarityView(CommandView):
    """The score, then the reasons."""

    operation = Similarity
    help = "Exits with 0 if they are similar, 1 if the method finds nothing in common, 3 if one is unknown."

    def show(self, screen: Screen, asked: Similarity, result: SimilarityResult, options: Options) -> None:
        """Print the score and the reasons."""
        wrong = "" if result.error is None or result.error < 1e-6 else f" ± {result.error:.1g}"
        screen.line((f"{result.score:.6g}{wrong}", "bold"), f"  {' – '.join(result.pages)} by {result.method}")
        for reason in result.reasons:
            screen.row(Cell(reason.text, style="dim"), indent=2)


class CompareView(CommandView):
    """A page per line with its rank by each method, then how many results methods have in common."""

    operation = Compare

    def show(self, screen: Screen, asked: Compare, result: Comparison, options: Options) -> None:
        """Print ranks and overlaps."""
        names = list(result.by_method)
        ranks = {name: {answer.url: answer.rank for answer in answers} for name, answers in result.by_method.items()}
        titles = {answer.url: answer.title for answers in result.by_method.values() for answer in answers}
        # Where names don't fit into their columns, all are replaced by letters.
        longest = max(map(len, names))
        fits = not screen.live or (longest + 2) * len(names) < screen.width // 2
        legend = {name: name if fits else chr(ord("A") + i % 26) for i, name in enumerate(names)}
        wide = (longest if fits else 5) if screen.live else 0

        def cells(texts: Any, style: str = "") -> list[Cell]:
            return [Cell(str(text), wide, style, True) for text in texts]

        for name, short in legend.items():
            if short != name:
                screen.line((f"{short} ", "bold"), name, indent=2)
        screen.row(*cells(legend.values(), "bold"), Cell("page", style="bold"))
        for url, _ in result.votes():
            title = Cell(titles[url] or url, 30 if screen.live else 0)
            places = cells(ranks[each].get(url, "·") for each in names)
            screen.row(*places, title, Cell(url if titles[url] else "", style="cyan"))
        screen.blank()
        screen.line(("Results in common", "bold"))
        screen.row(Cell("", wide), *cells(legend.values(), "dim"))
        for first in names:
            overlaps = cells(result.overlap(first, second) for second in names)
            screen.row(Cell(legend[first], wide, "dim"), *overlaps)
        times = cells((f"{each.milliseconds:.1f}" for each in result.by_method.values()), "dim")
        screen.row(Cell("ms", wide, "dim"), *times)


class BatchView(CommandView):
    """What was written, on standard error."""

    operation = Batch
    options = {"queries": (Queries, ""), "quiet": (shared.Quiet, False)}  # noqa: RUF012
    interrupted = "Interrupted; finished parts are kept, and the same command continues from there"

    def read(self, values: Options, options: Options) -> Operation:
        """The question, with the pages of a file."""
        return make(Batch, "cli", values, pages=tuple(read_addresses(options["queries"])), skip_unknown=True)

    def show(self, screen: Screen, asked: Any, result: BatchSummary, options: Options) -> None:
        """Print a summary."""
        screen, done, took = Screen(stderr=True), result, result.seconds
        if result.unknown:
            what = "address" if result.unknown == 1 else "addresses"
            screen.line((f"Not in this store: {result.unknown:,} {what} of {options['queries']}", "yellow"))
        if done.kept:
            screen.line((f"Kept {count(done.kept, 'part')} of {done.parts} from an earlier run", "dim"))
        speed = f", {rate(done.pages / took)} pages/s" if took > 1 and done.pages > 1000 and not done.kept else ""
        results = f"{count(done.answers, 'result')} for {count(done.pages, 'page')}"
        screen.line(f"Wrote {results} in {seconds(took)}{speed}: {result.output}")
