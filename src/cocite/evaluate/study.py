"""The user study of Dean & Henzinger 1999, §4.1: people rate the results of several methods, blind.

A new study runs every method, adds the results of other systems, shuffles the results of each query, and writes a
folder:

    study.json     the results of each method with their ranks: not for raters
    ratings.csv    the sheet, a row per result, without methods and ranks: 1, 0, or x for "could not open"
    rate.html      the same as a self-contained page for a browser, which saves such a sheet

Where raters are named, each has a `ratings-NAME.csv` and a `rate-NAME.html` with their share of the queries. A server
adds `tokens.json`, the secrets in the links that it shows for raters.

`read_ratings` reads sheets from a browser, a spreadsheet or `cocite study rate`: with or without BOM, with commas,
semicolons or tabs. If raters disagree on a result the majority counts; in a tie, the lower rating. As in the paper, a
query without any rated result is ignored; one without results from any method counts 0.
"""

import csv
import io
import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TypeVar
from zlib import crc32

from cocite.errors import BadParameter, BadSource, BadStore
from cocite.evaluate import render
from cocite.evaluate.evaluation import Evaluation, Table, ask_methods, page_in
from cocite.evaluate.judgements import DEAD, Judgements, Run
from cocite.graph.store import Graph
from cocite.pages.address import parse_query
from cocite.related.methods import Method
from cocite.results.naming import titles_of
from cocite.sources.records import ReadReport
from cocite.system import make_folder, replace_file
from cocite.web import Web

V = TypeVar("V")
RATINGS = {"1": 1.0, "0": 0.0, "x": DEAD}
CHOICES = (("1", "related"), ("0", "not related"), ("x", "could not open"))
SHEET_COLUMNS = ("id", "query", "query title", "page", "title", "rating")
MAX_SHEET_BYTES = 64 << 20
RATER_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


@dataclass(frozen=True)
class Item:
    """A result to rate."""

    id: str
    query: str
    query_title: str
    page: str
    title: str


@dataclass(frozen=True)
class Study:
    """A study, as it is stored in its folder."""

    items: Sequence[Item]
    runs: Sequence[Run]  # results as ids of items
    in_degree: Mapping[str, int]  # of each query page; 0 if the store doesn't have it
    depth: int
    raters: Mapping[str, Sequence[str]] = field(default_factory=dict)  # queries by rater; empty: all rate everything

    def share(self, rater: str) -> list[Item]:
        """The results that a rater rates; raises BadParameter if others were named as raters."""
        if not self.raters:
            return list(self.items)
        if rater not in self.raters:
            raise BadParameter(f"Unknown rater {rater!r}: give the name that this study has for you")
        queries = set(self.raters[rater])
        return [item for item in self.items if item.query in queries]


def new(
    web: Web,
    queries: Sequence[str],
    methods: Sequence[Method],
    depth: int = 10,
    seed: int = 1,
    systems: Sequence[Run] = (),
) -> Study:
    """Run every method on every query, add the results of other systems, and shuffle them."""
    graph, rng, canonical = web.graph, random.Random(seed), page_in(web.graph)
    order = list(dict.fromkeys(queries))
    rng.shuffle(order)
    names: dict[str, tuple[str, str]] = {}  # address and title of each result, by canonical address

    def add(text: str) -> str:
        names.setdefault(canonical(text), (name_in(graph, text), title_in(graph, text)))
        return canonical(text)

    runs = ask_methods(web, methods, order, depth)
    runs += [Run(run.name, {url: run.of(canonical(url))[:depth] for url in order}) for run in systems]
    Evaluation(Judgements(), runs)  # refuses two of one name
    items: list[Item] = []
    for url in order:
        for run in runs:
            run.answers[url] = [add(text) for text in run.answers[url]]
        pages, ids = list(dict.fromkeys(page for run in runs for page in run.answers[url])), dict[str, str]()
        rng.shuffle(pages)
        title = title_in(graph, url)
        for answer in pages:
            ids[answer] = f"{len(items) + 1:05d}"
            items.append(Item(ids[answer], url, title, *names[answer]))
        for run in runs:
            run.answers[url] = [ids[answer] for answer in run.answers[url]]
    known = {url: graph.get(url) for url in order}
    degrees = {url: 0 if page is None else int(graph.in_degree[page]) for url, page in known.items()}
    return Study(items, runs, degrees, depth)


def name_in(graph: Graph, text: str) -> str:
    """An address as raters see it: as the store has it, or as it was given."""
    page = graph.get(text)
    return parse_query(text).shown if page is None else graph.address(page)


def title_in(graph: Graph, text: str) -> str:
    """The title of a page; empty if the store doesn't have it."""
    page = graph.get(text)
    return "" if page is None else titles_of(graph).of(page)


