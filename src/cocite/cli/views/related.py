"""How `cocite related` and `cocite recommend` show their results."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocite.cli.commands import Options, View
from cocite.cli.failures import complain
from cocite.cli.files import read_addresses
from cocite.cli.terminal import Cell, Screen
from cocite.errors import BadAddress, BadParameter
from cocite.operations.declare import Operation, make
from cocite.operations.pages.collection import RelatedToCollection
from cocite.operations.pages.recommend import Recommend
from cocite.operations.pages.related import Related
from cocite.results.text import count

if TYPE_CHECKING:
    from cocite.operations.pages.collection import CollectionResults
    from cocite.results.answer import Answer, Answers
    from cocite.web import Web

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
EXIT_CODES = "Exits with 0 if there are results, 1 if the page is known but nothing is related, 3 if it is unknown."


class AnswersView(View):
    """A page per line or two, with its reasons; or a table."""

    options = {"explain": (Explain, False), "csv": (Csv, False), "tsv": (Tsv, False)}  # noqa: RUF012
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
        unknown = [url for url, _ in asked.history if not is_known(web, url)] if asked.history else []
        if unknown:
            where = f" of {options['history']}" if options.get("history") else ""
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
    options = {"like": (LikeFile, None), "history": (HistoryFile, None), **AnswersView.options}  # noqa: RUF012
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
                raise BadParameter(f"{like} is asked about folder by folder: leave out {others}")
            asked = make(Related, "cli", {**values, "urls": ["any"]})
            given = {**vars(asked), "urls": (), "collection": collection, "file": str(like)}
            return RelatedToCollection(**given)
        urls = [*values.pop("urls", ()), *(read_addresses(like) if like else ())]
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
    options = {"history": (HistoryFile, None), **AnswersView.options}  # noqa: RUF012

    def read(self, values: Options, options: Options) -> Operation:
        """The question, with the history of a file."""
        from cocite.results.history import read_history

        urls = list(values.pop("urls", ()))
        read = [*((url, 1.0) for url in urls), *(read_history(options["history"]) if options["history"] else ())]
        given = {**values, "urls": [url for url, _ in read]}
        return replace(make(Recommend, "cli", given), weights=tuple(weight for _, weight in read))


def is_known(web: Web, url: str) -> bool:
    """Whether the store has a page."""
    with suppress(BadAddress):
        return web.graph.get(url) is not None
    return False


def show_answers(screen: Screen, answers: Any, explained: bool) -> None:
    """Answers, in their groups if they have any."""
    if answers.note:
        screen.line((answers.note, "yellow"))
    wide = score_width(answers)
    for group, some in getattr(answers, "groups", None) or [(None, answers)]:
        if group is not None:
            screen.line((group.name, "bold green"), (f"  {count(len(some), 'page')}", "dim"))
        for answer in some:
            show_answer(screen, answer, wide, explained)
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

    if screen.live:
        show_page(screen, answer)
        for line in list(lines(answer)) if explained else [briefly(answer)]:
            screen.row(Cell(line, style="dim"), indent=5)
    else:
        show_page(screen, answer, wide, "" if explained else briefly(answer))
        for line in lines(answer) if explained else ():
            screen.row(Cell(line), indent=5)


def show_page(screen: Screen, answer: Answer, wide: int = 0, why: str = "") -> None:
    """Rank, title and address of an answer on one line; where there is no terminal, also its score and reason."""
    rank = Cell(str(answer.rank), 3, "dim", True)
    if screen.live:
        title = answer.title or answer.url
        url = Cell(answer.url if answer.title else "", style="cyan")
        screen.row(rank, Cell(title, min(len(title), int(screen.width * 0.5)), "bold"), url)
    else:
        score = Cell(f"{answer.score:.6g}", wide, "dim", True)
        screen.row(rank, score, Cell(answer.url), Cell(answer.title), Cell(why))
