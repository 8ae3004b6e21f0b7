"""cocite study: a blind rating study of methods, as in Dean & Henzinger 1999."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cocite.cli import options as shared
from cocite.cli.failures import Commands
from cocite.cli.files import check_writable, read_addresses
from cocite.cli.tasks.evaluate import note_gaps, tell
from cocite.cli.terminal import Screen, count
from cocite.errors import BadParameter

HELP = """Have people rate what methods answer, blind.

\b
Examples:
  cocite study new trial nytimes.com bmw.com -m companion -m cocitation
  cocite study rate trial
  cocite study report trial
"""
study = typer.Typer(cls=Commands, rich_markup_mode=None, help=HELP)
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the study.")]


@study.command()
def new(
    folder: Folder,
    urls: Annotated[list[str] | None, typer.Argument(metavar="URL", help="Pages to ask about.")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="More of them: a file, one address a line.")
    ] = None,
    index: shared.Index = Path("web.cocite"),
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", metavar="METHOD", help="A method to study; give two or more."),
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, max=100, help="So many answers of each method.")] = 10,
    seed: Annotated[int, typer.Option(metavar="N", help="Another number mixes the answers in another way.")] = 1,
) -> None:
    """Ask methods, mix their answers, and write what raters need.

    Send rate.html or ratings.csv to the raters, and keep study.json, which says what method gave what.

    \b
    Examples:
      cocite study new trial nytimes.com bmw.com -m companion -m cocitation
      cocite study new trial --file queries.txt -m proximity -m lli -k 5
    """
    from cocite.cli.progress import display
    from cocite.evaluate.study import check_folder, write
    from cocite.evaluate.study import new as make
    from cocite.related import methods
    from cocite.web import Web

    texts = [*(urls or []), *(read_addresses(file) if file else [])]
    if not texts:
        raise BadParameter("no pages to ask about: give addresses, or --file FILE")
    check_folder(folder)
    named = map(methods.method, method or ("companion", "cocitation"))
    chosen = list({str(each): each for each in named}.values())
    web, screen = Web(index), Screen()
    found = {text: web.graph.get(text) for text in texts}
    pages = [page for page in found.values() if page is not None]
    if not pages:
        web.graph.find(texts[0])  # says why, and what is meant perhaps
    with display() as web.progress:
        made = make(web, pages, chosen, k, seed)
    write(made, folder)
    for text in (text for text, page in found.items() if page is None):
        Screen(stderr=True).line(f"left out, as it is not in this store: {text[:200]}")
    screen.line((str(folder), "bold"), f"  {count(len(made.items), 'answer')} to {count(len(set(pages)), 'page')}")
    screen.line(f"send rate.html (or ratings.csv) to those who rate; then: cocite study report {folder} RATINGS...")


@study.command()
def rate(folder: Folder) -> None:
    """Rate the answers here, in the terminal; every answer is kept at once, and the rest can wait.

    \b
    Examples:
      cocite study rate trial
    """
    from cocite.evaluate.study import RATINGS, keep_edited, read, read_ratings, write_ratings
    from cocite.sources.records import ReadReport

    found, sheet, screen, told = read(folder), folder / "ratings.csv", Screen(), ReadReport()
    ratings = read_ratings(sheet, found, told) if sheet.exists() else {}
    for reason, times in told.skipped.items():
        screen.line(f"left out: {times:,} × {reason}")
    kept = False
    left = [item for item in found.items if item.id not in ratings]
    screen.line(f"{len(ratings)} of {len(found.items)} rated. 1 related, 0 not related, x could not open, q stop")
    for item in left:
        screen.blank()
        screen.line(("to ", "dim"), (item.query_title or item.query, "bold"), f"  {item.query}")
        screen.line(("is  ", "dim"), (item.title or item.page, "bold"), f"  {item.page}")
        said = ""
        while said not in RATINGS:
            try:
                said = input("related? 1 / 0 / x / q: ").strip().lower()
            except EOFError:
                said = "q"
            if said == "q":
                return
        if not kept and (edited := keep_edited(found, sheet)):
            screen.line(f"the sheet as it was edited stays in {edited}")
        kept = True
        ratings[item.id] = said
        write_ratings(found, sheet, ratings)


@study.command()
def report(
    folder: Folder,
    ratings: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RATINGS", help="Sheets that raters sent back. Else those in the folder."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a report with figures, one page of HTML.")
    ] = None,
    json: shared.Json = False,
) -> None:
    """The tables of the study: what was answered, precision, significance, overlap.

    \b
    Examples:
      cocite study report trial
      cocite study report trial anna.csv ben.csv --html study.html
    """
    from cocite.evaluate.study import evaluation_of, read, read_ratings
    from cocite.sources.records import ReadReport

    check_writable(html)
    known, told = read(folder), ReadReport()
    sheets = dict.fromkeys(ratings or sorted(folder.glob("ratings*.csv")))  # `cocite serve --study` makes one a rater
    raters = [read_ratings(path, known, told) for path in sheets]
    if not any(raters):
        raise BadParameter("no answer is rated yet: fill in the column rating with 1, 0 or x")
    found = evaluation_of(known, raters)
    rated, judged = {number for rater in raters for number in rater}, found.judgements.ratings
    unrated = sum(item.query in judged and item.id not in rated for item in known.items)
    if unrated:
        told.skip("answer that nobody rated, counted as wrong", count=unrated)
    nobody = len(known.in_degree) - len(found.rated)
    if nobody:
        told.skip("query of which no answer is rated, left out", count=nobody)
    note_gaps(found, told)
    tell(f"Study {folder.name}", found, told, dict(known.in_degree), html, json)
