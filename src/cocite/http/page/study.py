"""The rating study in the browser: one query page after another, kept in the study's folder with every step.

Raters see what is to be rated, and neither methods nor ranks. Each named rater has a share and a sheet,
`ratings-NAME.csv`; a study without named raters has one rater, whose sheet is `ratings.csv`. `cocite study report
FOLDER` reads all sheets. It works without scripts.

A rater's link has a token, which alone decides who rates. The first page keeps it in a cookie, so no other address has
it. That page doesn't redirect: after a click in a mail, browsers send no strict cookie to the next address.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from cocite.errors import BadParameter
from cocite.evaluate.study import CHOICES, RATINGS, Item, keep_edited, read, read_ratings, sheet_of, write_ratings
from cocite.evaluate.tokens import read_tokens
from cocite.http.access import holder_of
from cocite.http.front import Exchange, body_of
from cocite.http.page.render import render
from cocite.http.page.state import with_query
from cocite.http.responses import HTML, PLAIN_TEXT, Reply
from cocite.serving.threads import RefusedRequest
from cocite.sources.records import ReadReport
from cocite.system import lock_file

MAX_RATINGS_PER_STEP = 2000
COOKIE, COOKIE_SECONDS = "cocite-rater", 365 * 86_400


class RatingStudy:
    """The study of a folder, the ratings so far, and the two routes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.study = folder, read(folder)
        tokens = read_tokens(folder, self.study)
        self._digests = {name: sha256(token.encode()).digest() for name, token in tokens.items()}

    def rater(self, token: str) -> str | None:
        """The rater who has a token; None if nobody has."""
        return holder_of(token.encode("utf-8", "replace"), self._digests)

    def queries(self, rater: str) -> list[list[Item]]:
        """What a rater has to rate, by query page."""
        by_query: dict[str, list[Item]] = {}
        for item in self.study.share(rater):
            by_query.setdefault(item.query, []).append(item)
        return list(by_query.values())

    def ratings(self, rater: str) -> dict[str, str]:
        """The ratings of a rater."""
        path = sheet_of(self.folder, rater)
        return read_ratings(path, self.study, ReadReport()) if path.exists() else {}

    def add(self, rater: str, given: Mapping[str, str]) -> dict[str, str]:
        """Keep more ratings."""
        items, path = {item.id for item in self.study.share(rater)}, sheet_of(self.folder, rater)
        with (self.folder / ".rating").open("w") as lock:  # a sheet is read, added to, and replaced
            lock_file(lock)
            new = {item: rating for item, rating in given.items() if item in items and rating in RATINGS}
            ratings = self.ratings(rater) | new
            keep_edited(self.study, path, rater)
            write_ratings(self.study, path, ratings, rater)
        return ratings

    async def show(self, request: Request, _: Exchange) -> Reply:
        """A step of the study: the introduction, what is to be rated, or the end."""
        link = request.query_params.get("token")
        rater = self.rater(request.cookies.get(COOKIE, "") if link is None else link)
        if rater is None:
            return self._page(403)
        queries, ratings = self.queries(rater), await asyncio.to_thread(self.ratings, rater)
        given: dict[str, Any] = {
            "rater": rater,
            "cookie": None if link is None else cookie(link, request.url.scheme == "https"),
            "ratings": ratings,
            "queries": len(queries),
            "results": sum(map(len, queries)),
        }
        left = next_query(queries, ratings)
        if "at" not in request.query_params:
            return self._page(**given, begin=0 if left is None else left + 1)
        at = step_of(request.query_params["at"], left)
        if at is None or not 0 <= at < len(queries):
            return self._page(**given, left=left)
        return self._page(**given, at=at, items=queries[at])

    async def save(self, request: Request, _: Exchange) -> Reply:
        """Keep the ratings of a step, and go on to the next."""
        check_same_origin(request)
        rater = self.rater(request.cookies.get(COOKIE, ""))
        if rater is None:
            hint = "Open the link that you were sent, and rate there; whoever runs this study has it"
            raise RefusedRequest(403, "NotARater", "Ratings need a rater's link", hint)
        try:
            body = (await body_of(request)).decode("utf-8", "replace")
            given = dict(parse_qsl(body, max_num_fields=MAX_RATINGS_PER_STEP))
        except ValueError as error:
            raise BadParameter(f"More than {MAX_RATINGS_PER_STEP:,} ratings at once; send fewer") from error
        ratings = await asyncio.to_thread(self.add, rater, given)
        after = step_of(given.get("at", ""), -1)
        following = next_query(self.queries(rater), ratings, -1 if after is None else after)
        return Reply(303, b"", PLAIN_TEXT, extra=((b"location", step_address(following).encode()),))

    def _page(self, status: int = 200, cookie: bytes | None = None, **values: Any) -> Reply:
        given = {"ratings": None, "begin": None, "CHOICES": CHOICES, "place": step_address}
        extra = () if cookie is None else ((b"set-cookie", cookie),)
        return Reply(status, render("study.html", **given | values), HTML, extra=extra)


def cookie(token: str, secure: bool) -> bytes:
    """A header that keeps a valid token in the browser, for the pages of the study only."""
    about = f"Path=/study; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict{'; Secure' if secure else ''}"
    return f"{COOKIE}={token}; {about}".encode()


def next_query(queries: Sequence[Sequence[Item]], ratings: Mapping[str, str], after: int = -1) -> int | None:
    """The next query page with something to rate; None if all is done."""
    order = [*range(after + 1, len(queries)), *range(min(after + 1, len(queries)))]
    return next((at for at in order if any(item.id not in ratings for item in queries[at])), None)


def step_of(text: str, default: int | None) -> int | None:
    """The place of a query page from its number in an address, which begins with 1."""
    return int(text) - 1 if re.fullmatch("[0-9]{1,6}", text) else default


def step_address(at: int | None) -> str:
    """The address of a step of the study; None: of its end."""
    return with_query("/study", [("at", str(0 if at is None else at + 1))])


def check_same_origin(request: Request) -> None:
    """Accept ratings from the page itself, not from a stranger's page that a rater has open."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if site is None:  # an older browser; others send no usable origin where pages give no referrer
        site = "none" if origin is None or origin.partition("://")[2] == request.headers.get("host") else "cross-site"
    if site not in ("same-origin", "none"):
        hint = "Open /study and rate there"
        raise RefusedRequest(400, "CrossSite", "Ratings are accepted from the rating page only", hint)
