"""The rating study in the browser: one query page after another, kept in the study's folder with every step.

Raters see what is to be rated, and neither methods nor ranks. Whoever gives a name has a sheet of their own,
`ratings-NAME.csv`; without a name it is `ratings.csv`. `cocite study report FOLDER FOLDER/ratings*.csv` reads them all.
It works without scripts, and needs no cookie: the name is in the address.
"""

from __future__ import annotations

import asyncio
import fcntl
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request
from fastapi.responses import Response

from cocite.errors import BadParameter
from cocite.evaluate.study import RATINGS, Item, keep_edited, read, read_ratings, write_ratings
from cocite.http.api import body_of
from cocite.http.page.render import render
from cocite.http.page.state import with_query
from cocite.http.responses import HTML, TEXT, Refused, Reply
from cocite.sources.records import ReadReport

if TYPE_CHECKING:
    from cocite.http.app import Sent

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
MAX_RATERS = 1000
MAX_RATINGS_PER_STEP = 2000
CHOICES = (("1", "related"), ("0", "not related"), ("x", "could not open"))
KEYS = (
    ("j, k", "next, previous page"),
    ("Enter", "open it"),
    *CHOICES,
    ("t", "light or dark"),
    ("?", "this help"),
)


class Sheets:
    """The study of a folder, and the ratings so far."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.study = folder, read(folder)
        by_query: dict[str, list[Item]] = {}
        for item in self.study.items:
            by_query.setdefault(item.query, []).append(item)
        self.queries = list(by_query.values())

    def path(self, rater: str) -> Path:
        """The sheet of a rater."""
        return self.folder / (f"ratings-{rater}.csv" if rater else "ratings.csv")

    def ratings(self, rater: str) -> dict[str, str]:
        """the ratings of a rater."""
        path = self.path(rater)
        return read_ratings(path, self.study, ReadReport()) if path.exists() else {}

    def add(self, rater: str, given: Mapping[str, str]) -> dict[str, str]:
        """Keep more ratings; raises BadParameter if there are too many raters."""
        known = {item.id for item in self.study.items}
        with self._alone():
            path = self.path(rater)
            if not path.exists() and len(list(self.folder.glob("ratings-*.csv"))) >= MAX_RATERS:
                raise BadParameter(f"{MAX_RATERS} raters have sheets already; give one of their names")
            ratings = self.ratings(rater) | {
                key: said for key, said in given.items() if key in known and said in RATINGS
            }
            keep_edited(self.study, path)
            write_ratings(self.study, path, ratings)
        return ratings

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One at a time, threads and workers: a sheet is read, added to, and replaced."""
        with (self.folder / ".rating").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def left(self, ratings: Mapping[str, str], after: int = -1) -> int | None:
        """The next query page with something to rate; None if all is done."""
        order = [*range(after + 1, len(self.queries)), *range(min(after + 1, len(self.queries)))]
        return next((at for at in order if any(item.id not in ratings for item in self.queries[at])), None)


def add_study(app: FastAPI, folder: Path, sent: Callable[[Reply], Sent]) -> None:
    """Add the routes of a study."""
    sheets = Sheets(folder)

    @app.get("/study", include_in_schema=False)
    async def rating(request: Request) -> Response:
        request.scope["cocite"].route = "page"
        name, at = request.query_params.get("rater"), request.query_params.get("at", "")
        if name is None:
            return sent(shown(sheets))
        try:
            rater = checked(name)
        except BadParameter as error:
            return sent(shown(sheets, 422, error=f"{error}."))
        ratings = await asyncio.to_thread(sheets.ratings, rater)
        left = sheets.left(ratings)
        chosen = int(at) - 1 if re.fullmatch("[0-9]{1,6}", at) else left
        if chosen is None or not 0 <= chosen < len(sheets.queries):
            return sent(shown(sheets, rater=rater, ratings=ratings, left=left))
        return sent(shown(sheets, rater=rater, ratings=ratings, at=chosen, items=sheets.queries[chosen]))

    @app.post("/study", include_in_schema=False)
    async def rated(request: Request) -> Response:
        request.scope["cocite"].route = "page"
        same_origin(request)
        given = fields(await body_of(request))
        rater, at = checked(given.get("rater", "")), given.get("at", "")
        ratings = await asyncio.to_thread(sheets.add, rater, given)
        after = int(at) - 1 if re.fullmatch("[0-9]{1,6}", at) else -1
        following = sheets.left(ratings, after)
        return sent(Reply(303, b"", TEXT, extra=((b"location", place(rater, following).encode()),)))


def shown(sheets: Sheets, status: int = 200, **values: Any) -> Reply:
    """A page of the study: who rates, what is to be rated, or the end."""
    given = {"ratings": None, "KEYS": KEYS, "CHOICES": CHOICES, "place": place, "sheets": sheets, **values}
    return Reply(status, render("study.html", **given), HTML)


def fields(body: bytes) -> dict[str, str]:
    """What a form says; raises BadParameter."""
    try:
        return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=MAX_RATINGS_PER_STEP))
    except ValueError as error:
        raise BadParameter(f"More than {MAX_RATINGS_PER_STEP:,} ratings at once; send fewer") from error


def place(rater: str, at: int | None) -> str:
    """Where a step of the study is; none: where it ends."""
    return with_query("/study", [("rater", rater), ("at", str(0 if at is None else at + 1))])


def checked(name: str) -> str:
    """The name of a rater, which becomes part of a file's name; raises BadParameter."""
    plain = name.strip().lower()
    if plain and not NAME.fullmatch(plain):
        raise BadParameter("A rater's name must have up to 40 letters a to z, digits, - and _")
    return plain


def same_origin(request: Request) -> None:
    """Ratings come from the page itself, not from a stranger's that a rater happens to see."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if site is None:  # an older browser; others send no usable origin where pages give no referrer
        site = "none" if origin is None or origin.partition("://")[2] == request.headers.get("host") else "cross-site"
    if site not in ("same-origin", "none"):
        raise Refused(400, "CrossSite", "Ratings are accepted from the rating page only", "Open /study and rate there")
