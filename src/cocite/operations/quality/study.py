"""A blind rating study of methods, as in Dean & Henzinger 1999: make one, and report on it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cocite.errors import BadParameter
from cocite.operations import shared
from cocite.operations.declare import Progress, operation
from cocite.operations.quality.evaluate import EvaluationResult, html_option, methods_of, methods_option
from cocite.operations.task import Task, check_writable, read_addresses
from cocite.parameters import parameter
from cocite.results.answer import Result


def study_folder() -> Any:
    """The folder of a study."""
    return parameter("", "The folder of the study", metavar="FOLDER", positional=True, required=True)


@dataclass(frozen=True)
class NewStudy(Result):
    """A study that was written."""

    folder: str
    items: int
    queries: int
    unknown: list[str]  # query pages that the store doesn't have


@operation(name="study new")
class StudyNew(Task):
    """Run methods, shuffle their results, and write the sheets for raters.

    Send rate.html or ratings.csv to the raters, and keep study.json, which has the method of each result.

    Examples:
        cocite study new trial nytimes.com bmw.com -m companion -m cocitation
        cocite study new trial --file queries.txt -m proximity -m lli -k 5
    """

    folder: str = study_folder()
    urls: tuple[str, ...] = parameter((), "A query page", metavar="URL", positional=True)
    file: str = shared.address_file()
    method: tuple[str, ...] = methods_option("study", "companion, cocitation")
    k: int = parameter(10, "Number of results of each method", flags=("-k",), minimum=1, maximum=100)
    seed: int = parameter(1, "Seed of the order of results")

    def do(self, progress: Progress) -> NewStudy:
        from cocite.evaluate.study import check_folder, new, write
        from cocite.web import Web

        texts, folder = [*self.urls, *read_addresses(self.file)], Path(self.folder)
        if not texts:
            raise BadParameter("No pages to ask about: give addresses, or --file FILE")
        check_folder(folder)
        chosen, web = methods_of(self.method or ("companion", "cocitation")), Web(self.index)
        web.progress = progress
        found = {text: web.graph.get(text) for text in texts}
        pages = [page for page in found.values() if page is not None]
        if not pages:
            web.graph.find(texts[0])  # raises UnknownPage with the nearest addresses
        made = new(web, pages, chosen, self.k, self.seed)
        write(made, folder)
        unknown = [text for text, page in found.items() if page is None]
        return NewStudy(self.folder, len(made.items), len(set(pages)), unknown)


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
        from cocite.evaluate.study import evaluation_of, read, read_ratings
        from cocite.sources.records import ReadReport

        check_writable(self.html)
        folder = Path(self.folder)
        known, report = read(folder), ReadReport()
        sheets = dict.fromkeys(map(Path, self.ratings)) or sorted(folder.glob("ratings*.csv"))  # one per rater
        raters = [read_ratings(path, known, report) for path in sheets]
        if not any(raters):
            raise BadParameter("No result is rated yet: fill in the column rating with 1, 0 or x")
        found = evaluation_of(known, raters)
        rated, judged = {number for rater in raters for number in rater}, found.judgements.ratings
        if unrated := sum(item.query in judged and item.id not in rated for item in known.items):
            report.skip("result without a rating, counted as not related", count=unrated)
        if ignored := len(known.in_degree) - len(found.rated):
            report.skip("query without any rating, ignored", count=ignored)
        return EvaluationResult(found, report, dict(known.in_degree)).with_report(self.html, f"Study {folder.name}")
