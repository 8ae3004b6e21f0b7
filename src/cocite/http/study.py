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
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request
from fastapi.responses import Response

from cocite.errors import BadParameter
from cocite.evaluate.study import RATINGS, Item, keep_edited, read, read_ratings, write_ratings
from cocite.http.frame import NOTHING, brand, foot, keyboard, note, tools, trouble, whole
from cocite.http.listing import name_of, titled
from cocite.http.markup import Markup, joined, link_out, shown_address, tag, void
from cocite.http.replies import HTML, TEXT, Refused, Reply
from cocite.http.state import with_query
from cocite.http.taken import body_of
from cocite.sources.records import ReadReport

if TYPE_CHECKING:
    from cocite.http.app import Sent

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
MOST_RATERS = 1000
MOST_RATED = 2000
"""Ratings of one step."""
CHOICES = (("1", "related"), ("0", "not related"), ("x", "could not open"))
KEYS = (
    ("j, k", "next, previous page"),
    ("Enter", "open it"),
    *CHOICES,
    ("t", "light or dark"),
    ("?", "this help"),
)


class Sheets:
    """The study of a folder, and what raters said so far."""

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
        """What a rater said so far."""
        path = self.path(rater)
        return read_ratings(path, self.study, ReadReport()) if path.exists() else {}

    def add(self, rater: str, given: Mapping[str, str]) -> dict[str, str]:
        """Keep more ratings; raises BadParameter if there are too many raters."""
        known = {item.id for item in self.study.items}
        with self._alone():
            path = self.path(rater)
            if not path.exists() and len(list(self.folder.glob("ratings-*.csv"))) >= MOST_RATERS:
                raise BadParameter(f"{MOST_RATERS} raters have sheets already: give one of their names")
            told = self.ratings(rater) | {key: said for key, said in given.items() if key in known and said in RATINGS}
            keep_edited(self.study, path)
            write_ratings(self.study, path, told)
        return told

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One at a time, threads and workers: a sheet is read, added to, and replaced."""
        with (self.folder / ".rating").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def left(self, told: Mapping[str, str], after: int = -1) -> int | None:
        """The next query page with something to rate; None if all is done."""
        order = [*range(after + 1, len(self.queries)), *range(min(after + 1, len(self.queries)))]
        return next((at for at in order if any(item.id not in told for item in self.queries[at])), None)


def add_study(app: FastAPI, folder: Path, sent: Callable[[Reply], Sent]) -> None:
    """Add the routes of a study."""
    sheets = Sheets(folder)

    @app.get("/study", include_in_schema=False)
    async def rating(request: Request) -> Response:
        request.scope["cocite"].route = "page"
        name, at = request.query_params.get("rater"), request.query_params.get("at", "")
        if name is None:
            return sent(Reply(200, page(asking_name(sheets)), HTML))
        try:
            rater = checked(name)
        except BadParameter as error:
            return sent(Reply(422, page(joined(trouble(f"{error}."), asking_name(sheets))), HTML))
        told = await asyncio.to_thread(sheets.ratings, rater)
        chosen = int(at) - 1 if re.fullmatch("[0-9]{1,6}", at) else sheets.left(told)
        if chosen is None or not 0 <= chosen < len(sheets.queries):
            return sent(Reply(200, page(finished(sheets, rater, told)), HTML))
        return sent(Reply(200, page(task(sheets, rater, chosen, told)), HTML))

    @app.post("/study", include_in_schema=False)
    async def rated(request: Request) -> Response:
        request.scope["cocite"].route = "page"
        same_origin(request)
        given = fields(await body_of(request))
        rater, at = checked(given.get("rater", "")), given.get("at", "")
        told = await asyncio.to_thread(sheets.add, rater, given)
        after = int(at) - 1 if re.fullmatch("[0-9]{1,6}", at) else -1
        following = sheets.left(told, after)
        return sent(Reply(303, b"", TEXT, extra=((b"location", place(rater, following).encode()),)))


def fields(body: bytes) -> dict[str, str]:
    """What a form says; raises BadParameter."""
    try:
        return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=MOST_RATED))
    except ValueError as error:
        raise BadParameter(f"more than {MOST_RATED:,} ratings at once: send fewer") from error


def place(rater: str, at: int | None) -> str:
    """Where a step of the study is; none: where it ends."""
    return with_query("/study", [("rater", rater), ("at", str(0 if at is None else at + 1))])


def checked(name: str) -> str:
    """The name of a rater, which becomes part of a file's name; raises BadParameter."""
    plain = name.strip().lower()
    if plain and not NAME.fullmatch(plain):
        raise BadParameter("a rater's name has up to 40 letters a to z, digits, - and _")
    return plain


