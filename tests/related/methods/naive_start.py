"""Where a method starts: the pages asked for, or shorter addresses of the same site in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from tests.related.methods.naive_web import NaiveWeb, Switches, View

CHOP = ("site", "host", "strict", "none")


class Start:
    """The pages to start from (`used`), the view they are seen in, and the pages that are never an answer."""

    def __init__(
        self, web: NaiveWeb, seeds: Sequence[int], unit: str, switches: Switches, good: Callable[[View, int], bool]
    ) -> None:
        """`good(view, page)` tells whether a page has links enough around it to start from."""
        rest = dict(switches)
        chop = rest.pop("chop", "site")
        if chop not in CHOP:
            raise ValueError(f"chop is one of {CHOP}")

        @cache
        def view(*pages: int) -> View:
            return View(web, pages, unit, **rest)  # type: ignore[arg-type]

        self.used: list[int] = []
        for page in dict.fromkeys(seeds):
            tried = [] if chop == "none" else [page, *web.chopped(page, chop)]
            found = next((other for other in tried if good(view(other), other)), None)
            if found is not None or chop != "strict":
                self.used.append(page if found is None else found)
        self.used = list(dict.fromkeys(self.used))
        self.view = view(*self.used)
        asked = {*seeds, *self.used}
        self.never = asked | {self.view.node(page) for page in asked} | self.view.stop
