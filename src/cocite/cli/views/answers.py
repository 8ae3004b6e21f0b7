"""How commands show pages with scores and reasons: related, recommend, search, hubs, cluster, similarity, compare,
changes.
"""

from typing import Any

import click

from cocite.cli.terminal import Cell, Screen, rate, seconds, short_address, size
from cocite.operations.pages.batch import Batch, BatchSummary
from cocite.operations.pages.changes import ChangesFound
from cocite.operations.pages.cluster import PageGroups
from cocite.operations.pages.collection import CollectionResults
from cocite.operations.pages.compare import Comparison
from cocite.operations.pages.similarity import SimilarityResult
from cocite.operations.words.search import IndexBuilt
from cocite.results.answer import Answer, Answers
from cocite.results.present import brief, briefly, lines, separated
from cocite.text import count

RANK_WIDTH = 3


def show_pages(screen: Screen, asked: Any, result: Answers | CollectionResults) -> None:
    """Related or recommended pages: those of a collection by its folders, others one by one or as a table."""
    if isinstance(result, CollectionResults):
        show_collection(screen, result, asked.all_reasons)
    elif asked.csv or asked.tsv:
        click.echo(separated(result, "\t" if asked.tsv else ","), nl=False)
    else:
        show_answers(screen, result, asked.all_reasons)


def show_answers(screen: Screen, answers: Any, explained: bool) -> None:
    """Answers, in their groups if they have any."""
    for group, some in getattr(answers, "groups", None) or [(None, answers)]:
        if group is not None:
            screen.line((group.name, "bold green"), (f"  {count(len(some), 'page')}", "dim"))
        for answer in some:
            show_answer(screen, answer, score_width(answers), explained)
    if len(answers):
        named = answers.facts.items()
        facts = ", ".join(f"{name}: {each}" if isinstance(each, str) else f"{name} {each:,.6g}" for name, each in named)
        took = f"{answers.milliseconds:.1f} ms by {answers.method}"
        screen.line((took + (f": {facts}" if facts and explained else ""), "dim"))


def show_recommended(screen: Screen, asked: Any, result: Any) -> None:
    """Recommended pages, best first; then the groups that they form, and keywords."""
    if asked.csv or asked.tsv:
        return show_pages(screen, asked, result)
    for answer in result:
        show_answer(screen, answer, score_width(result), asked.all_reasons)
    for group, some in result.groups if len(result.groups) > 1 else ():
        ranks = ", ".join(str(answer.rank) for answer in some)
        screen.line(("Group  ", "dim"), (group.name, "bold green"), (f"  {ranks}", "dim"))
    for title, words in (("Related keywords", "similar"), ("Where links lead", "logical")):
        found = getattr(result.keywords, words, ())
        if found:
            screen.line((f"{title}  ", "dim"), ", ".join(each.word for each in found))
    if len(result):
        screen.line((f"{result.milliseconds:.1f} ms by {result.method}", "dim"))


def show_collection(screen: Screen, found: CollectionResults, explained: bool) -> None:
    """Folders in their order; those without results say why."""
    wide = score_width([answer for folder in found.folders for answer in folder.answers])
    for folder in found.folders:
        note = f"near {folder.known:,} of {count(folder.pages, 'page')}"
        if not folder.answers:
            note = "nothing related" if folder.known else "none of its pages is in this store"
        screen.line((folder.folder, "bold green"), (f"  {note}", "dim"))
        for answer in folder.answers:
            show_answer(screen, answer, wide, explained)
    if found.about is not None:
        screen.line((f"{found.milliseconds:.1f} ms by {found.about.method}", "dim"))


def score_width(answers: Any) -> int:
    """The width of the column of scores."""
    return max((len(f"{answer.score:.6g}") for answer in answers), default=0)


def show_answer(screen: Screen, answer: Answer, wide: int, explained: bool) -> None:
    """One answer with its reasons; its score is `wide` characters wide at most."""
    show_page(screen, answer, wide, "" if explained else briefly(answer))
    for line in lines(answer) if explained else [in_two_lines(screen, answer)] if screen.live else []:
        screen.line((line, "dim"), indent=5)


def in_two_lines(screen: Screen, answer: Answer) -> str:
    """The strongest reason of an answer, and as many others of the three strongest as fit into two lines."""
    first, *others = brief(answer.reasons) or [""]
    for other in others:
        if len(first) + len(other) + 3 > 2 * (screen.width - 8):
            break
        first += f" · {other}"
    return first


def show_page(screen: Screen, answer: Answer, wide: int = 0, why: str = "", column: int = 0) -> None:
    """Rank, title and address of an answer on one line; without a terminal, also its score and reason."""
    rank = Cell(str(answer.rank), RANK_WIDTH, "dim", True)
    if screen.live:
        screen.page(screen.title(answer.title, answer.page), answer.url, rank, style="bold", column=column)
    else:
        score = Cell(f"{answer.score:.6g}", wide, "dim", True)
        screen.row(rank, score, Cell(answer.url), Cell(answer.title), Cell(why))


def show_changes(screen: Screen, asked: Any, result: ChangesFound) -> None:
    """What became related, what ceased to be, each with reasons of its date."""
    parts = ("Became related", result.became, result.end), ("Ceased to be related", result.ceased, result.start)
    wide = score_width([each.answer for _, pages, _ in parts for each in pages])
    for name, pages, date in parts:
        if screen.live:
            screen.line((name, "bold green"), (f"  {count(len(pages), 'page')}, reasons of {date}", "dim"))
        for each in pages:
            if screen.live:
                show_answer(screen, each.answer, wide, False)
            else:
                verb = Cell("became" if name == "Became related" else "ceased")
                screen.row(verb, Cell(str(each.rank), 3), Cell(each.url), Cell(each.title), Cell(briefly(each.answer)))
    stayed = f"{count(len(result.stayed), 'page')} stayed related, from {result.start} to {result.end}"
    screen.line((f"{stayed}, by {result.method}", "dim"))