def same_origin(request: Request) -> None:
    """Ratings come from the page itself, not from a stranger's that a rater happens to see."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if site is None:  # an older browser; others send no usable origin where pages give no referrer
        site = "none" if origin is None or origin.partition("://")[2] == request.headers.get("host") else "cross-site"
    if site not in ("same-origin", "none"):
        raise Refused(400, "CrossSite", "ratings are taken from the rating page only", "open /study and rate there")


def page(body: Markup) -> bytes:
    """A whole page."""
    top = tag("header", tag("div", brand(), tools(), class_="top"))
    return whole("Which pages are related? – cocite", top, tag("main", body, id="answers"), foot(None), keyboard(KEYS))


def asking_name(sheets: Sheets) -> Markup:
    """What it is about, and who rates."""
    what = f"{len(sheets.study.items):,} pages to be rated, for {len(sheets.queries):,} others."
    return joined(
        tag("h1", "Which pages are related?"),
        tag("p", "You will see a page, and below it pages that might be related to it. Open them, and say of each "
            "whether you find it valuable as a page related to the one above. ", what, class_="lead"),
        tag("p", "What you say is kept with every step; you can go on later, with the same name."),
        tag("form",
            tag("div", tag("label", "Your name, or any word", for_="rater"),
                void("input", name="rater", id="rater", maxlength=40, pattern=r"[A-Za-z0-9][A-Za-z0-9_\-]*",
                     autocomplete="off")),
            tag("button", "Begin"), class_="fields", action="/study"),
    )  # fmt: skip


def progress(sheets: Sheets, told: Mapping[str, str]) -> Markup:
    """How far a rater is."""
    done, total = len(told), len(sheets.study.items)
    said = f"{done:,} of {total:,} rated"
    return joined(tag("p", said, class_="facts"), tag("progress", said, value=done, max=total, aria_label="Rated"))


def task(sheets: Sheets, rater: str, at: int, told: Mapping[str, str]) -> Markup:
    """One query page and what is to be rated for it."""
    items = sheets.queries[at]
    query, title = items[0].query, items[0].query_title
    steps = [tag("a", "before", href=place(rater, at - 1))] if at else []
    steps += [tag("a", "skip", href=place(rater, at + 1))] if at + 1 < len(sheets.queries) else []
    return joined(
        progress(sheets, told),
        tag(
            "p", f"Page {at + 1:,} of {len(sheets.queries):,}", *(joined(" · ", step) for step in steps), class_="facts"
        ),
        tag("h1", "Which are related to ", link_out(query, name_of(query, title), target="_blank"), "?"),
        tag("p", shown_address(query), class_="facts"),
        tag(
            "form",
            void("input", type="hidden", name="rater", value=rater),
            void("input", type="hidden", name="at", value=at + 1),
            *(choice(item, told.get(item.id, "")) for item in items),
            tag("p", tag("button", "Save and go on")),
            method="post",
            action="/study",
        ),
    )


def choice(item: Item, said: str) -> Markup:
    """One page to be rated."""
    name = name_of(item.page, item.title)
    buttons = [
        tag("label", void("input", type="radio", name=item.id, value=value, checked=value == said), label)
        for value, label in CHOICES
    ]
    legend = tag("legend", f"Is {name} related?", class_="unseen")
    return tag("div", titled(item.page, item.title), tag("fieldset", legend, *buttons), class_="rate")


def finished(sheets: Sheets, rater: str, told: Mapping[str, str]) -> Markup:
    """Nothing is left, or nothing more was wanted."""
    left = sheets.left(told)
    more = tag("p", tag("a", "Go on", href=place(rater, left))) if left is not None else NOTHING
    thanks = note("All is rated. Thank you!") if left is None else note("Saved.")
    return joined(tag("h1", "Which pages are related?"), progress(sheets, told), thanks, more)
