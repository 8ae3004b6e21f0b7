"""cocite related: which pages are related to this page?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocite.cli import options as given
from cocite.cli.failures import NOTHING, complain
from cocite.cli.terminal import Cell, Screen, count
from cocite.errors import BadParameter
from cocite.results import DEFAULT_METHOD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocite.graph.store import Graph
    from cocite.related.methods import Method as Chosen
    from cocite.results.answer import Answer, Answers
    from cocite.results.filters import Filters
    from cocite.results.groups import Group

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
GroupBy = Annotated[
    str, typer.Option("--by", metavar="lli|integrated", help="What groups are made by: citing sections, or likeness.")
]
LOOKED_AT = 100_000
"""Of pages with more links in, it is not asked where these come from."""


def related(
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL", help="Address of a page, in any spelling; of several, pages related to all."),
    ] = None,
    index: given.Index = Path("web.cocite"),
    method: Method = DEFAULT_METHOD,
    k: K = 10,
    unwanted: Annotated[
        list[str] | None,
        typer.Option("--not", metavar="URL", help="Not this page, nor what is nearer to it; may be repeated."),
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="More pages to be related to: addresses, one a line; or bookmarks or OPML, asked folder by folder.",
        ),
    ] = None,
    history: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Pages that were read: address, tab, weight on each line (no weight: 1)."),
    ] = None,
    per_site: PerSite = 0,
    not_own_site: NotOwnSite = False,
    lang: Lang = "",
    since: Since = "",
    group: Annotated[
        bool, typer.Option("--group", help="Put the answers into groups, named by keywords; see cocite cluster.")
    ] = False,
    by: GroupBy = "lli",
    explain: Annotated[bool, typer.Option("--explain", "-e", help="Show all reasons, not one line of them.")] = False,
    json: given.Json = False,
    csv: Annotated[
        bool,
        typer.Option(
            "--csv", help="Print comma-separated values instead; ' before what a spreadsheet would take for a formula."
        ),
    ] = False,
    tsv: Annotated[bool, typer.Option("--tsv", help="Print tab-separated values instead.")] = False,
) -> None:
    """Show the pages most related to a page, and why.

    With --like and the bookmarks of a browser, or the OPML file of a feed reader, pages near to the whole collection
    are shown: -k for every folder, none that is in it already. Pages that the store does not have are counted.

    Exits with 0 if there are answers, 1 if the page is known but nothing is related, 3 if it is unknown.

    \b
    Examples:
      cocite related nytimes.com lemonde.fr -m companion -k 20 --explain
      cocite related bmw.com -m 'cocitation(unit=site)' --json | jq .answers
      cocite related --like bookmarks.html -k 5 --not-own-site
    """
    from cocite.cli.progress import display
    from cocite.cli.related_collection import near_collection
    from cocite.related.methods import method as method_of
    from cocite.results.ask import ask, check_k, question
    from cocite.results.collection import read_collection
    from cocite.results.filters import NO_FILTERS
    from cocite.results.groups import group_answers
    from cocite.results.history import read_history
    from cocite.web import Web

    if json + csv + tsv > 1:
        raise BadParameter("--json, --csv and --tsv: give one of them")
    if group and (csv or tsv):
        raise BadParameter("--group has no table: leave out --csv and --tsv, or give --json")
    if by != "lli" and not group:
        raise BadParameter("--by says how to make groups: give --group too, or leave it out")
    chosen = method_of(method)
    kept = filters_of(per_site, not_own_site, lang, since)
    check_k(k)
    if like is not None and (collection := read_collection(like)) is not None:
        if urls or history or group or csv or tsv:
            raise BadParameter(
                f"{like} is asked by its folders: leave out addresses, --history, --group, --csv and --tsv"
            )
        show_one = partial(show_answer, explained=explain)
        return near_collection(index, like, collection, chosen, k, kept, unwanted or [], show_one, json)
    web = Web(index)
    urls = [*(urls or []), *(read_addresses(like) if like else [])]
    asked = question(web.graph, urls, unwanted or [], read_history(history) if history else [])
    if asked.history.unknown:
        few = ", ".join(asked.history.unknown[:3])
        complain(f"not in this store: {count(len(asked.history.unknown), 'page')} of {history}, such as {few}")
    with display(quiet=json) as web.progress:
        answers = ask(web, asked, chosen, k, kept)
        groups = group_answers(web, answers, by=by) if group else None
    screen = Screen()
    if json:
        screen.json(as_json(answers, groups))
    elif csv or tsv:
        from cocite.results.present import separated

        typer.echo(separated(answers, "\t" if tsv else ","), nl=False)
    else:
        own = {web.graph.canonical(page).removeprefix("name:") for page in asked.seeds}
        show(screen, answers, explain, [page for page in answers.used if page not in own], groups)
    if not k:
        complain("-k 0 asks for no answers: give a number from 1 on")
    elif not len(answers):
        if asked.unwanted or kept != NO_FILTERS:
            complain(unpassed(web.graph, answers, kept))
        else:
            complain(nothing(web.graph, asked.texts, asked.seeds, [chosen]))
        raise typer.Exit(NOTHING)


def as_json(answers: Answers, groups: Sequence[tuple[Group, Sequence[Answer]]] | None = None) -> dict[str, Any]:
    """For programs."""
    if groups is None:
        return answers.to_dict()
    named = [{"keywords": list(group.keywords), "ranks": [each.rank for each in some]} for group, some in groups]
    return {**answers.to_dict(), "groups": named}


def read_addresses(path: Path) -> list[str]:
    """The addresses of a file, one a line; lines that begin with # are remarks."""
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except UnicodeDecodeError as error:
        raise BadParameter(f"{path} is no text in UTF-8: give a file of addresses, one a line") from error
    addresses = [line for line in lines if line and not line.startswith("#")]
    if not addresses:
        raise BadParameter(f"{path} has no address: give bookmarks, an OPML file, or addresses, one a line")
    return addresses