def show_found(screen: Screen, asked: Any, result: Answers | IndexBuilt) -> None:
    """Pages that were searched for, or the index that was built."""
    if isinstance(result, IndexBuilt):
        made = result.search
        facts = f"{count(made['pages'], 'page')}, {size(made['bytes'])}, {seconds(made['seconds'])}"
        screen.line("Built the search index of ", (result.store, "bold"), f": {facts}")
        return
    had, words = int(result.facts["had"]), int(result.facts["asked"])
    if len(result) and had < words:
        many = f"at least {had} of them" if had else "single words of your phrases"
        screen.line((f"No page has all of these words; these pages have {many}", "yellow"))
    titles = (screen.title(answer.title, answer.page) for answer in result)
    column = screen.title_width(titles, RANK_WIDTH + 2) if screen.live else 0
    for answer in result:
        show_page(screen, answer, score_width(result), column=column)
    if len(result):
        screen.line((f"{result.milliseconds:.1f} ms", "dim"))


def show_hubs(screen: Screen, asked: Any, result: Answers) -> None:
    """Hubs with the best reason, then how many pages were explored."""
    wide = score_width(result)
    for answer in result:
        show_answer(screen, answer, wide, False)
    if result.steps:
        explored, met = (sum(step[name] for step in result.steps) for name in ("explored", "met"))
        away = count(result.steps[-1]["distance"], "link")
        screen.line((f"Explored {explored:,} of {count(met, 'page')} up to {away} away", "dim"))


def show_groups(screen: Screen, asked: Any, result: PageGroups) -> None:
    """Groups with their pages."""
    for group in result.groups:
        screen.line((group.name, "bold green"), (f"  {count(len(group.pages), 'page')}", "dim"))
        for url, title in group.pages:
            screen.page(title, url, indent=2)


def show_similarity(screen: Screen, asked: Any, result: SimilarityResult) -> None:
    """The score, then the reasons."""
    wrong = "" if result.error is None or result.error < 1e-6 else f" ± {result.error:.1g}"
    pages = [short_address(url) if screen.live else url for url in result.pages]
    screen.line((f"{result.score:.6g}{wrong}", "bold"), f"  {' – '.join(pages)} by {result.method}")
    for reason in result.reasons:
        screen.line((reason.text, "dim"), indent=2)


def show_comparison(screen: Screen, asked: Any, result: Comparison) -> None:
    """A page per line with its rank by each method, then how many results methods have in common."""
    names = list(result.by_method)
    ranks = {name: {answer.url: answer.rank for answer in answers} for name, answers in result.by_method.items()}
    every = [answer for answers in result.by_method.values() for answer in answers]
    titles = {answer.url: screen.title(answer.title, answer.page) for answer in every}
    times = [f"{each.milliseconds:.{each.milliseconds < 10:d}f}" for each in result.by_method.values()]
    wide = max(map(len, times)) if screen.live else 0

    def cells(texts: Any, style: str = "") -> list[Cell]:
        return [Cell(str(text), wide, style, True) for text in texts]

    show_heads(screen, names, wide)
    column = screen.title_width(titles.values(), len(names) * (wide + 2)) if screen.live else 0
    for url, _ in result.votes():
        screen.page(titles[url], url, *cells(ranks[each].get(url, "·") for each in names), column=column)
    screen.blank()
    screen.line(("Results in common", "bold"))
    for at, first in enumerate(names):
        shown = names[: at + 1] if screen.live else names  # a terminal shows the half below the diagonal
        screen.row(Cell(first, max(map(len, names)), "dim"), *cells(result.overlap(first, second) for second in shown))
    screen.row(Cell("ms", max(map(len, names)), "dim"), *cells(times, "dim"))


def show_heads(screen: Screen, names: list[str], wide: int) -> None:
    """The heads of columns: on a terminal each on a line of its own, above lines that lead to its column."""
    if not screen.live:
        screen.row(*(Cell(name) for name in (*names, "page")))
        return
    for at, name in enumerate(names):
        screen.row(*[Cell("│", wide, "dim", True)] * at, Cell(name, wide - 1 + len(name), "bold", True))


def show_batch(screen: Screen, asked: Batch, result: BatchSummary) -> None:
    """What was written, on standard error."""
    screen, done, took = Screen(stderr=True), result, result.seconds
    if result.unknown:
        what = "address" if result.unknown == 1 else "addresses"
        screen.line((f"Not in this store: {result.unknown:,} {what} of {asked.queries}", "yellow"))
    if result.chopped:
        what = "address" if result.chopped == 1 else "addresses"
        used = f"Used the nearest known shorter address for {result.chopped:,} {what} of {asked.queries}"
        screen.line((used, "yellow"))
    if done.kept:
        screen.line((f"Kept {count(done.kept, 'part')} of {done.parts} from an earlier run", "dim"))
    speed = f", {rate(done.pages / took)} pages/s" if took > 1 and done.pages > 1000 and not done.kept else ""
    results = f"{count(done.answers, 'result')} for {count(done.pages, 'page')}"
    screen.line(f"Wrote {results} in {seconds(took)}{speed}: {result.output}")
