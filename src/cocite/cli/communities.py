"""cocite communities: hubs and authorities around a topic, without noise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocite.cli import options as given
from cocite.cli.failures import NOTHING, complain
from cocite.cli.terminal import Cell, Screen, count
from cocite.cli.writing import check_place, write_whole
from cocite.errors import BadParameter

if TYPE_CHECKING:
    from cocite.evaluate.noise_report import NoiseReport
    from cocite.results.communities import CommunitiesFound, CommunityResult, Member, NoisePage

FEW, DRAWN = 5, 12
"""Hubs and authorities of each community, in text and in a picture."""


def communities(
    query: Annotated[
        list[str] | None, typer.Argument(metavar="QUERY", help="Words; the best pages for them are the root set.")
    ] = None,
    index: given.Index = Path("web.cocite"),
    page: Annotated[
        list[str] | None, typer.Option("--page", metavar="URL", help="A page of the root set; may be repeated.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method", "-m", metavar="METHOD", help="Parameters: 'community(delta=0.3, npea=min, vectors=5)'."
        ),
    ] = "community",
    k: Annotated[
        int | None,
        typer.Option("-k", metavar="N", help="So many hubs and authorities of each; 5, or 12 if they are drawn."),
    ] = None,
    no_npea: Annotated[
        bool, typer.Option("--no-npea", help="Show also what comes out if no noise is eliminated, side by side.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw them: one page of HTML that needs nothing else.")
    ] = None,
    gexf: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the whole base set for Gephi and the like.")
    ] = None,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Also say how well noise is told, for every δ; noise is what has no word.")
    ] = False,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The same by labels: page<TAB>noise or page<TAB>topic on each line."),
    ] = None,
    json: given.Json = False,
) -> None:
    """Show the communities of hubs and authorities on a topic, freed from noise pages.

    The best pages for the words, or the pages given, are the root set; with what they link to and what links to them
    they are the base set. Pages that have too little to do with the root set are eliminated (NPEA), and what remains
    gives communities: the principal one, and others by further singular vectors.

    Exits with 1 if no page has the words, or if there is no link between two sites.

    \b
    Examples:
      cocite communities typography -m 'community(vectors=5)' --no-npea
      cocite communities password manager --html page.html --gexf page.gexf
      cocite communities --page example.org --page example.com --json
    """
    from dataclasses import replace

    from cocite.cli.progress import display
    from cocite.related.methods import method as method_of
    from cocite.results.ask import check_k
    from cocite.results.communities import find
    from cocite.web import Web
    from cocite.words.search import ready_search

    chosen = method_of(method)
    if chosen.name != "community":
        raise BadParameter(f"communities are made by the method community, not {chosen.name}: give its parameters")
    words = " ".join(query or [])
    k = check_k((DRAWN if html else FEW) if k is None else k)
    if sweep and not words.strip() and labels is None:
        raise BadParameter("--sweep needs words, by which pages are told to be noise, or --labels FILE")
    check_place(html)
    check_place(gexf)
    web = Web(index)
    with display(quiet=json) as stages:
        if words.strip():
            ready_search(web.graph, stages)
        found = find(web, words, page or [], chosen.params, k)
        plain = find(web, words, page or [], replace(chosen.params, npea="off"), k) if no_npea else None
    told = experiment(found, labels) if (sweep or labels) and len(found) else None
    screen = Screen()
    if json:
        without = {"without_npea": plain.to_dict()["communities"]} if plain else {}
        screen.json({**found.to_dict(), **without, **({"experiment": told.to_dict()} if told else {})})
    else:
        show(screen, found) if plain is None else show_both(screen, found, plain)
        if told:
            show_experiment(screen, told)
    if not len(found):
        complain(nothing(found))
        raise typer.Exit(NOTHING)
    if html:
        from cocite.results.pictures.communities import communities_page

        write_whole(html, communities_page(found, plain, [told.section()] if told else []))
    if gexf:
        write_whole(gexf, found.to_gexf())


def experiment(found: CommunitiesFound, labels: Path | None) -> NoiseReport:
    """How well noise is told in a base set, by labels of a file or by the words."""
    from cocite.evaluate.noise import labels_by_words, read_labels
    from cocite.evaluate.noise_report import BY_WORDS, noise_report
    from cocite.results.community_words import words_of_pages
    from cocite.sources.records import ReadReport

    base = found.found.base
    if labels is None:
        words = words_of_pages(base.view.graph, base.edges)
        return noise_report(base, labels_by_words(base, words, found.query), BY_WORDS)
    report = ReadReport()
    read = read_labels(labels, base, report)
    for reason, number in report.skipped.items():
        complain(f"left out of {labels}: {count(number, reason)}, such as {report.example[reason]!r}")
    return noise_report(base, read, labels.name)


def show_experiment(screen: Screen, told: NoiseReport) -> None:
    """For people: Table 1, then Tables 4 and 5."""
    from cocite.cli.evaluate import show_table

    screen.blank()
    screen.line(("how well noise is told", "bold"))
    screen.line((told.about, "dim"))
    show_table(screen, "by δ and threshold c", told.table_1())
    show_table(screen, "measures of pages with a large δ and with a small one", told.tables_4_5())


def nothing(found: CommunitiesFound) -> str:
    """Why there is no community, and what to try."""
    if not found.root:
        return f"no page has any of the words {found.query!r}: try others, or give pages by --page"
    what = f"the {count(found.root, 'page')} found for {found.query!r}" if found.query else ", ".join(found.pages)
    return f"no link between two sites around {what}: see links with cocite links, or try 'community(unit=none)'"


def show(screen: Screen, found: CommunitiesFound) -> None:
    """For people: every community, then what was left out."""
    for each in found:
        heading(screen, each)
        for name, members in (("authorities", each.authorities), ("hubs", each.hubs)):
            screen.line((name, "dim"), indent=2)
            for member in members:
                row(screen, member)
        if each.eliminated:
            more = f", the first of {each.eliminated_in_all:,}" if each.eliminated_in_all > len(each.eliminated) else ""
            screen.line((f"noise around it{more}", "dim"), indent=2)
            for noise in each.eliminated:
                left_out(screen, noise)
        screen.blank()
    if len(found):
        summary(screen, found)


def heading(screen: Screen, each: CommunityResult) -> None:
    """What a community is about."""
    words = ", ".join(each.keywords) or "no words known"
    screen.line((each.name, "bold"), f"  {words}", (f"  {count(each.pages, 'page')}", "dim"))


def row(screen: Screen, member: Member) -> None:
    """A hub or an authority."""
    title = member.title or member.url
    wide = min(len(title), int(screen.width * 0.5)) if screen.live else 0
    score = Cell(f"{member.score:.3f}", 5, "dim", True)
    screen.row(score, Cell(title, wide), Cell(member.url if member.title else "", style="cyan"), indent=4)


def left_out(screen: Screen, noise: NoisePage) -> None:
    """A noise page, and why it is one."""
    title = noise.title or noise.url
    wide = min(len(title), int(screen.width * 0.4)) if screen.live else 0
    screen.row(Cell(title, wide), Cell(noise.why, style="dim"), indent=4)


def summary(screen: Screen, found: CommunitiesFound) -> None:
    """What the base set was, and what was done to it."""
    base = f"{count(found.root, 'root page')}, {count(found.base, 'page')} and {count(found.links, 'link')} in all"
    npea = f"{found.eliminated:,} eliminated below {found.threshold:.3g} (k {found.k} of {found.rank})"
    screen.line((f"{base}; {npea if found.threshold else 'nothing to eliminate'}; {found.milliseconds:.1f} ms", "dim"))


def show_both(screen: Screen, found: CommunitiesFound, plain: CommunitiesFound) -> None:
    """The same communities with and without NPEA, side by side; a minus marks what NPEA takes away."""
    wide = (screen.width - 8) // 2 if screen.live else 0
    for number in range(max(len(found), len(plain))):
        pair = [each[number] if number < len(each) else None for each in (found, plain)]
        screen.row(*(Cell(title(each, name), wide, "bold") for each, name in zip(pair, SIDES, strict=True)))
        for name in ("authorities", "hubs"):
            lists: list[tuple[Member, ...]] = [getattr(each, name) if each else () for each in pair]
            if not any(lists):
                continue
            screen.line((name, "dim"), indent=2)
            for at in range(max(map(len, lists))):
                here, there = (each[at] if at < len(each) else None for each in lists)
                marked = there is not None and there.page in found.left_out
                cells = Cell(called(here), wide), Cell(called(there, marked), wide, "red" if marked else "")
                screen.row(*cells, indent=4)
        screen.blank()
    if len(found):
        summary(screen, found)


SIDES = ("with NPEA", "without")


def title(each: CommunityResult | None, side: str) -> str:
    """The head of a column."""
    return f"{side}: {each.name}, {', '.join(each.keywords[:4])}" if each else ""


def called(member: Member | None, gone: bool = False) -> str:
    """A page on one line."""
    return f"{'− ' if gone else ''}{member.title or member.url}" if member else ""
