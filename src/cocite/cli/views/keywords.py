"""How `cocite keywords` shows keywords."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocite.cli import options as shared
from cocite.cli.commands import Options, View
from cocite.cli.terminal import Cell, Screen
from cocite.errors import BadParameter
from cocite.operations.words.keywords import FindKeywords
from cocite.results.text import count

if TYPE_CHECKING:
    from cocite.operations.words.keywords import Keyword, PageKeyword
    from cocite.web import Web

PER_PAGE = 20
Make = Annotated[bool, typer.Option("--make", help="Compute keywords and relevance again.")]
PerPage = Annotated[int, typer.Option(metavar="N", help="With --make: number of keywords of each page.")]


class KeywordsView(View):
    """Similar and logically related keywords, or those of a page; --make computes them again."""

    operation = FindKeywords
    options = {"make": (Make, False), "per_page": (PerPage, PER_PAGE), "quiet": (shared.Quiet, False)}  # noqa: RUF012
    help = """For a word that isn't a keyword of any page, the nearest known keywords are shown, and the exit code
is 3."""

    def run(self, values: Options, options: Options) -> None:
        """Ask, or with --make alone, compute keywords."""
        per_page, make = options["per_page"], options["make"]
        if per_page != PER_PAGE and not make:
            raise BadParameter("--per-page needs --make")
        if not make or values.get("words") or values.get("page"):
            return super().run(values, options)
        from cocite.cli.progress import display
        from cocite.web import Web

        web, screen = Web(options["index"]), Screen()
        with display(options["quiet"] or options["json"]) as web.progress:
            self.prepare(web, None, options)
        number, pages = len(web.keywords.words), web.relevance.pages
        if options["json"]:
            screen.json({"store": str(web.graph.path), "keywords": number, "pages": pages, "per_page": per_page})
        else:
            screen.line((str(web.graph.path), "bold"), f"  {count(number, 'keyword')} of {count(pages, 'page')}")

    def prepare(self, web: Web, asked: Any, options: Options) -> None:
        """Compute keywords and relevance if there are none that fit, or if asked to."""
        from cocite.words.keywords import build_keywords, ready_keywords
        from cocite.words.relevance import build_relevance, ready_relevance

        graph, make = web.graph, options["make"]
        web.keywords = (
            build_keywords(graph, per_page=options["per_page"], progress=web.progress)
            if make
            else ready_keywords(graph, progress=web.progress)
        )
        web.relevance = (build_relevance if make else ready_relevance)(graph, web.keywords, progress=web.progress)

    def show(self, screen: Screen, asked: FindKeywords, result: Any, options: Options) -> None:
        """Print both kinds, one below the other, or the keywords of the page."""
        if asked.page:
            screen.line((result.page, "bold"), f"  main: {', '.join(result.main) or 'none'}")
            rows(screen, result.keywords, [f"{keyword.count:,}×" for keyword in result.keywords])
            return
        for name, chosen in (("similar", result.similar), ("logical", result.logical)):
            screen.line((name, "bold"), "" if chosen else "  none")
            rows(screen, chosen, ["" for _ in chosen])


def rows(screen: Screen, chosen: list[Keyword] | list[PageKeyword], times: list[str]) -> None:
    """Keywords with their relevance and how many pages have them."""
    wide = max((len(keyword.word) for keyword in chosen), default=0)
    for keyword, often in zip(chosen, times, strict=True):
        value = Cell(f"{keyword.relevance:.6g}", 12, "cyan", right=True)
        word = Cell(keyword.word, min(wide, 40))
        screen.row(
            value, word, Cell(often, max(map(len, times)), right=True), Cell(count(keyword.pages, "page"), style="dim")
        )
