"""A page record in the body of a request, and the question about it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from cocite.errors import BadSource
from cocite.http.holding import Served
from cocite.http.limits import check_addresses, confined, method_of
from cocite.http.questions import Made, put_into_words
from cocite.http.replies import JSON, to_json
from cocite.related.methods import Method
from cocite.results.filters import Filters
from cocite.results.unseen import ask_unseen
from cocite.sources.json_record import page_from_json
from cocite.sources.records import Page, ReadReport


def record_of(body: bytes) -> tuple[Page, dict[str, int]]:
    """The page record of a body, and what of it could not be used; raises BadSource, BadAddress."""
    report = ReadReport()
    page = page_from_json(body, 1, report)
    if page is None:
        what = "; ".join(f"{reason} ({example})" for reason, example in report.example.items())
        raise BadSource(f"this is no page record: {what or 'it is empty'}")
    check_addresses([page.url])
    return page, dict(report.skipped)


@dataclass(frozen=True)
class Unseen:
    """The pages most related to one whose record is sent, and read by a thread: 1 MB of links takes 0.1 to 0.4 s."""

    body: bytes = field(repr=False)
    call: str
    k: int
    filters: Filters
    words: bool = False
    route: str = "unseen"
    heavy: bool = True
    method: Method = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", method_of(self.call)[0])

    def keys(self, web: Served) -> tuple[tuple[Any, ...], ...]:
        """All that the answer depends on."""
        digest = hashlib.blake2b(self.body, digest_size=16).hexdigest()
        return ((self.route, digest, str(self.method), self.k, self.filters, self.words),)

    def work(self, web: Served, load: int) -> Made:
        """The answer; `skipped` says what of the record could not be used."""
        page, skipped = record_of(self.body)
        answers = ask_unseen(web, page, confined(web.graph, self.method), self.k, self.filters)
        found = answers.to_dict() | ({"skipped": skipped} if skipped else {})
        if self.words:
            put_into_words(found, answers)
        return Made(to_json(found), JSON)
