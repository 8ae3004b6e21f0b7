"""How `cocite evaluate`, `cocite study` and `cocite site` show what they did."""

from typing import Any

from cocite.cli.terminal import Screen, seconds, show_table
from cocite.operations.pages.site import SiteResult
from cocite.operations.quality.evaluate import EvaluationResult
from cocite.operations.quality.study import NewStudy
from cocite.text import count

MAX_QUERIES_SHOWN = 20  # with more queries, only reports have the cost of each of them


def show_evaluation(screen: Screen, asked: Any, result: EvaluationResult) -> None:
    """The tables of an evaluation, or of a study."""
    found, degrees = result.found, result.in_degree
    for note in result.notes:
        screen.line((note, "dim"))
    for name, table in {**found.table_5(), **{name.capitalize(): of for name, of in result.tables.items()}}.items():
        show_table(screen, name, table)
    if len(found.runs) > 1:
        show_table(screen, "Is the difference significant? (two-sided)", found.table_paired(), names=3)
        show_table(screen, "Is it better? As in 1999, by AP 1999 (one-sided)", found.table_6(), names=3)
        show_table(screen, "Results in common (share of the row's)", found.table_7())
    show_table(screen, "Results and ratings", found.table_3())
    if degrees is not None:
        show_table(screen, "Cost of a question, medians", found.table_4(degrees))
    if degrees is not None and len(degrees) <= MAX_QUERIES_SHOWN:
        show_table(screen, "Cost of each question", found.table_4_by_query(degrees))


def show_new_study(screen: Screen, asked: Any, result: NewStudy) -> None:
    """The size of a study, and the next steps."""
    errors = Screen(stderr=True)
    for text in result.unknown:
        errors.line(f"Skipped, as it isn't in this store: {text[:200]}")
    for asked_for, used in result.chopped.items():
        errors.line(f"{asked_for[:200]} isn't in this store; its results are for {used[:200]}")
    for note in result.notes:
        errors.line(note)
    sizes = f"{count(result.items, 'result')} for {count(result.queries, 'page')}"
    screen.line((result.folder, "bold"), f"  {sizes}")
    for rater, results in result.raters.items():
        screen.line(f"  {rater}: {count(results, 'result')}")
    files = "each their rate-NAME.html (or ratings-NAME.csv)" if result.raters else "rate.html (or ratings.csv)"
    screen.line(f"Send the raters {files}; then run: cocite study report {result.folder} RATINGS...")


def show_site(screen: Screen, asked: Any, result: SiteResult) -> None:
    """How many pages have lists, and which were skipped."""
    done, took = result, seconds(result["seconds"])
    if done.get("unchanged"):
        screen.line((done["output"], "bold"), f"  {count(done['pages'], 'page')}, unchanged  ", (took, "dim"))
        return
    parts = [count(done["pages"], "page"), f"{done['read']:,} new or changed"]
    parts += [f"{done['without']:,} without related pages"] if done["without"] else []
    parts += [f"{done['inserted']:,} with the list inserted"] if done.get("inserted") else []
    parts += [f"fragments in {asked.fragments}"] if asked.fragments else []
    screen.line((done["output"], "bold"), f"  {', '.join(parts)}  ", (took, "dim"))
    if done["left_out"]:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in done["left_out"].items())
        screen.line((f"Skipped: {reasons}", "dim"), indent=2)
