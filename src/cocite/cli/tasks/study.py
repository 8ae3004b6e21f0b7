"""cocite study: a blind rating study of methods, as in Dean & Henzinger 1999."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cocite.cli import options as shared
from cocite.cli.failures import Commands
from cocite.cli.files import check_writable, read_addresses, with_page_lists
from cocite.cli.tasks.evaluate import note_gaps, show_evaluation
from cocite.cli.terminal import Screen
from cocite.errors import BadParameter
from cocite.results.text import count

HELP = """Have people rate the results of methods without knowing which method found them.

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
    urls: Annotated[list[str] | None, typer.Argument(metavar="URL", help="A query page.")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="More addresses: a file, one per line.")
    ] = None,
    index: shared.Index = Path("web.cocite"),
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            metavar="METHOD",
            help="A method to study; may be repeated (default: companion, cocitation).",
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, max=100, help="Number of results of each method.")] = 10,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the order of results.")] = 1,
) -> None:
    """Run methods, shuffle their results, and write the sheets for raters.

    Send rate.html or ratings.csv to the raters, and keep study.json, which has the method of each result.

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
        raise BadParameter("No pages to ask about: give addresses, or --file FILE")
    check_folder(folder)
    named = (methods.method(with_page_lists(each)) for each in method or ("companion", "cocitation"))
    chosen = list({str(each): each for each in named}.values())
    web, screen = Web(index), Screen()
    found = {text: web.graph.get(text) for text in texts}
    pages = [page for page in found.values() if page is not None]
    if not pages:
        web.graph.find(texts[0])  # raises UnknownPage with the nearest addresses
    with display() as web.progress:
        made = make(web, pages, chosen, k, seed)
    write(made, folder)
    for text in (text for text, page in found.items() if page is None):
        Screen(stderr=True).line(f"Skipped, as it isn't in this store: {text[:200]}")
    screen.line((str(folder), "bold"), f"  {count(len(made.items), 'result')} for {count(len(set(pages)), 'page')}")
    screen.line(f"Send rate.html (or ratings.csv) to the raters; then run: cocite study report {folder} RATINGS...")


@study.command()
def rate(folder: Folder) -> None:
    """Rate results in the terminal. Each rating is saved at once; you can stop and continue later.

    \b
    Examples:
      cocite study rate trial
    """
    from cocite.evaluate.study import RATINGS, keep_edited, read, read_ratings, write_ratings
    from cocite.sources.records import ReadReport

    found, sheet, screen, skips = read(folder), folder / "ratings.csv", Screen(), ReadReport()
    ratings = read_ratings(sheet, found, skips) if sheet.exists() else {}
    for reason, times in skips.skipped.items():
        screen.line(f"Skipped: {times:,} × {reason}")
    kept = False
    left = [item for item in found.items if item.id not in ratings]
    screen.line(f"Rated {len(ratings)} of {len(found.items)}. 1: related, 0: not related, x: can't open, q: stop")
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
            screen.line(f"The edited sheet is kept as {edited}")
        kept = True
        ratings[item.id] = said
        write_ratings(found, sheet, ratings)


@study.command()
def report(
    folder: Folder,
    ratings: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RATINGS", help="Sheets of raters (default: those in the folder)."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a report with figures, one page of HTML.")
    ] = None,
    json: shared.Json = False,
) -> None:
    """Print the tables of the study: results, precision, significance, overlap.

    \b
    Examples:
      cocite study report trial
      cocite study report trial anna.csv ben.csv --html study.html
    """
    from cocite.evaluate.study import evaluation_of, read, read_ratings
    from cocite.sources.records import ReadReport

    check_writable(html)
    known, skips = read(folder), ReadReport()
    sheets = dict.fromkeys(
        ratings or sorted(folder.glob("ratings*.csv"))
    )  # `cocite serve --study` writes one per rater
    raters = [read_ratings(path, known, skips) for path in sheets]
    if not any(raters):
        raise BadParameter("No result is rated yet: fill in the column rating with 1, 0 or x")
    found = evaluation_of(known, raters)
    rated, judged = {number for rater in raters for number in rater}, found.judgements.ratings
    unrated = sum(item.query in judged and item.id not in rated for item in known.items)
    if unrated:
        skips.skip("result without a rating, counted as not related", count=unrated)
    nobody = len(known.in_degree) - len(found.rated)
    if nobody:
        skips.skip("query without any rating, ignored", count=nobody)
    note_gaps(found, skips)
    show_evaluation(f"Study {folder.name}", found, skips, dict(known.in_degree), html, json)
