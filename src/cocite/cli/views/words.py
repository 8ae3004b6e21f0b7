"""How `cocite keywords` and `cocite communities` show their results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocite.cli import options as shared
from cocite.cli.commands import CommandView, Options
from cocite.cli.failures import complain
from cocite.cli.terminal import Cell, Screen, show_table
from cocite.errors import BadParameter
from cocite.operations.declare import Operation
from cocite.operations.task import check_writable, write_file
from cocite.operations.words.communities import FindCommunities
from cocite.operations.words.keywords import FindKeywords
from cocite.text import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocite.evaluate.noise import NoiseReport
    from cocite.operations.words.communities import CommunitiesFound, CommunityResult, Member
    from cocite.operations.words.keywords import Keyword, PageKeyword
    from cocite.web import Web

KEYWORDS_PER_PAGE = 20
DRAWN_PAGES = 12
"""Hubs and authorities of each community where they are drawn, unless -k says otherwise."""
MakeKeywords = Annotated[bool, typer.Option("--make", help="Compute keywords and relevance again.")]
PerPage = Annotated[int, typer.Option(metavar="N", help="With --make: number of keywords of each page.")]
DrawingFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also draw them, 12 hubs and authorities each: one page of HTML.")
]
GexfFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the whole base set, for Gephi.")]
Sweep = Annotated[
    bool, typer.Option("--sweep", help="Also show how well noise is found, for every δ; noise has none of the words.")
]
LabelFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The same by labels: page<TAB>noise or page<TAB>topic per line.")
]


class KeywordsView(CommandView):
    """Similar and logically related keywords, or those of a page; --make computes them again."""

    operation = FindKeywords
    options = {  # noqa: RUF012
        "make": (MakeKeywords, False), "per_page": (PerPage, KEYWORDS_PER_PAGE), "quiet": (shared.Quiet, False)
    }  # fmt: skip
    help = """For a word that isn't a keyword of any page, the nearest known keywords are shown, and the exit code
is 3."""

    def run(self, values: Options, options: Options) -> None:
        """Ask, or with --make alone, compute keywords."""
        per_page, make = options["per_page"], options["make"]
        if per_page != KEYWORDS_PER_PAGE and not make:
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

        graph, make, progress = web.graph, options["make"], web.progress
        if make:
            web.keywords = build_keywords(graph, per_page=options["per_page"], progress=progress)
        else:
            web.keywords = ready_keywords(graph, progress=progress)
        web.relevance = (build_relevance if make else ready_relevance)(graph, web.keywords, progress=progress)

    def show(self, screen: Screen, asked: FindKeywords, result: Any, options: Options) -> None:
        """Print both kinds, one below the other, or the keywords of the page."""
        if asked.page:
            screen.line((result.page, "bold"), f"  main: {', '.join(result.main) or 'none'}")
            show_keywords(screen, result.keywords, [f"{keyword.count:,}×" for keyword in result.keywords])
            return
        for name, chosen in (("similar", result.similar), ("logical", result.logical)):
            screen.line((name, "bold"), "" if chosen else "  none")
            show_keywords(screen, chosen, ["" for _ in chosen])


def show_keywords(screen: Screen, chosen: Sequence[Keyword | PageKeyword], times: list[str]) -> None:
    """Keywords with their relevance and how many pages have them."""
    wide = min(40, max((len(keyword.word) for keyword in chosen), default=0))
    for keyword, often in zip(chosen, times, strict=True):
        value, pages = Cell(f"{keyword.relevance:.6g}", 12, "cyan", True), Cell(count(keyword.pages, "page"), 0, "dim")
        screen.row(value, Cell(keyword.word, wide), Cell(often, max(map(len, times)), right=True), pages)


class CommunitiesView(CommandView):
    """Each community with its hubs and authorities, and the pages eliminated around it."""

    operation = FindCommunities
    options = {  # noqa: RUF012
        "html": (DrawingFile, None), "gexf": (GexfFile, None), "sweep": (Sweep, False), "labels": (LabelFile, None)
    }  # fmt: skip
    help = "Exits with 1 if no page has the words, or if no link connects two sites."

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
            for each in result:
                show_community(screen, each)
        else:
            show_both(screen, result, result.plain)
        if len(result):
            show_summary(screen, result)
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


def show_community(screen: Screen, each: CommunityResult) -> None:
    """A community: its name and keywords, authorities and hubs, and the noise pages around it."""
    words = ", ".join(each.keywords) or "no keywords"
    screen.line((each.name, "bold"), f"  {words}", (f"  {count(each.pages, 'page')}", "dim"))
    for name, members in (("authorities", each.authorities), ("hubs", each.hubs)):
        screen.line((name, "dim"), indent=2)
        for member in members:
            screen.page(member.title, member.url, Cell(f"{member.score:.3f}", 5, "dim", True), indent=4)
    if each.eliminated:
        first, total = len(each.eliminated), each.eliminated_in_all
        more = f" (first {first} of {total:,})" if total > first else ""
        screen.line((f"noise pages{more}", "dim"), indent=2)
        for noise in each.eliminated:
            title = noise.title or noise.url
            wide = min(len(title), int(screen.width * 0.4)) if screen.live else 0
            screen.row(Cell(title, wide), Cell(noise.why, style="dim"), indent=4)
    screen.blank()


def show_summary(screen: Screen, found: CommunitiesFound) -> None:
    """The size of the base set, and how many pages were eliminated."""
    base = f"{count(found.root, 'root page')}, {count(found.base, 'page')} and {count(found.links, 'link')}"
    npea = f"{found.eliminated:,} eliminated below {found.threshold:.3g} (k {found.k} of {found.rank})"
    screen.line((f"{base}; {npea if found.threshold else 'nothing to eliminate'}; {found.milliseconds:.1f} ms", "dim"))


def show_both(screen: Screen, found: CommunitiesFound, plain: CommunitiesFound) -> None:
    """The same communities with and without NPEA, side by side; a minus marks pages that NPEA eliminates."""
    wide = (screen.width - 8) // 2 if screen.live else 0

    def head(each: CommunityResult | None, side: str) -> Cell:
        return Cell(f"{side}: {each.name}, {', '.join(each.keywords[:4])}" if each else "", wide, "bold")

    def cell(member: Member | None, marked: bool = False) -> Cell:
        text = f"{'− ' if marked else ''}{member.title or member.url}" if member else ""
        return Cell(text, wide, "red" if marked else "")

    for number in range(max(len(found), len(plain))):
        here, there = (each[number] if number < len(each) else None for each in (found, plain))
        screen.row(head(here, "with NPEA"), head(there, "without"))
        for name in ("authorities", "hubs"):
            lists: list[tuple[Member, ...]] = [getattr(each, name) if each else () for each in (here, there)]
            if any(lists):
                screen.line((name, "dim"), indent=2)
            for at in range(max(map(len, lists))):
                one, other = (each[at] if at < len(each) else None for each in lists)
                screen.row(cell(one), cell(other, other is not None and other.page in found.left_out), indent=4)
        screen.blank()
