"""What a web page shows, and its address: every state has one, to be passed on.

Parameters have the names that the interface for programs gives them. An address that cannot mean what it says is read
as far as it can be: links are passed on, and change on the way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from cocite.http.settings import LONGEST_ADDRESS, MOST_K
from cocite.results.filters import NO_FILTERS, Filters

K = {"related": 10, "compare": 10, "picture": 12, "hubs": 10, "search": 10, "communities": 6, "keywords": 20}
"""How many answers a view shows, unless its address says otherwise."""
PATHS = {name: f"/{name}" for name in K} | {"related": "/"}
OF_PAGES = ("related", "compare", "picture", "hubs", "keywords")
OF_WORDS = ("search", "communities", "keywords")
FILTERS = ("per_site", "not_own_site", "lang", "since")
TAKEN = {
    "related": ("url", "not", "method", *FILTERS, "group"),
    "compare": ("url", "method"),
    "picture": ("url", "not", "method", *FILTERS),
    "hubs": ("url", "authorities"),
    "search": ("q",),
    "communities": ("q", "url"),
    "keywords": ("q", "url"),
}
"""What programs may give beside k to get what a view shows."""
MOST_SHOWN = 100
"""Answers of one page: more are for programs."""
TRUE = ("1", "true", "on", "yes")


@dataclass(frozen=True)
class State:
    """What the page shows."""

    view: str = "related"
    urls: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    words: str = ""
    methods: tuple[str, ...] = ()
    k: int = 0  # 0: as many as the view usually shows
    per_site: int = 0
    not_own_site: bool = False
    lang: str = ""
    since: str = ""
    group: bool = False
    authorities: bool = False
    form: str = ""  # of what comes back, if it is no page

    @property
    def method(self) -> str:
        """The one method of views that use one; empty: the usual one."""
        return self.methods[0] if self.methods else ""

    @property
    def shown(self) -> int:
        """How many answers are wanted."""
        return min(self.k or K[self.view], MOST_SHOWN)

    @property
    def filters(self) -> Filters:
        """What answers must be like; raises BadParameter."""
        own = {name: getattr(self, name) for name in FILTERS}
        return Filters(**own) if any(own.values()) else NO_FILTERS

    @property
    def asks(self) -> bool:
        """Whether anything is asked."""
        return bool(self.urls or self.words)

    @property
    def tabs(self) -> tuple[str, ...]:
        """The views of what is asked."""
        return OF_PAGES if self.urls else OF_WORDS

    @property
    def kept(self) -> list[tuple[str, str]]:
        """Parameters that the next question keeps."""
        names = ("method", "not", "authorities", *(() if self.view in ("related", "picture") else ("k",)))
        return [pair for pair in self.given() if pair[0] in names]

    @property
    def has_options(self) -> bool:
        """Whether any option of the form differs from its default."""
        return any(name in ("k", *FILTERS, "group") for name, _ in self.given())

    @property
    def without_filters(self) -> State:
        """The same question without filters."""
        return replace(self, unwanted=(), per_site=0, not_own_site=False, lang="", since="")

    def from_here(self, url: str) -> State:
        """The same view of another page; views that aren't about a page lead to its related pages."""
        view = self.view if self.view in ("related", "picture", "compare") else "related"
        return self.but(urls=(url,), unwanted=(), words="", view=view)

    def given_but(self, name: str) -> list[tuple[str, str]]:
        """Parameters of the address without one."""
        return [pair for pair in self.given() if pair[0] != name]

    def given(self) -> list[tuple[str, str]]:
        """Parameters of the address: those that differ from the usual."""
        found = [("url", url) for url in self.urls] + [("not", url) for url in self.unwanted]
        found += [("q", self.words)] if self.words else []
        found += [("method", method) for method in self.methods]
        found += [("k", str(self.k))] if self.k not in (0, K[self.view]) else []
        found += [(name, str(getattr(self, name))) for name in ("per_site", "lang", "since") if getattr(self, name)]
        switches = ("not_own_site", "group", "authorities")
        return found + [(name, "true") for name in switches if getattr(self, name)]

    def address(self, **more: str) -> str:
        """Where this state is to be had; `more` parameters join it."""
        return with_query(PATHS[self.view], [*self.given(), *more.items()])

    def program(self, **more: str) -> str:
        """Where programs get the same."""
        own = [pair for pair in self.given() if pair[0] in TAKEN[self.view]]
        own += [("k", str(self.shown))] if self.view != "keywords" or self.words else []
        return with_query(f"/api/{'related' if self.view == 'picture' else self.view}", [*own, *more.items()])

    def but(self, **other: Any) -> State:
        """A state that differs in something. Another view shows as many answers as it usually does."""
        if other.get("view", self.view) != self.view:
            other = {"k": 0, "group": False, "authorities": False, **other}
        return replace(self, **other)


def with_query(path: str, pairs: Sequence[tuple[str, str]]) -> str:
    """An address of this server with parameters."""
    query = urlencode(pairs, errors="replace")
    return f"{path}?{query}" if query else path


def state_of(view: str, pairs: Sequence[tuple[str, str]]) -> State:
    """What the address of a page says."""
    given: dict[str, list[str]] = {}
    for name, text in pairs:
        given.setdefault(name, []).append(text)
    last = {name: texts[-1].strip() for name, texts in given.items()}
    urls = dict.fromkeys(each for text in given.get("url", ()) for each in addresses_of(text))
    unwanted = dict.fromkeys(each for text in given.get("not", ()) for each in addresses_of(text))
    methods = dict.fromkeys(text.strip() for text in given.get("method", ()) if text.strip())
    return State(
        view=view,
        urls=() if view in OF_WORDS and last.get("q") else tuple(urls),
        unwanted=tuple(each for each in unwanted if each not in urls),
        words=" ".join(last.get("q", "").split())[:LONGEST_ADDRESS] if view in OF_WORDS else "",
        methods=tuple(methods),
        k=number(last, "k", MOST_K),
        per_site=number(last, "per_site", MOST_K),
        not_own_site=last.get("not_own_site", "").lower() in TRUE,
        lang=last.get("lang", "")[:20],
        since=last.get("since", "")[:40],
        group=last.get("group", "").lower() in TRUE and view == "related",
        authorities=last.get("authorities", "").lower() in TRUE and view == "hubs",
        form=last.get("format", ""),
    )


def number(given: Mapping[str, str], name: str, most: int) -> int:
    """A whole number; 0 if it is none."""
    text = given.get(name, "")
    return min(most, int(text)) if re.fullmatch("[0-9]{1,6}", text) else 0


def addresses_of(text: str) -> list[str]:
    """The addresses of a field: several, if all that is parted by spaces looks like one; names may have spaces."""
    parts = text.split()
    return parts if len(parts) > 1 and all("." in part for part in parts) else [" ".join(parts)] if parts else []


LIKE_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:\S+|[^\s/]+\.[^\s/.]{2,}(?:/\S*)?", re.IGNORECASE)


def like_words(text: str) -> bool:
    """Whether a text is no address, however it is spelled: then it is searched for."""
    return LIKE_ADDRESS.fullmatch(text) is None
