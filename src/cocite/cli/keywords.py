"""cocite keywords: words to go on with, and the words of a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocite.cli import options as given
from cocite.cli.failures import NOTHING, complain
from cocite.cli.terminal import Cell, Screen, count
from cocite.errors import BadParameter

if TYPE_CHECKING:
    from cocite.cli.progress import Stages
    from cocite.results.keywords import Keyword, KeywordsFound, PageKeyword, PageKeywords
    from cocite.web import Web

PER_PAGE = 20


def keywords(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORDS", help="Words that are keywords of pages.")
    ] = None,
    index: given.Index = Path("web.cocite"),
    page: Annotated[str, typer.Option(metavar="URL", help="Show the keywords of this page instead.")] = "",
    k: Annotated[int, typer.Option("-k", metavar="N", help="So many keywords of each kind at most.")] = 10,
    alpha: Annotated[
        float, typer.Option(metavar="SHARE", help="Similar: share of support; the rest is mutual information.")
    ] = 0.5,
    beta: Annotated[
        float, typer.Option(metavar="SHARE", help="Logical: share of support; the rest is confidence over links.")
    ] = 0.5,
    beside: Annotated[
        str, typer.Option(metavar="WHAT", help="Logical: information takes mutual information in place of support.")
    ] = "support",
    make: Annotated[bool, typer.Option("--make", help="Make keywords and relevance anew.")] = False,
    per_page: Annotated[int, typer.Option(metavar="N", help="With --make: keywords of each page.")] = PER_PAGE,
    quiet: given.Quiet = False,
    json: given.Json = False,
) -> None:
    """Keywords to go on with from some words, or the keywords of a page.

    Similar keywords stand on the same pages; logical ones on the pages that pages of these words link to. The keywords
    of a page are its most frequent words, without stop words; if it was not fetched, those of links to it. The main
    ones are most relevant to the others.

    Keywords and their relevance are made when they are first needed, and kept beside the store. A word that is no
    keyword of any page is answered with the nearest known ones, and exits with 3.

    \b
    Examples:
      cocite keywords password manager
      cocite keywords --page nodejs.org
      cocite keywords --make --per-page 30 -i web.cocite
    """
    from cocite.cli.progress import display
    from cocite.results.keywords import keywords_for, keywords_of_page
    from cocite.web import Web

    if words and page:
        raise BadParameter("words and --page at once: give one of them")
    if not (words or page or make):
        raise BadParameter("there is nothing to ask about: give some words, or --page URL")
    if per_page != PER_PAGE and not make:
        raise BadParameter("--per-page is for making keywords: give --make too")
    web, screen = Web(index), Screen()
    with display(quiet or json) as stages:
        prepare(web, make, per_page, stages)
    if words:
        found = keywords_for(web, words, k, alpha, beta, beside)
        screen.json(found.to_dict()) if json else show(screen, found)
        if not found.similar and not found.logical and k:
            complain(f"no other keyword is relevant to {' '.join(found.words)[:200]}; try others")
            raise typer.Exit(NOTHING)
    elif page:
        of_page = keywords_of_page(web, page)
        screen.json(of_page.to_dict()) if json else show_page(screen, of_page)
        if not of_page.keywords:
            complain(f"nothing is known of what {of_page.page[:200]} says, so it has no keywords")
            raise typer.Exit(NOTHING)
    else:
        made = {"keywords": len(web.keywords.words), "pages": web.relevance.pages, "per_page": per_page}
        told = f"{count(made['keywords'], 'keyword')} of {count(made['pages'], 'page')}"
        screen.json({"store": str(index), **made}) if json else screen.line((str(index), "bold"), f"  {told}")


def prepare(web: Web, make: bool, per_page: int, stages: Stages) -> None:
    """Have keywords and relevance made if they are wanted anew or there are none that fit, and open them."""
    from cocite.words.keywords import build_keywords, ready_keywords
    from cocite.words.relevance import build_relevance, ready_relevance

    graph = web.graph
    web.keywords = build_keywords(graph, per_page, stages) if make else ready_keywords(graph, stages)
    web.relevance = (build_relevance if make else ready_relevance)(graph, web.keywords, stages)


def show(screen: Screen, found: KeywordsFound) -> None:
    """For people: both kinds, one under the other."""
    for name, chosen in (("similar", found.similar), ("logical", found.logical)):
        screen.line((name, "bold"), "" if chosen else "  none")
        rows(screen, chosen, ["" for _ in chosen])


def show_page(screen: Screen, found: PageKeywords) -> None:
    """For people."""
    screen.line((found.page, "bold"), f"  main: {', '.join(found.main) or 'none'}")
    rows(screen, found.keywords, [f"{keyword.count:,}×" for keyword in found.keywords])


def rows(screen: Screen, chosen: list[Keyword] | list[PageKeyword], times: list[str]) -> None:
    """Keywords with their relevance and how many pages have them."""
    wide = max((len(keyword.word) for keyword in chosen), default=0)
    for keyword, often in zip(chosen, times, strict=True):
        value = Cell(f"{keyword.relevance:.6g}", 12, "cyan", right=True)
        word = Cell(keyword.word, min(wide, 40))
        screen.row(
            value, word, Cell(often, max(map(len, times)), right=True), Cell(count(keyword.pages, "page"), style="dim")
        )
