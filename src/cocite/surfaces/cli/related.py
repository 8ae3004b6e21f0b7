"""cocite related: which pages are related to this page?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocite.errors import BadParameter
from cocite.surfaces.cli import options as given
from cocite.surfaces.cli.failures import NOTHING, complain
from cocite.surfaces.cli.terminal import Cell, Screen

if TYPE_CHECKING:
    from cocite.answers.answer import Answers

Method = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        metavar="METHOD",
        help="How to relate pages, parameters in the name: 'companion(parents=500)'. See cocite methods.",
    ),
]
K = Annotated[int, typer.Option("-k", metavar="N", help="So many answers at most.")]
PerSite = Annotated[int, typer.Option(metavar="N", help="At most N answers from one site (0: any number).")]
NotOwnSite = Annotated[bool, typer.Option("--not-own-site", help="No answers from the page's own site.")]
Lang = Annotated[str, typer.Option(metavar="L", help="Only pages known to be in this language, such as de.")]
Since = Annotated[str, typer.Option(metavar="DATE", help="Only pages known to be captured on or after this date.")]


def related(
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL", help="Address of a page, in any spelling; of several, pages related to all."),
    ] = None,
    index: given.Index = Path("web.cocite"),
    method: Method = "proximity",
    k: K = 10,
    unwanted: Annotated[
        list[str] | None,
        typer.Option("--not", metavar="URL", help="Not this page, nor what is nearer to it; may be repeated."),
    ] = None,
    like: Annotated[
        Path | None, typer.Option(metavar="FILE", help="More pages to be related to: a file of addresses, one a line.")
    ] = None,
    per_site: PerSite = 0,
    not_own_site: NotOwnSite = False,
    lang: Lang = "",
    since: Since = "",
    explain: Annotated[bool, typer.Option("--explain", "-e", help="Show all reasons, not one line of them.")] = False,
    json: given.Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values instead.")] = False,
    tsv: Annotated[bool, typer.Option("--tsv", help="Print tab-separated values instead.")] = False,
) -> None:
    """Show the pages most related to a page, and why.

    Exits with 0 if there are answers, 1 if the page is known but nothing is related, 3 if it is unknown.

    \b
    Examples:
      cocite related nytimes.com lemonde.fr -m companion -k 20 --explain
      cocite related bmw.com -m 'cocitation(unit=site)' --json | jq .answers
    """
    from cocite.answers.ask import ask, check_k, question
    from cocite.answers.diversify import Filters
    from cocite.methods import method as method_of
    from cocite.surfaces.cli.progress import display
    from cocite.web import Web

    if json + csv + tsv > 1:
        raise BadParameter("--json, --csv and --tsv: give one of them")
    chosen = method_of(method)
    kept = Filters(per_site=per_site, not_own_site=not_own_site, lang=lang, since=since)
    check_k(k)
    web = Web(index)
    asked = question(web.graph, [*(urls or []), *(read_addresses(like) if like else [])], unwanted or [])
    with display(quiet=json):
        answers = ask(web, asked, chosen, k, kept)
    screen = Screen()
    if json:
        screen.json(answers.to_dict())
    elif csv or tsv:
        from cocite.answers.present import separated

        typer.echo(separated(answers, "\t" if tsv else ","), nl=False)
    else:
        own = {web.graph.canonical(page).removeprefix("name:") for page in asked.seeds}
        show(screen, answers, explain, [page for page in answers.used if page not in own])
    if not len(answers) and k:
        complain(nothing(answers, bool(asked.unwanted) or kept != Filters()))
        raise typer.Exit(NOTHING)


def read_addresses(path: Path) -> list[str]:
    """The addresses of a file, one a line; lines that begin with # are remarks."""
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except UnicodeDecodeError as error:
        raise BadParameter(f"{path} is no text in UTF-8: give a file of addresses, one a line") from error
    return [line for line in lines if line and not line.startswith("#")]


def nothing(answers: Answers, filtered: bool) -> str:
    """Why there is no answer, and what to try."""
    names = ", ".join(answers.query)
    if filtered:
        return f"nothing related to {names} passes the filters; give fewer of them"
    return f"{names} is known, but {answers.method} finds nothing related: see its links with cocite links"


def show(screen: Screen, answers: Answers, explained: bool, instead: list[str]) -> None:
    """For people; `instead` are shorter addresses that were asked."""
    from cocite.answers.present import briefly, lines

    if instead:
        why = " (too little is known of the page itself)"
        screen.line(("asked instead: ", "yellow"), ", ".join(instead), (why, "dim"))
    wide = max((len(f"{answer.score:.6g}") for answer in answers), default=0)
    for answer in answers:
        score = Cell(f"{answer.score:.6g}", wide, "dim", True)
        rank = Cell(str(answer.rank), 3, "dim", True)
        if screen.live:
            title = answer.title or answer.url
            url = Cell(answer.url if answer.title else "", style="cyan")
            screen.row(rank, Cell(title, min(len(title), int(screen.width * 0.5)), "bold"), url)
            for line in list(lines(answer)) if explained else [briefly(answer)]:
                screen.row(Cell(line, style="dim"), indent=5)
        else:
            screen.row(rank, score, Cell(answer.url), Cell(answer.title), Cell("" if explained else briefly(answer)))
            for line in lines(answer) if explained else ():
                screen.row(Cell(line), indent=5)
    if len(answers):
        took = f"{answers.milliseconds:.1f} ms"
        facts = ", ".join(f"{name} {value:,.6g}" for name, value in answers.facts.items())
        screen.line((f"{took} by {answers.method}" + (f": {facts}" if facts and explained else ""), "dim"))
