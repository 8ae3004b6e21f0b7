"""How commands show pages with scores and reasons: related, recommend, search, hubs, cluster, similarity, compare."""

from typing import Any

import click

from cocite.cli.terminal import Cell, Screen, rate, seconds, size
from cocite.operations.pages.batch import Batch, BatchSummary
from cocite.operations.pages.cluster import PageGroups
from cocite.operations.pages.collection import CollectionResults
from cocite.operations.pages.compare import Comparison
from cocite.operations.pages.similarity import SimilarityResult
from cocite.operations.words.search import IndexBuilt
from cocite.results.answer import Answer, Answers
from cocite.text import count


def show_pages(screen: Screen, asked: Any, result: Answers | CollectionResults) -> None:
    """Related or recommended pages: those of a collection by its folders, others one by one or as a table."""
    if isinstance(result, CollectionResults):
        show_collection(screen, result, asked.all_reasons)
    elif asked.csv or asked.tsv:
        from cocite.results.present import separated

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
    from cocite.results.present import briefly, lines

    brief = briefly(answer)
    show_page(screen, answer, wide, "" if explained else brief)
    for line in lines(answer) if explained else [brief] if screen.live else []:
        screen.row(Cell(line, style="dim"), indent=5)


def show_page(screen: Screen, answer: Answer, wide: int = 0, why: str = "") -> None:
    """Rank, title and address of an answer on one line; without a terminal, also its score and reason."""
    rank = Cell(str(answer.rank), 3, "dim", True)
    if screen.live:
        screen.page(answer.title, answer.url, rank, style="bold")
    else:
        score = Cell(f"{answer.score:.6g}", wide, "dim", True)
        screen.row(rank, score, Cell(answer.url), Cell(answer.title), Cell(why))


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
    for answer in result:
        show_page(screen, answer, score_width(result))
    if len(result):
        screen.line((f"{result.milliseconds:.1f} ms", "dim"))


def show_hubs(screen: Screen, asked: Any, result: Answers) -> None:
    """Hubs with the best reason, then what each round explored."""
    from cocite.results.present import briefly

    for answer in result:
        screen.page(answer.title, answer.url, Cell(str(answer.rank), 3, "dim", True), style="bold")
        screen.row(Cell(f"{answer.score:.6g}  {briefly(answer)}", style="dim"), indent=5)
    for step in result.steps:
        whole = "not counted" if step["untrimmed"] is None else f"{step['untrimmed']:,}"
        explored = f"explored {step['explored']:,} of {step['met']:,} pages"
        screen.line((f"Distance {step['distance']}: ", "dim"), explored, (f"; without trimming {whole}", "dim"))


def show_groups(screen: Screen, asked: Any, result: PageGroups) -> None:
    """Groups with their pages."""
    for group in result.groups:
        screen.line((group.name, "bold green"), (f"  {count(len(group.pages), 'page')}", "dim"))
        for url, title in group.pages:
            screen.row(Cell(title or url, 30 if screen.live else 0), Cell(url if title else "", 0, "cyan"), indent=2)


def show_similarity(screen: Screen, asked: Any, result: SimilarityResult) -> None:
    """The score, then the reasons."""
    wrong = "" if result.error is None or result.error < 1e-6 else f" ± {result.error:.1g}"
    screen.line((f"{result.score:.6g}{wrong}", "bold"), f"  {' – '.join(result.pages)} by {result.method}")
    for reason in result.reasons:
        screen.row(Cell(reason.text, style="dim"), indent=2)


def show_comparison(screen: Screen, asked: Any, result: Comparison) -> None:
    """A page per line with its rank by each method, then how many results methods have in common."""
    names = list(result.by_method)
    ranks = {name: {answer.url: answer.rank for answer in answers} for name, answers in result.by_method.items()}
    titles = {answer.url: answer.title for answers in result.by_method.values() for answer in answers}
    # Where names don't fit into their columns, all are replaced by letters.
    longest = max(map(len, names))
    fits = not screen.live or (longest + 2) * len(names) < screen.width // 2
    legend = {name: name if fits else chr(ord("A") + i % 26) for i, name in enumerate(names)}
    wide = (longest if fits else 5) if screen.live else 0

    def cells(texts: Any, style: str = "") -> list[Cell]:
        return [Cell(str(text), wide, style, True) for text in texts]

    for name, short in legend.items():
        if short != name:
            screen.line((f"{short} ", "bold"), name, indent=2)
    screen.row(*cells(legend.values(), "bold"), Cell("page", style="bold"))
    for url, _ in result.votes():
        title = Cell(titles[url] or url, 30 if screen.live else 0)
        places = cells(ranks[each].get(url, "·") for each in names)
        screen.row(*places, title, Cell(url if titles[url] else "", style="cyan"))
    screen.blank()
    screen.line(("Results in common", "bold"))
    screen.row(Cell("", wide), *cells(legend.values(), "dim"))
    for first in names:
        overlaps = cells(result.overlap(first, second) for second in names)
        screen.row(Cell(legend[first], wide, "dim"), *overlaps)
    times = cells((f"{each.milliseconds:.1f}" for each in result.by_method.values()), "dim")
    screen.row(Cell("ms", wide, "dim"), *times)


def show_batch(screen: Screen, asked: Batch, result: BatchSummary) -> None:
    """What was written, on standard error."""
    screen, done, took = Screen(stderr=True), result, result.seconds
    if result.unknown:
        what = "address" if result.unknown == 1 else "addresses"
        screen.line((f"Not in this store: {result.unknown:,} {what} of {asked.queries}", "yellow"))
    if result.chopped:
        what = "address" if result.chopped == 1 else "addresses"
        screen.line(
            (f"Used the nearest known shorter address for {result.chopped:,} {what} of {asked.queries}", "yellow")
        )
    if done.kept:
        screen.line((f"Kept {count(done.kept, 'part')} of {done.parts} from an earlier run", "dim"))
    speed = f", {rate(done.pages / took)} pages/s" if took > 1 and done.pages > 1000 and not done.kept else ""
    results = f"{count(done.answers, 'result')} for {count(done.pages, 'page')}"
    screen.line(f"Wrote {results} in {seconds(took)}{speed}: {result.output}")