def assign(
    study: Study,
    raters: Sequence[str],
    own: Mapping[str, str] | None = None,
    overlap: float = 0.2,
    shared_by: int = 2,
    seed: int = 1,
) -> Study:
    """Give each rater a share of the queries, about equal in the number of results.

    `own` has the queries that belong to a rater. A share of all queries, `overlap`, goes to `shared_by` raters each.
    The largest queries are given first, each to the raters who have least: no two raters differ by more results than
    the largest query has, unless those of their own do.
    """
    rng, own = random.Random(seed), {url: rater_name(name) for url, name in (own or {}).items()}
    names = sorted({*map(rater_name, raters), *own.values()})
    sizes = Counter(item.query for item in study.items)
    order = list(study.in_degree)
    rng.shuffle(order)
    shared = set(order[: round(overlap * len(order))])
    order.sort(key=lambda url: (url not in own, -sizes[url]))
    rng.shuffle(names)  # decides between equals
    load, found = dict.fromkeys(names, 0), {name: list[str]() for name in names}
    for url in order:
        others = sorted(names, key=lambda name: (name != own.get(url), load[name]))
        for name in others[: shared_by if url in shared else 1]:
            load[name] += sizes[url]
            found[name].append(url)
    return replace(study, raters={name: found[name] for name in sorted(names)})


def rater_name(text: str) -> str:
    """The name of a rater, which becomes part of a file's name; raises BadParameter."""
    name = text.strip().lower()
    if not RATER_NAME.fullmatch(name):
        raise BadParameter("A rater's name must have up to 40 letters a to z, digits, - and _")
    return name


def check_folder(folder: Path) -> None:
    """Raise BadParameter if a folder already has a study, perhaps with ratings, or if it is a file."""
    if (folder / "study.json").exists():
        raise BadParameter(f"{folder} already has a study: name another folder")
    if folder.exists() and not folder.is_dir():
        raise BadParameter(f"{folder} is a file: name a folder, which is created if needed")


def write(study: Study, folder: Path) -> None:
    """Write the files of a study, study.json last: then it is complete. Raises BadParameter if the folder has one."""
    check_folder(folder)
    make_folder(folder)

    def plain(facts: Mapping[str, object]) -> dict[str, object]:
        return {name: value for name, value in facts.items() if isinstance(value, int | float | str)}

    runs = [{**vars(run), "facts": {query: plain(of) for query, of in run.facts.items()}} for run in study.runs]
    items = [vars(item) for item in study.items]
    known = {"depth": study.depth, "in_degree": dict(study.in_degree), "items": items, "runs": runs}
    known["raters"] = dict(study.raters)
    for rater in study.raters or [""]:
        write_ratings(study, sheet_of(folder, rater), {}, rater)
        replace_file(folder / f"rate{rater and '-' + rater}.html", rating_page(study, rater))
    replace_file(folder / "study.json", json.dumps(known, ensure_ascii=False, indent=1))


def read(folder: Path) -> Study:
    """Read a study from its folder."""
    try:
        known = json.loads((folder / "study.json").read_text(encoding="utf-8"))
        items = [Item(**item) for item in known["items"]]
        runs = [Run(**run) for run in known["runs"]]
        return Study(items, runs, known["in_degree"], int(known["depth"]), dict(known.get("raters", {})))
    except FileNotFoundError as error:
        raise BadStore(f"{folder} has no study: make one with cocite study new") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadStore(f"{folder / 'study.json'} is damaged: make a new study") from error


def sheet_of(folder: Path, rater: str) -> Path:
    """The sheet of a rater; without a name, of everybody."""
    return folder / f"ratings{rater and '-' + rater}.csv"


def keep_edited(study: Study, path: Path, rater: str = "") -> Path | None:
    """Copy a sheet that somebody edited before it is overwritten; return the path of the copy, if one was needed."""
    if not path.exists() or path.read_bytes() == _sheet(study, read_ratings(path, study, ReadReport()), rater).encode():
        return None
    names = (path.with_name(f"{path.name}.edited{number or ''}") for number in count())
    kept = next(name for name in names if not name.exists())
    replace_file(kept, path.read_bytes())
    return kept


def _sheet(study: Study, ratings: Mapping[str, str], rater: str) -> str:
    text, share = io.StringIO(), {item.id for item in study.share(rater)}
    sheet = csv.writer(text)
    sheet.writerow(SHEET_COLUMNS)
    for item in study.items:
        if item.id not in share and item.id not in ratings:
            continue
        cells = [item.id, item.query, item.query_title, item.page, item.title, ratings.get(item.id, "")]
        sheet.writerow(["'" + cell if cell.startswith(("=", "+", "-", "@")) else cell for cell in cells])
    return "\ufeff" + text.getvalue()  # with a BOM, or spreadsheets guess the encoding wrong


def write_ratings(study: Study, path: Path, ratings: Mapping[str, str], rater: str = "") -> None:
    """Write the sheet of a rater with the ratings so far."""
    replace_file(path, _sheet(study, ratings, rater))


