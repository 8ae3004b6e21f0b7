"""A blind rating study of methods, as in Dean & Henzinger 1999: make one, and report on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocite.errors import BadParameter
from cocite.operations import shared
from cocite.operations.declare import Progress, operation
from cocite.operations.quality.evaluate import EvaluationResult, html_option, methods_of, methods_option
from cocite.operations.task import Task, check_writable, read_addresses
from cocite.parameters import parameter
from cocite.results.answer import Result
from cocite.text import count

if TYPE_CHECKING:
    from cocite.evaluate.judgements import Run
    from cocite.graph.store import Graph


def study_folder() -> Any:
    """The folder of a study."""
    return parameter("", "The folder of the study", metavar="FOLDER", positional=True, required=True)


@dataclass(frozen=True)
class NewStudy(Result):
    """A study that was written."""

    folder: str
    items: int
    queries: int
    unknown: list[str]  # query pages that the store doesn't have, nor a page at a shorter address: skipped
    chopped: dict[str, str]  # query pages that the store doesn't have, with the address that methods used
    raters: dict[str, int]  # number of results that each has to rate
    notes: list[str]


@operation(name="study new")
class StudyNew(Task):
    """Run methods, shuffle their results, and write the sheets for raters.

    Send rate.html or ratings.csv to the raters, and keep study.json, which has the method of each result. If you name
    raters, each gets files of their own, with a share of the pages. In --file, a tab and a rater's name after an
    address give that rater this page. --run adds the results of another system, by a TREC run: topic Q0 page rank
    score tag. The topic is the address of a query page, the tag the name of the system.

    Examples:
        cocite study new trial nytimes.com bmw.com -m companion -m cocitation
        cocite study new trial --file queries.txt -m proximity -m lli -k 5
        cocite study new trial --file queries.txt --run netscape.run --rater anna --rater ben --overlap 0.3
    """

    folder: str = study_folder()
    urls: tuple[str, ...] = parameter((), "A query page", metavar="URL", positional=True)
    file: str = shared.address_file()
    method: tuple[str, ...] = methods_option("study", "companion, cocitation")
    run_files: tuple[str, ...] = parameter(
        (), "Results of another system, a TREC run; may be repeated", metavar="FILE",
        on={"cli": {"name": "run"}},
    )  # fmt: skip
    k: int = parameter(10, "Number of results of each method", flags=("-k",), minimum=1, maximum=100)
    rater: tuple[str, ...] = parameter((), "Name of a rater; may be repeated", metavar="NAME")
    overlap: float = parameter(
        0.2, "Share of the pages that several raters get, to measure agreement", minimum=0, maximum=1
    )
    shared_by: int = parameter(2, "Number of raters who get such a page", minimum=2, maximum=100)
    seed: int = parameter(1, "Seed of the order of results, and of the raters' shares")

    def do(self, progress: Progress) -> NewStudy:
        from cocite.evaluate.evaluation import page_in
        from cocite.evaluate.study import assign, check_folder, name_in, new, write
        from cocite.results.known import look_up
        from cocite.web import Web

        rows = [(url, "") for url in self.urls]
        rows += [(text.strip(), rater) for text, _, rater in (row.partition("\t") for row in read_addresses(self.file))]
        folder = Path(self.folder)
        if not rows:
            raise BadParameter("No pages to ask about: give addresses, or --file FILE")
        check_folder(folder)
        chosen, web = methods_of(self.method or ("companion", "cocitation")), Web(self.index)
        web.progress = progress
        graph, given = web.graph, {name_in(web.graph, text): rater.strip() for text, rater in rows}
        systems, notes = read_other_systems(graph, self.run_files, list(given), self.k)
        chopped, unknown, canonical = dict[str, str](), list[str](), page_in(graph)
        for url in [url for url in given if graph.get(url) is None]:
            pages = {each.page for method in chosen if (each := look_up(graph, url, method.chop))}
            if pages:
                chopped[url] = ", ".join(map(graph.address, sorted(pages)))
            elif not any(run.of(canonical(url)) for run in systems):
                unknown.append(url)
        own = {url: rater for url, rater in given.items() if url not in unknown}
        if not own:
            graph.find(unknown[0])  # raises UnknownPage with the nearest addresses
        made = new(web, list(own), chosen, self.k, self.seed, systems)
        own = {url: rater for url, rater in own.items() if rater}
        if self.rater or own:
            made = assign(made, self.rater, own, self.overlap, self.shared_by, self.seed)
        write(made, folder)
        raters = {name: len(made.share(name)) for name in made.raters}
        return NewStudy(self.folder, len(made.items), len(made.in_degree), unknown, chopped, raters, notes)


def read_other_systems(
    graph: "Graph", files: Sequence[str], queries: Sequence[str], k: int
) -> "tuple[list[Run], list[str]]":
    """The results of other systems for the queries of a study, and notes on what is missing."""
    from cocite.evaluate.evaluation import page_in
    from cocite.evaluate.judgements import Run, read_systems

    name = page_in(graph)
    wanted, systems, notes = {name(url) for url in queries}, list[Run](), list[str]()
    for file in dict.fromkeys(files):
        for run in read_systems(Path(file), name):
            others = [topic for topic in run.answers if topic not in wanted]
            if len(others) == len(run.answers):
                unlike = f"such as {others[0]:.200}" if others else "as it has none"
                raise BadParameter(f"{file}: no topic of {run.name} is a query page of this study, {unlike}")
            if others:
                notes.append(f"{run.name}: ignored {count(len(others), 'topic')} not in this study, e.g. {others[0]}")
            results = [text for topic in wanted for text in run.of(topic)[:k]]
            if unknown := [text for text in results if graph.get(text) is None]:
                some = f"{len(unknown):,} of {count(len(results), 'result')}"
                notes.append(f"{run.name}: {some} not in this store; raters see only the address, e.g. {unknown[0]}")
            systems.append(run)
    return systems, notes


@operation(name="study report", store=False)
class StudyReport(Task):
    """Print the tables of the study: results, precision, significance, overlap.

    Examples:
        cocite study report trial
        cocite study report trial anna.csv ben.csv --html study.html
    """

    folder: str = study_folder()
    ratings: tuple[str, ...] = parameter(
        (), "Sheets of raters (default: those in the folder)", metavar="RATINGS", positional=True
    )
    html: str = html_option()

    def do(self, progress: Progress) -> EvaluationResult:
        """Evaluate the methods by the ratings."""
        from cocite.evaluate.agreement import agreement_table
        from cocite.evaluate.study import evaluation_of, raters_table, read, read_ratings
        from cocite.sources.records import ReadReport

        check_writable(self.html)
        folder = Path(self.folder)
        known, report = read(folder), ReadReport()
        sheets = dict.fromkeys(map(Path, self.ratings)) or sorted(folder.glob("ratings*.csv"))  # one per rater
        ratings = {sheet: read_ratings(sheet, known, report) for sheet in sheets}
        raters = list(ratings.values())
        if not any(raters):
            raise BadParameter("No result is rated yet: fill in the column rating with 1, 0 or x")
        found = evaluation_of(known, raters)
        rated, judged = {number for rater in raters for number in rater}, found.judgements.ratings
        if unrated := sum(item.query in judged and item.id not in rated for item in known.items):
            report.skip("result without a rating, counted as not related", count=unrated)
        if ignored := len(known.in_degree) - len(found.rated):
            report.skip("query without any rating, ignored", count=ignored)
        tables, remarks = {"raters": raters_table(known, ratings)}, list[str]()
        try:
            tables |= {"agreement": table} if (table := agreement_table(raters)) else {}
        except BadParameter as error:
            remarks.append(str(error))
        result = EvaluationResult(found, report, dict(known.in_degree), tables, remarks)
        return result.with_report(self.html, f"Study {folder.name}")
