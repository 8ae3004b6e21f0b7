"""The user study of Dean & Henzinger 1999, §4.1: answers of several methods, mixed, to be rated by people.

`new` asks every method, puts the answers to each query together, shuffles them, and writes a folder:

    study.json     which method gave which answer at which rank: not for raters
    ratings.csv    what is to be rated, a row an answer, without methods and ranks: 1, 0, or x for "could not open"
    rate.html      the same as a page for a browser, which needs nothing else and gives back such a file

`read_ratings` reads what came back, from a browser, a spreadsheet or `cocite study rate`: with or without BOM, with
commas, semicolons or tabs. Of several raters' ratings of one answer, the one that most gave counts; of equally many,
the lower. As in the paper, a query of which nobody rated any answer is no part of the study; one that no method answers
is, and counts 0.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

from cocite.errors import BadParameter, BadSource, BadStore
from cocite.evaluate.evaluation import Evaluation
from cocite.evaluate.judgements import DEAD, Judgements, Run
from cocite.graph.export.text import replacing
from cocite.related.methods import Method
from cocite.results.ask import Question, ask
from cocite.results.naming import title_of
from cocite.sources.records import ReadReport
from cocite.web import Web

V = TypeVar("V")
RATINGS = {"1": 1.0, "0": 0.0, "x": DEAD}
COLUMNS = ("id", "query", "query title", "page", "title", "rating")
MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Item:
    """An answer to be rated."""

    id: str
    query: str
    query_title: str
    page: str
    title: str


@dataclass(frozen=True)
class Study:
    """A study as its folder has it."""

    items: Sequence[Item]
    runs: Sequence[Run]  # answers as ids
    in_degree: Mapping[str, int]
    depth: int


def new(web: Web, queries: Sequence[int], methods: Sequence[Method], depth: int = 10, seed: int = 1) -> Study:
    """Have every method answer every query, and mix the answers."""
    graph, rng = web.graph, random.Random(seed)
    runs = [Run(str(method)) for method in methods]
    items: list[Item] = []
    order = list(dict.fromkeys(queries))
    rng.shuffle(order)
    for method in methods if order else ():  # once before the clock counts: loops are loaded, files opened
        ask(web, Question((graph.address(order[0]),), (order[0],)), method, depth, explained=False)
    for query in order:
        url, ids, met = graph.address(query), {}, []
        for run, method in zip(runs, methods, strict=True):
            found = ask(web, Question((url,), (query,)), method, depth, explained=False)
            for answer in found:
                if answer.page not in ids:
                    ids[answer.page] = ""
                    met.append(answer.page)
            run.milliseconds[url], run.facts[url] = found.milliseconds, found.facts
            run.answers[url] = [str(answer.page) for answer in found]
        rng.shuffle(met)
        for page in met:
            ids[page] = f"{len(items) + 1:05d}"
            items.append(Item(ids[page], url, title_of(graph, query), graph.address(page), title_of(graph, page)))
        for run in runs:
            run.answers[url] = [ids[int(page)] for page in run.answers[url]]
    degrees = {graph.address(query): int(graph.in_degree[query]) for query in order}
    return Study(items, runs, degrees, depth)


def check_folder(folder: Path) -> None:
    """Refuse a place that has a study, with ratings perhaps, or that is no folder."""
    if (folder / "study.json").exists():
        raise BadParameter(f"{folder} has a study already: name another folder")
    if folder.exists() and not folder.is_dir():
        raise BadParameter(f"{folder} is a file: name a folder, which is made if there is none")


def write(study: Study, folder: Path) -> None:
    """The files of a study, study.json last: where it is, all are. Raises BadParameter if there is one already."""
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    known = {
        "depth": study.depth,
        "in_degree": dict(study.in_degree),
        "items": [vars(item) for item in study.items],
        "runs": [
            {"name": run.name, "answers": run.answers, "milliseconds": run.milliseconds, "facts": _plain(run.facts)}
            for run in study.runs
        ],
    }
    write_ratings(study, folder / "ratings.csv", {})
    _replace(folder / "rate.html", rating_page(study))
    _replace(folder / "study.json", json.dumps(known, ensure_ascii=False, indent=1))


def _plain(facts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        query: {name: value for name, value in of.items() if isinstance(value, int | float | str)}
        for query, of in facts.items()
    }


def read(folder: Path) -> Study:
    """A study from its folder."""
    try:
        known = json.loads((folder / "study.json").read_text(encoding="utf-8"))
        items = [Item(**item) for item in known["items"]]
        runs = [Run(run["name"], run["answers"], run["milliseconds"], run["facts"]) for run in known["runs"]]
        return Study(items, runs, known["in_degree"], int(known["depth"]))
    except FileNotFoundError as error:
        raise BadStore(f"{folder} has no study: make one with cocite study new") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadStore(f"{folder / 'study.json'} is damaged: make the study anew") from error


def write_ratings(study: Study, path: Path, ratings: Mapping[str, str]) -> None:
    """The sheet, with the ratings given so far."""
    _replace(path, _sheet(study, ratings))


def keep_edited(study: Study, path: Path) -> Path | None:
    """Before a sheet is written anew: one that somebody has edited is kept as it is, beside it; where, if it was."""
    if not path.exists() or path.read_bytes() == _sheet(study, read_ratings(path, study, ReadReport())).encode():
        return None
    names = (path.with_name(f"{path.name}.edited{number or ''}") for number in count())
    kept = next(name for name in names if not name.exists())
    kept.write_bytes(path.read_bytes())
    return kept


def _sheet(study: Study, ratings: Mapping[str, str]) -> str:
    text = io.StringIO()
    sheet = csv.writer(text)
    sheet.writerow(COLUMNS)
    for item in study.items:
        cells = [item.id, item.query, item.query_title, item.page, item.title, ratings.get(item.id, "")]
        sheet.writerow(["'" + cell if cell.startswith(("=", "+", "-", "@")) else cell for cell in cells])
    return "\ufeff" + text.getvalue()  # a BOM: spreadsheets guess wrong without


def _replace(path: Path, text: str) -> None:
    """Write a file, as a whole, so that nothing is lost half-way."""
    with replacing(path) as fresh:
        fresh.write_text(text, encoding="utf-8", newline="")


def read_ratings(path: Path, study: Study, report: ReadReport) -> dict[str, str]:
    """The rating of each answer that has one, by id: 1, 0 or x. What cannot be used is counted.

    Ids are numbers, the same in every study; so where a sheet has the page too, it has to be the study's.
    """
    head, rows = _rows(path)
    items, found = {item.id: item for item in study.items}, dict[str, str]()
    for cells in rows:
        row = dict(zip(head, (cell.strip() for cell in cells), strict=False))
        item = items.get(row.get("id", "").lstrip("'").removesuffix(".0").rjust(5, "0"))
        rating = re.sub(r"(?<=.)[.,]0*$", "", row.get("rating", "").lower())
        if item is None or not _same_page(row.get("page", ""), item.page):
            report.skip("row of no answer in this study", ",".join(cells))
        elif rating and rating not in RATINGS:
            report.skip("rating that is none of 1, 0, x", ",".join(cells))
        elif rating:
            if found.get(item.id, rating) != rating:
                report.skip("answer rated in two ways on one sheet, of which the last counts", ",".join(cells))
            found[item.id] = rating
    return found


def _same_page(cell: str, page: str) -> bool:
    """Whether the cell of a sheet, if it is not empty, names a page; spreadsheets make 12 of 0012, 1.5 of 1.50."""
    cell, page = cell.lstrip("'"), page.lstrip("'")
    if cell in ("", page):
        return True
    try:
        return float(cell.replace(",", ".")) == float(page)
    except ValueError:
        return False


def _rows(path: Path) -> tuple[list[str], list[list[str]]]:
    """The names of the columns of a sheet, and its rows but for empty ones; raises BadSource if it is none."""
    if path.stat().st_size > MOST_BYTES:
        raise BadSource(f"{path} has more than {MOST_BYTES >> 20} MiB: it is no sheet of ratings")
    raw = path.read_bytes()
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):  # "Unicode text" of a spreadsheet
        text = raw.decode("utf-16", "replace")
    else:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:  # plain "CSV" of a spreadsheet, in the code page of western Windows
            text = raw.decode("cp1252", "replace")
    text = text.replace("\x00", "")
    text = re.sub(r"(?i)^sep=.[\r\n]+", "", text).lstrip("\r\n")  # a spreadsheet's note on its separator
    first = next((line for line in text.splitlines() if line.strip(",;\t ")), "")
    try:
        rows = [*csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))]
        rows = [row for row in rows if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise BadSource(f"{path} is no sheet of ratings ({error}): give the sheet of the study, filled in") from error
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    if "id" not in head or "rating" not in head:
        raise BadSource(f"{path} has no columns id and rating: give the sheet of the study, filled in")
    if head.count("rating") > 1 or head.count("id") > 1:
        raise BadSource(f"{path} has two columns of one name, id or rating: leave the one that counts")
    return head, rows[1:]


def evaluation_of(study: Study, raters: Sequence[Mapping[str, str]]) -> Evaluation:
    """The study by what raters said, of the queries that are part of it."""
    judged = judgements_of(study, raters)

    def kept(of: Mapping[str, V]) -> dict[str, V]:
        return {query: of[query] for query in judged.ratings if query in of}

    runs = [Run(run.name, kept(run.answers), kept(run.milliseconds), kept(run.facts)) for run in study.runs]
    return Evaluation(judged, runs, study.depth)


def judgements_of(study: Study, raters: Sequence[Mapping[str, str]]) -> Judgements:
    """What most raters said of each answer; answers without a rating stay unrated."""
    given = {item.query for item in study.items}
    found = Judgements({query: {} for query in study.in_degree if query not in given})
    for item in study.items:
        said = Counter(RATINGS[rater[item.id]] for rater in raters if item.id in rater)
        if said:
            best = max(said.values())
            found.rate(item.query, item.id, min(rating for rating, times in said.items() if times == best))
    return found


def rating_page(study: Study) -> str:
    """The sheet as a page: one answer under the other, three buttons each, kept in the browser, saved as CSV."""
    rows, last = [], ""
    for item in study.items:
        if item.query != last:
            last = item.query
            rows.append(f"<h2>{_link(item.query, item.query_title)}</h2>")
        buttons = "".join(
            f'<label><input type="radio" name="{item.id}" value="{value}"> {text}</label>'
            for value, text in (("1", "related"), ("0", "not related"), ("x", "could not open"))
        )
        rows.append(
            f'<div class="item" data-page="{escape(item.page)}"><p>{_link(item.page, item.title)}</p>'
            f'<fieldset aria-label="{escape(item.title or item.page)}">{buttons}</fieldset></div>'
        )
    frame = resources.files("cocite.evaluate").joinpath("rate.html").read_text(encoding="utf-8")
    known = "\n".join(f"{item.query}\t{item.page}" for item in study.items)
    filled = frame.replace("{{total}}", str(len(study.items))).replace("{{study}}", f"{crc32(known.encode()):08x}")
    return filled.replace("{{rows}}", "\n".join(rows))  # last: titles may have anything in them


def _link(url: str, title: str) -> str:
    shown = f"{escape(title)}<br><small>{escape(url)}</small>" if title else escape(url)
    if not url.startswith(("http://", "https://")):
        return shown
    return f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer nofollow">{shown}</a>'