def read_ratings(path: Path, study: Study, report: ReadReport) -> dict[str, str]:
    """The ratings of a sheet by id: 1, 0 or x. Unusable rows are counted.

    Every study has the same ids, so a page in the sheet must be the one of this study.
    """
    head, rows = _rows(path)
    items, found = {item.id: item for item in study.items}, dict[str, str]()
    for cells in rows:
        row = dict(zip(head, (cell.strip() for cell in cells), strict=False))
        item = items.get(row.get("id", "").lstrip("'").removesuffix(".0").rjust(5, "0"))
        rating = re.sub(r"(?<=.)[.,]0*$", "", row.get("rating", "").lower())
        if item is None or not _same_page(row.get("page", ""), item.page):
            report.skip("row that is not a result of this study", ",".join(cells))
        elif rating and rating not in RATINGS:
            report.skip("rating other than 1, 0 or x", ",".join(cells))
        elif rating:
            if found.get(item.id, rating) != rating:
                report.skip("result with two ratings on one sheet, the last counts", ",".join(cells))
            found[item.id] = rating
    return found


def _same_page(cell: str, page: str) -> bool:
    """Whether the cell of a sheet is empty or names a page; spreadsheets turn 0012 into 12, 1.50 into 1.5."""
    cell, page = cell.lstrip("'"), page.lstrip("'")
    if cell in ("", page):
        return True
    try:
        return float(cell.replace(",", ".")) == float(page)
    except ValueError:
        return False


def _rows(path: Path) -> tuple[list[str], list[list[str]]]:
    """The column names and non-empty rows of a sheet; raises BadSource if it isn't one."""
    if path.stat().st_size > MAX_SHEET_BYTES:
        raise BadSource(f"{path} has more than {MAX_SHEET_BYTES >> 20} MiB: give a sheet of ratings")
    raw = path.read_bytes()
    wide = raw[:2] in (b"\xff\xfe", b"\xfe\xff")  # "Unicode text" of a spreadsheet
    try:
        text = raw.decode("utf-16" if wide else "utf-8-sig", "replace" if wide else "strict")
    except UnicodeDecodeError:  # "CSV" of a spreadsheet on western Windows
        text = raw.decode("cp1252", "replace")
    text = text.replace("\x00", "")
    text = re.sub(r"(?i)^sep=.[\r\n]+", "", text).lstrip("\r\n")  # a spreadsheet's note on its separator
    first = next((line for line in text.splitlines() if line.strip(",;\t ")), "")
    try:
        rows = [*csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))]
        rows = [row for row in rows if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise BadSource(f"{path} is not a sheet of ratings ({error}): give the completed sheet of the study") from error
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    if "id" not in head or "rating" not in head:
        raise BadSource(f"{path} has no columns id and rating: give the completed sheet of the study")
    if head.count("rating") > 1 or head.count("id") > 1:
        raise BadSource(f"{path} has two columns id or rating: remove one of them")
    return head, rows[1:]


def evaluation_of(study: Study, raters: Sequence[Mapping[str, str]]) -> Evaluation:
    """Evaluate a study, on the queries with rated results."""
    judged = judgements_of(study, raters)

    def kept(of: Mapping[str, V]) -> dict[str, V]:
        return {query: of[query] for query in judged.ratings if query in of}

    runs = [Run(run.name, kept(run.answers), kept(run.milliseconds), kept(run.facts)) for run in study.runs]
    return Evaluation(judged, runs, study.depth)


def judgements_of(study: Study, raters: Sequence[Mapping[str, str]]) -> Judgements:
    """The majority rating of each result; results without a rating stay unrated."""
    given = {item.query for item in study.items}
    found = Judgements({query: {} for query in study.in_degree if query not in given})
    for item in study.items:
        said = Counter(RATINGS[rater[item.id]] for rater in raters if item.id in rater)
        if said:
            best = max(said.values())
            found.rate(item.query, item.id, min(rating for rating, times in said.items() if times == best))
    return found


def raters_table(study: Study, sheets: Mapping[Path, Mapping[str, str]]) -> Table:
    """What each rater has rated, by their sheets."""
    rows: list[list[object]] = []
    for path, ratings in sheets.items():
        name = path.stem.removeprefix("ratings-")
        given = len(study.share(name)) if not study.raters or name in study.raters else ""
        said = Counter(ratings.values())
        rows.append([name, given, len(ratings), *(said[value] for value in RATINGS)])
    return ["rater", "to rate", "rated", *(meaning for _, meaning in CHOICES)], rows


def rating_page(study: Study, rater: str = "") -> str:
    """The sheet as a page: every result with three buttons, kept in the browser and saved as CSV."""
    items = study.share(rater)
    known = crc32("\n".join([rater, *(f"{item.query}\t{item.page}" for item in items)]).encode())
    sheet = sheet_of(Path(), rater).name
    return render("rate.html", items=items, choices=CHOICES, study=f"{known:08x}", sheet=sheet)
