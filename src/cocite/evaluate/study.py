"""The user study of Dean & Henzinger 1999, §4.1: answers of several methods, mixed, to be rated by people.

`new` asks every method, puts the answers to each query together, shuffles them, and writes a folder:

    study.json     which method gave which answer at which rank: not for raters
    ratings.csv    what is to be rated, a row an answer, without methods and ranks: 1, 0, or x for "could not open"
    rate.html      the same as a page for a browser, which needs nothing else and gives back such a file

`read_ratings` reads what came back, from a browser, a spreadsheet or `cocite study rate`: with or without BOM, with
commas, semicolons or tabs. Of several raters' ratings of one answer, the one that most gave counts; of equally many,
the lower.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from cocite.answers.ask import Question, ask
from cocite.answers.naming import title_of
from cocite.errors import BadSource, BadStore
from cocite.evaluate.judgements import DEAD, Judgements, Run
from cocite.methods import Method
from cocite.sources.records import Report
from cocite.web import Web

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


def write(study: Study, folder: Path) -> None:
    """The files of a study; raises FileExistsError if there is one in the folder."""
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
    with (folder / "study.json").open("x", encoding="utf-8") as out:
        json.dump(known, out, ensure_ascii=False, indent=1)
    write_ratings(study, folder / "ratings.csv", {})
    (folder / "rate.html").write_text(rating_page(study), encoding="utf-8")


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
    """The sheet, with the ratings given so far; replaced as a whole, so that nothing is lost half-way."""
    text = io.StringIO()
    sheet = csv.writer(text)
    sheet.writerow(COLUMNS)
    for item in study.items:
        cells = [item.id, item.query, item.query_title, item.page, item.title, ratings.get(item.id, "")]
        sheet.writerow(["'" + cell if cell.startswith(("=", "+", "-", "@")) else cell for cell in cells])
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_text(text.getvalue(), encoding="utf-8-sig", newline="")  # with a BOM: spreadsheets guess wrong without
    fresh.replace(path)


def read_ratings(path: Path, study: Study, report: Report) -> dict[str, str]:
    """The rating of each answer that has one, by id: 1, 0 or x. What cannot be used is counted."""
    if path.stat().st_size > MOST_BYTES:
        raise BadSource(f"{path} has more than {MOST_BYTES >> 20} MiB: it is no sheet of ratings")
    raw = path.read_bytes()
    coded = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"  # "Unicode text" of a spreadsheet
    text = raw.decode(coded, "replace").replace("\x00", "")
    first = text.partition("\n")[0]
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count)))
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    if "id" not in head or "rating" not in head:
        raise BadSource(f"{path} has no columns id and rating: give the sheet of the study, filled in")
    at, rated, known, found = head.index("id"), head.index("rating"), {item.id for item in study.items}, {}
    for row in rows[1:]:
        if not any(cell.strip() for cell in row):
            continue
        cells = [cell.strip() for cell in row] + [""] * len(head)
        number, rating = cells[at].lstrip("'").rjust(5, "0"), cells[rated].lower().removesuffix(".0").removesuffix(",0")
        if number not in known:
            report.skip("row of no answer in this study", ",".join(row))
        elif rating and rating not in RATINGS:
            report.skip("rating that is none of 1, 0, x", ",".join(row))
        elif rating:
            found[number] = rating
    return found


def judgements_of(study: Study, raters: Sequence[Mapping[str, str]]) -> Judgements:
    """What most raters said of each answer; answers without a rating stay unrated."""
    found = Judgements({query: {} for query in study.in_degree})
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
        rows.append(f'<div class="item"><p>{_link(item.page, item.title)}</p><fieldset>{buttons}</fieldset></div>')
    frame = resources.files("cocite.evaluate").joinpath("rate.html").read_text(encoding="utf-8")
    return frame.replace("{{rows}}", "\n".join(rows)).replace("{{total}}", str(len(study.items)))


def _link(url: str, title: str) -> str:
    shown = f"{escape(title)}<br><small>{escape(url)}</small>" if title else escape(url)
    if not url.startswith(("http://", "https://")):
        return shown
    return f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer nofollow">{shown}</a>'
