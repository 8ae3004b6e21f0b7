"""How `cocite communities` shows communities, and draws them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocite.cli.commands import Options, View
from cocite.cli.failures import complain
from cocite.cli.files import check_writable, write_file
from cocite.cli.terminal import Cell, Screen, show_table
from cocite.errors import BadParameter
from cocite.operations.declare import Operation
from cocite.operations.words.communities import FindCommunities
from cocite.results.text import count

if TYPE_CHECKING:
    from cocite.evaluate.noise import NoiseReport
    from cocite.operations.words.communities import CommunitiesFound, CommunityResult, Member, NoisePage
    from cocite.web import Web

DRAWN_PAGES = 12
"""Hubs and authorities of each community where they are drawn, unless -k says otherwise."""
Html = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also draw them, 12 hubs and authorities each: one page of HTML.")
]
Gexf = Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the whole base set, for Gephi.")]
Sweep = Annotated[
    bool, typer.Option("--sweep", help="Also show how well noise is found, for every δ; noise has none of the words.")
]
Labels = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The same by labels: page<TAB>noise or page<TAB>topic per line.")
]


class CommunitiesView(View):
    """Each community with its hubs and authorities, and the pages eliminated around it."""

    operation = FindCommunities
    options = {  # noqa: RUF012
        "html": (Html, None), "gexf": (Gexf, None), "sweep": (Sweep, False), "labels": (Labels, None)
    }  # fmt: skip
    help = "Exits with 1 if no page has the words, or if there is no link between two sites."

    def read(self, values: Options, options: Options) -> Operation:
        """The question; refuses files that can't be written."""
        if options["sweep"] and not values.get("query", "").strip() and options["labels"] is None:
            raise BadParameter("--sweep needs words, or --labels FILE, to know which pages are noise")
        check_writable(options["html"])
        check_writable(options["gexf"])
        if options["html"]:
            values.setdefault("k", DRAWN_PAGES)
        return super().read(values, options)

    def prepare(self, web: Web, asked: FindCommunities, options: Options) -> None:
        """Build the search index if there is none that fits."""
        from cocite.words.search import ready_search

        if asked.query.strip():
            web.search = ready_search(web.graph, progress=web.progress)

    def warn(self, web: Web, asked: FindCommunities, result: CommunitiesFound, options: Options) -> None:
        """Compute how well noise is found, if asked to."""
        wanted = (options["sweep"] or options["labels"]) and len(result)
        options["experiment"] = experiment(result, options["labels"]) if wanted else None

    def to_json(self, result: CommunitiesFound, options: Options) -> object:
        """With the experiment."""
        report = options["experiment"]
        return {**result.to_dict(), **({"experiment": report.to_dict()} if report else {})}

    def show(self, screen: Screen, asked: FindCommunities, result: CommunitiesFound, options: Options) -> None:
        """Print the communities, with `no_npea` side by side, and the experiment."""
        if result.plain is None:
            show_communities(screen, result)
        else:
            show_both(screen, result, result.plain)
        if report := options["experiment"]:
            screen.blank()
            screen.line(("How well noise is found", "bold"))
            screen.line((report.about, "dim"))
            show_table(screen, "By δ and threshold c", report.table_1())
            show_table(screen, "Measures of pages with a large δ and with a small one", report.tables_4_5())

    def finish(self, asked: FindCommunities, result: CommunitiesFound, options: Options) -> None:
        """Write the drawing and the graph."""
        if options["html"]:
            from cocite.results.pictures.communities import communities_page

            report = options["experiment"]
            write_file(options["html"], communities_page(result, result.plain, [report.section()] if report else []))
        if options["gexf"]:
            write_file(options["gexf"], result.to_gexf())


def experiment(found: CommunitiesFound, labels: Path | None) -> NoiseReport:
    """How well noise is found in a base set, by labels of a file or by the words."""
    from cocite.evaluate.noise import BY_WORDS, labels_by_words, noise_report, read_labels
    from cocite.results.community_words import words_of_pages
    from cocite.sources.records import ReadReport

    base = found.found.base
    if labels is None:
        words = words_of_pages(base.view.graph, base.edges)
        return noise_report(base, labels_by_words(base, words, found.query), BY_WORDS)
    report = ReadReport()
    read = read_labels(labels, base, report)
    for reason, number in report.skipped.items():
        complain(f"Skipped in {labels}: {count(number, reason)}, such as {report.example[reason]!r}")
    return noise_report(base, read, labels.name)


def show_communities(screen: Screen, found: CommunitiesFound) -> None:
    """Every community, then the noise pages around it."""
    for each in found:
        heading(screen, each)
        for name, members in (("authorities", each.authorities), ("hubs", each.hubs)):
            screen.line((name, "dim"), indent=2)
            for member in members:
                row(screen, member)
        if each.eliminated:
            first, total = len(each.eliminated), each.eliminated_in_all
            more = f" (first {first} of {total:,})" if total > first else ""
            screen.line((f"noise pages{more}", "dim"), indent=2)
            for noise in each.eliminated:
                show_noise(screen, noise)
        screen.blank()
    if len(found):
        summary(screen, found)


def heading(screen: Screen, each: CommunityResult) -> None:
    """The name and keywords of a community."""
    words = ", ".join(each.keywords) or "no keywords"
    screen.line((each.name, "bold"), f"  {words}", (f"  {count(each.pages, 'page')}", "dim"))


def row(screen: Screen, member: Member) -> None:
    """A hub or an authority."""
    title = member.title or member.url
    wide = min(len(title), int(screen.width * 0.5)) if screen.live else 0
    score = Cell(f"{member.score:.3f}", 5, "dim", True)
    screen.row(score, Cell(title, wide), Cell(member.url if member.title else "", style="cyan"), indent=4)


def show_noise(screen: Screen, noise: NoisePage) -> None:
    """A noise page, with the reason."""
    title = noise.title or noise.url
    wide = min(len(title), int(screen.width * 0.4)) if screen.live else 0
    screen.row(Cell(title, wide), Cell(noise.why, style="dim"), indent=4)


def summary(screen: Screen, found: CommunitiesFound) -> None:
    """The size of the base set, and how many pages were eliminated."""
    base = f"{count(found.root, 'root page')}, {count(found.base, 'page')} and {count(found.links, 'link')}"
    npea = f"{found.eliminated:,} eliminated below {found.threshold:.3g} (k {found.k} of {found.rank})"
    screen.line((f"{base}; {npea if found.threshold else 'nothing to eliminate'}; {found.milliseconds:.1f} ms", "dim"))


def show_both(screen: Screen, found: CommunitiesFound, plain: CommunitiesFound) -> None:
    """The same communities with and without NPEA, side by side; a minus marks pages that NPEA eliminates."""
    wide = (screen.width - 8) // 2 if screen.live else 0
    for number in range(max(len(found), len(plain))):
        pair = [each[number] if number < len(each) else None for each in (found, plain)]
        sides = zip(pair, ("with NPEA", "without"), strict=True)
        screen.row(*(Cell(title(each, side), wide, "bold") for each, side in sides))
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


def title(each: CommunityResult | None, side: str) -> str:
    """The head of a column."""
    return f"{side}: {each.name}, {', '.join(each.keywords[:4])}" if each else ""


def called(member: Member | None, gone: bool = False) -> str:
    """A page on one line."""
    return f"{'− ' if gone else ''}{member.title or member.url}" if member else ""