def filters_of(per_site: int, not_own_site: bool, lang: str, since: str) -> Filters:
    """The filters that were given; what is wrong with one is said of its option."""
    from cocite.results.filters import Filters

    try:
        return Filters(per_site=per_site, not_own_site=not_own_site, lang=lang, since=since)
    except BadParameter as error:
        name, _, wrong = str(error).partition(" ")
        raise BadParameter(f"--{name.replace('_', '-')} {wrong}") from error


def unpassed(graph: Graph, answers: Answers, kept: Filters) -> str:
    """Why no answer passes the filters, and what to try."""
    for wanted, array, what in (
        (kept.lang, "page.language", "the language of no page: ask without --lang"),
        (kept.since, "page.captured", "the date of no page: ask without --since"),
    ):
        if wanted and not graph.array(array).any():
            return f"this store knows {what}"
    return f"nothing related to {', '.join(answers.query)} passes the filters; give fewer of them"


def nothing(graph: Graph, texts: Sequence[str], pages: Sequence[int], chosen: Sequence[Chosen]) -> str:
    """Why methods have no answer, and what to try."""
    from cocite.parameters import changed, spell

    one = len(texts) == 1
    known = f"{', '.join(texts)} {'is' if one else 'are'} known"
    for each in chosen:
        unit = getattr(each.params, "unit", "none")
        if unit != "none" and all(cited_at_home(graph, page, unit) for page in pages):
            call = quote(spell(each.name, {**changed(each.params), "unit": "none"}))
            return f"{known}, but linked by pages of {'its' if one else 'their'} own {unit} only: try -m {call}"
    finds = f"{chosen[0].name} finds nothing" if len(chosen) == 1 else "no method finds anything"
    return f"{known}, but {finds} related: see {'its' if one else 'their'} links with cocite links"


def cited_at_home(graph: Graph, page: int, unit: str) -> bool:
    """Whether other pages link to a page, and all of them are on its own unit."""
    if not 0 < graph.in_degree[page] <= LOOKED_AT:
        return False
    parents, units = graph.links_to(page), graph.units(unit)
    return bool((parents != page).any() and (units[parents] == units[page]).all())


def show(
    screen: Screen,
    answers: Answers,
    explained: bool,
    instead: list[str],
    groups: Sequence[tuple[Group, Sequence[Answer]]] | None = None,
) -> None:
    """For people; `instead` are shorter addresses that were asked."""
    if instead:
        why = " (too little is known of the page itself)"
        screen.line(("asked instead: ", "yellow"), ", ".join(instead), (why, "dim"))
    wide = max((len(f"{answer.score:.6g}") for answer in answers), default=0)
    if groups is None:
        for answer in answers:
            show_answer(screen, answer, wide, explained)
    for group, some in groups or ():
        screen.line((group.name, "bold green"), (f"  {count(len(some), 'page')}", "dim"))
        for answer in some:
            show_answer(screen, answer, wide, explained)
    if len(answers):
        took = f"{answers.milliseconds:.1f} ms"
        facts = ", ".join(
            f"{name}: {value}" if isinstance(value, str) else f"{name} {value:,.6g}"
            for name, value in answers.facts.items()
        )
        screen.line((f"{took} by {answers.method}" + (f": {facts}" if facts and explained else ""), "dim"))


def show_answer(screen: Screen, answer: Answer, wide: int, explained: bool) -> None:
    """One answer with its reasons; its score is `wide` characters wide at most."""
    from cocite.results.present import briefly, lines

    rank = Cell(str(answer.rank), 3, "dim", True)
    if screen.live:
        title = answer.title or answer.url
        url = Cell(answer.url if answer.title else "", style="cyan")
        screen.row(rank, Cell(title, min(len(title), int(screen.width * 0.5)), "bold"), url)
        for line in list(lines(answer)) if explained else [briefly(answer)]:
            screen.row(Cell(line, style="dim"), indent=5)
    else:
        score = Cell(f"{answer.score:.6g}", wide, "dim", True)
        screen.row(rank, score, Cell(answer.url), Cell(answer.title), Cell("" if explained else briefly(answer)))
        for line in lines(answer) if explained else ():
            screen.row(Cell(line), indent=5)
