"""POST /findSimilar: related pages in the shape that clients of Exa send and expect.

So programs written for that service can ask a store of their own: `Exa("key", base_url="http://127.0.0.1:8000")`. Dates
are those of captures. Scores are parts of the best one. Reasons are in `extras`. Options about a live web, such as
livecrawl and category, are ignored.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self

import orjson

from cocite.errors import BadParameter
from cocite.http.questions import Key
from cocite.http.responses import Reply, to_json
from cocite.operations import DEFAULT_METHOD
from cocite.operations.bounds import bounded
from cocite.operations.pages.related import Related
from cocite.results.answer import Answer
from cocite.results.present import brief
from cocite.text import clean
from cocite.web import Web

MAX_RESULTS, DEFAULT_RESULTS = 100, 10
MAX_TEXT_CHARS = 10_000
MAX_HIGHLIGHT_CHARS = 300
MAX_PHRASES = 5
SPARE_FACTOR = 10
"""Results looked at for each wanted one, where texts decide."""
DATE_FIELDS = ("startPublishedDate", "startCrawlDate"), ("endPublishedDate", "endCrawlDate")
"""The first that is given counts: from, and up to."""


@dataclass(frozen=True)
class Wanted:
    """What of a page's contents is wanted: characters of its text, of a highlight; 0: none."""

    text: int = 0
    highlight: int = 0


@dataclass(frozen=True)
class SimilarQuestion:
    """Pages related to one, as a client of Exa asks."""

    body: bytes = field(repr=False)
    asked: Related
    wanted: Wanted
    include: tuple[str, ...] = ()  # phrases that texts must have
    exclude: tuple[str, ...] = ()
    route: str = "similar"

    @property
    def slow(self) -> bool:
        return self.asked.slow

    @classmethod
    def read(cls, body: bytes, _: bytes = b"") -> Self:
        """What a body asks; raises a CociteError."""
        try:
            given = orjson.loads(body)
        except ValueError as error:
            raise BadParameter("The body is not JSON: send an object with a url") from error
        if not isinstance(given, dict) or not isinstance(given.get("url"), str) or not given["url"].strip():
            raise BadParameter("The body has no url: send an object with the address of a page")
        include, exclude = (_texts(given, name)[:MAX_PHRASES] for name in ("includeText", "excludeText"))
        number = given.get("numResults", DEFAULT_RESULTS)
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MAX_RESULTS:
            raise BadParameter(f"numResults must be a whole number from 1 to {MAX_RESULTS}, not {number!r:.100}")
        since, until = (next((str(given[key])[:10] for key in keys if given.get(key)), "") for keys in DATE_FIELDS)
        asked = Related(
            urls=(given["url"],), method=DEFAULT_METHOD, k=number * SPARE_FACTOR if include or exclude else number,
            site=_texts(given, "includeDomains"), not_site=_texts(given, "excludeDomains"),
            not_own_site=given.get("excludeSourceDomain") is True, since=since, until=until,
        )  # fmt: skip
        return cls(body, bounded(asked), _wanted(given.get("contents", given)), include, exclude)

    def keys(self, web: Web) -> tuple[Key, ...]:
        """What the answer depends on."""
        return ((self.route, hashlib.blake2b(self.body, digest_size=16).hexdigest()),)

    def work(self, web: Web, load: int) -> Reply:
        """The answer."""
        found = self.asked.run(web)
        number = self.asked.k // SPARE_FACTOR if self.include or self.exclude else self.asked.k
        kept = [each for each in found if self._passes(web, each)][:number]
        best = max((each.score for each in kept), default=1.0) or 1.0
        about = {
            "requestId": hashlib.blake2b(self.body, digest_size=16).hexdigest(),
            "resolvedSearchType": found.method,
            "results": [self._result(web, each, each.score / best) for each in kept],
            "searchTime": round(found.milliseconds, 3),
            "costDollars": {"total": 0.0},
        }
        return Reply(200, to_json(about | ({"note": found.note} if found.note else {})))

    def _passes(self, web: Web, answer: Answer) -> bool:
        if not self.include and not self.exclude:
            return True
        text = f"{answer.title}\n{web.graph.text(answer.page)}".lower()
        has_all = all(each.lower() in text for each in self.include)
        return has_all and not any(each.lower() in text for each in self.exclude)

    def _result(self, web: Web, answer: Answer, score: float) -> dict[str, Any]:
        captured, text = web.graph.facts.captured(answer.page), ""
        date = datetime.fromtimestamp(captured, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z") if captured else None
        shown: dict[str, Any] = {"id": answer.url, "url": answer.url, "title": answer.title, "score": round(score, 6)}
        shown |= {"publishedDate": date, "author": None, "extras": {"reasons": brief(answer.reasons)}}
        if self.wanted != Wanted():
            text = web.graph.text(answer.page) if web.graph.texts else ""
        if self.wanted.text:
            shown["text"] = text[: self.wanted.text]
        if self.wanted.highlight:
            shown["highlights"] = [clean(text[: self.wanted.highlight])] if text else []
            shown["highlightScores"] = [round(score, 6)] if text else []
        return shown


def _texts(given: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts; raises BadParameter."""
    found = given.get(name) or []
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise BadParameter(f"{name} must be a list of texts, not {found!r:.100}")
    return tuple(each for each in found if each.strip())


def _wanted(contents: Any) -> Wanted:
    """Which contents are wanted: `true`, or an object with a limit of characters."""

    def limit(part: Any, maximum: int) -> int:
        if not isinstance(part, dict):
            return maximum if part is True else 0
        given = part.get("maxCharacters", maximum)
        return min(given, maximum) if isinstance(given, int) and given > 0 else maximum

    if not isinstance(contents, dict):
        return Wanted()
    return Wanted(limit(contents.get("text"), MAX_TEXT_CHARS), limit(contents.get("highlights"), MAX_HIGHLIGHT_CHARS))
