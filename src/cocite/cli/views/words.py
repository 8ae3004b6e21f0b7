"""How `cocite keywords`, `cocite communities` and `cocite filter` show their results."""

from collections.abc import Sequence
from typing import Any

from cocite.cli.terminal import Cell, Screen, cut_middle, short_address, show_table
from cocite.operations.words.communities import CommunitiesFound, CommunityResult, Member
from cocite.operations.words.filter import PagesFiltered
from cocite.operations.words.keywords import Keyword, KeywordsBuilt, KeywordsFound, KeywordsOfPage, PageKeyword
from cocite.text import count


def show_keywords(screen: Screen, asked: Any, result: KeywordsFound | KeywordsOfPage | KeywordsBuilt) -> None:
    """Both kinds of related keywords, one below the other; the keywords of a page; or how many were computed."""
    if isinstance(result, KeywordsBuilt):
        made = f"  {count(result.keywords, 'keyword')} of {count(result.pages, 'page')}"
        screen.line((result.store, "bold"), made)
    elif isinstance(result, KeywordsOfPage):
        screen.line((result.page, "bold"), f"  main: {', '.join(result.main) or 'none'}")
        show_words(screen, result.keywords, [f"{keyword.count:,}×" for keyword in result.keywords])
    else:
        kinds = (
            ("similar", "on the same pages", result.similar),
            ("logical", "on pages that these link to", result.logical),
        )
        for name, where, chosen in kinds:
            about = f"  {where}" if screen.live else ""
            screen.line((name, "bold"), (about if chosen else "  none", "dim"))
            show_words(screen, chosen, ["" for _ in chosen])


def show_words(screen: Screen, chosen: Sequence[Keyword | PageKeyword], times: list[str]) -> None:
    """Keywords with how often they occur, how many pages have them, and their relevance."""
    wide = min(40, max((len(keyword.word) for keyword in chosen), default=0))
    for keyword, often in zip(chosen, times, strict=True):
        value, pages = f"{keyword.relevance:.6g}", Cell(count(keyword.pages, "page"), 11, right=True)
        if not screen.live:
            screen.row(Cell(value), Cell(keyword.word), Cell(often), pages)
            continue
        cells = [Cell(often, max(map(len, times)), "dim", True)] if often else []
        value = f"relevance {keyword.relevance:.3g}"
        screen.row(Cell(keyword.word, wide, "bold"), *cells, pages, Cell(value, 0, "dim"), indent=2)


def show_communities(screen: Screen, asked: Any, result: CommunitiesFound) -> None:
    """Each community with the pages eliminated around it, with `no_npea` side by side, and the experiment."""
    if result.plain is None:
        for each in result:
            show_community(screen, each)
    else:
        show_both(screen, result, result.plain)
    if len(result):
        base = f"{count(result.root, 'root page')}, {count(result.base, 'page')} and {count(result.links, 'link')}"
        npea = f"{result.eliminated:,} eliminated below {result.threshold:.3g} (k {result.k} of {result.rank})"
        npea = npea if result.threshold else "nothing to eliminate"
        screen.line((f"{base}; {npea}; {result.milliseconds:.1f} ms", "dim"))
    if report := result.experiment:
        screen.blank()
        screen.line(("How well noise is found", "bold"))
        screen.line((report.about, "dim"))
        show_table(screen, "By δ and threshold c", report.table_1())
        show_table(screen, "Measures of pages with a large δ and with a small one", report.tables_4_5())


def show_community(screen: Screen, each: CommunityResult) -> None:
    """A community: its name and keywords, authorities and hubs, and the noise pages around it."""
    words = ", ".join(each.keywords) or "no keywords"
    screen.line((words, "bold green"), (f"  {count(each.pages, 'page')} of its own, {each.name}", "dim"))
    for name, members in (("authorities", each.authorities), ("hubs", each.hubs)):
        screen.line((name, "dim"), indent=2)
        for member in members:
            screen.page(member.title, member.url, Cell(f"{member.score:.3f}", 5, "dim", True), indent=4)
    if each.eliminated:
        first, total = len(each.eliminated), each.eliminated_in_all
        more = f" (first {first} of {total:,})" if total > first else ""
        screen.line((f"noise pages{more}", "dim"), indent=2)
        for noise in each.eliminated:
            screen.entry(Cell(noise.title or noise.url, 28), noise.why, style="dim", indent=4)
    screen.blank()


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


def show_filtered(screen: Screen, asked: Any, result: PagesFiltered) -> None:
    """Kept pages, then dropped ones, each with its label and the reason."""
    for verb, pages in (("keep", result.kept), ("drop", result.dropped)):
        for each in pages:
            cells = Cell(verb, 4, "green" if verb == "keep" else "red"), Cell(each.label, 9, "dim")
            if not screen.live:
                screen.row(*cells, Cell(each.url), Cell(each.why))
                continue
            screen.row(*cells, Cell(cut_middle(short_address(each.url), screen.width - 17), 0, "cyan"))
            screen.line((each.why, "dim"), indent=17)
    if screen.live:
        counts = f"{count(result.kept_in_all, 'page')} kept, {result.dropped_in_all:,} dropped"
        screen.line((f"{counts}; {count(result.root, 'root page')}; {result.milliseconds:.1f} ms", "dim"))
