"""The rating study in the browser: one query page after another, kept in the study's folder with every step.

Raters see what is to be rated, and neither methods nor ranks. Whoever gives a name has a sheet of their own,
`ratings-NAME.csv`; without a name it is `ratings.csv`. A study with named raters shows each their share. `cocite study
report FOLDER` reads all sheets. It works without scripts, and needs no cookie: the name is in the address.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from cocite.errors import BadParameter
from cocite.evaluate.study import (
    CHOICES,
    RATINGS,
    Item,
    keep_edited,
    rater_name,
    read,
    read_ratings,
    sheet_of,
    write_ratings,
)
from cocite.http.front import Exchange, body_of
from cocite.http.page.render import render
from cocite.http.page.state import with_query
from cocite.http.responses import HTML, PLAIN_TEXT, RefusedRequest, Reply
from cocite.sources.records import ReadReport
from cocite.system import lock_file

MAX_RATERS = 1000
MAX_RATINGS_PER_STEP = 2000


class RatingStudy:
    """The study of a folder, the ratings so far, and the two routes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.study = folder, read(folder)

    def queries(self, rater: str) -> list[list[Item]]:
        """What a rater has to rate, by query page; raises BadParameter if the study has only other raters."""
        by_query: dict[str, list[Item]] = {}
        for item in self.study.share(rater):
            by_query.setdefault(item.query, []).append(item)
        return list(by_query.values())

    def ratings(self, rater: str) -> dict[str, str]:
        """The ratings of a rater."""
        path = sheet_of(self.folder, rater)
        return read_ratings(path, self.study, ReadReport()) if path.exists() else {}

    def add(self, rater: str, given: Mapping[str, str]) -> dict[str, str]:
        """Keep more ratings; raises BadParameter if there are too many raters, or if this isn't one of them."""
        items, path = {item.id for item in self.study.share(rater)}, sheet_of(self.folder, rater)
        with (self.folder / ".rating").open("w") as lock:  # a sheet is read, added to, and replaced
            lock_file(lock)
            if not path.exists() and len(list(self.folder.glob("ratings-*.csv"))) >= MAX_RATERS:
                raise BadParameter(f"{MAX_RATERS} raters have sheets already; give one of their names")
            new = {item: rating for item, rating in given.items() if item in items and rating in RATINGS}
            ratings = self.ratings(rater) | new
            keep_edited(self.study, path, rater)
            write_ratings(self.study, path, ratings, rater)
        return ratings

    async def show(self, request: Request, _: Exchange) -> Reply:
        """A step of the study: who rates, what is to be rated, or the end."""
        name = request.query_params.get("rater")
        if name is None:
            return self._page()
        try:
            rater = checked(name)
            queries = self.queries(rater)
        except BadParameter as error:
            return self._page(422, error=f"{error}.")
        ratings = await asyncio.to_thread(self.ratings, rater)
        given: dict[str, Any] = {
            "rater": rater,
            "ratings": ratings,
            "queries": len(queries),
            "results": sum(map(len, queries)),
        }
        left = next_query(queries, ratings)
        at = step_of(request.query_params.get("at", ""), left)
        if at is None or not 0 <= at < len(queries):
            return self._page(**given, left=left)
        return self._page(**given, at=at, items=queries[at])

    async def save(self, request: Request, _: Exchange) -> Reply:
        """Keep the ratings of a step, and go on to the next."""
        check_same_origin(request)
        try:
            body = (await body_of(request)).decode("utf-8", "replace")
            given = dict(parse_qsl(body, max_num_fields=MAX_RATINGS_PER_STEP))
        except ValueError as error:
            raise BadParameter(f"More than {MAX_RATINGS_PER_STEP:,} ratings at once; send fewer") from error
        rater = checked(given.get("rater", ""))
        ratings = await asyncio.to_thread(self.add, rater, given)
        after = step_of(given.get("at", ""), -1)
        following = next_query(self.queries(rater), ratings, -1 if after is None else after)
        return Reply(303, b"", PLAIN_TEXT, extra=((b"location", step_address(rater, following).encode()),))

    def _page(self, status: int = 200, **values: Any) -> Reply:
        given = {"ratings": None, "CHOICES": CHOICES, "place": step_address, "study": self.study}
        return Reply(status, render("study.html", **given | values), HTML)


def next_query(queries: Sequence[Sequence[Item]], ratings: Mapping[str, str], after: int = -1) -> int | None:
    """The next query page with something to rate; None if all is done."""
    order = [*range(after + 1, len(queries)), *range(min(after + 1, len(queries)))]
    return next((at for at in order if any(item.id not in ratings for item in queries[at])), None)


def step_of(text: str, default: int | None) -> int | None:
    """The place of a query page from its number in an address, which begins with 1."""
    return int(text) - 1 if re.fullmatch("[0-9]{1,6}", text) else default


def step_address(rater: str, at: int | None) -> str:
    """The address of a step of the study; None: of its end."""
    return with_query("/study", [("rater", rater), ("at", str(0 if at is None else at + 1))])


def checked(name: str) -> str:
    """The name of a rater, or an empty text; raises BadParameter."""
    return rater_name(name) if name.strip() else ""


def check_same_origin(request: Request) -> None:
    """Accept ratings from the page itself, not from a stranger's page that a rater has open."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if site is None:  # an older browser; others send no usable origin where pages give no referrer
        site = "none" if origin is None or origin.partition("://")[2] == request.headers.get("host") else "cross-site"
    if site not in ("same-origin", "none"):
        hint = "Open /study and rate there"
        raise RefusedRequest(400, "CrossSite", "Ratings are accepted from the rating page only", hint)
