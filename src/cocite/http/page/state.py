"""What the web page shows, and its address: every state has one, to be passed on.

A view shows the result of an operation, and its address has the parameters of that operation, named as in the API. An
address is read leniently, since links are passed on and change on the way: numbers that are none are ignored.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Self
from urllib.parse import parse_qs, urlencode

from cocite.operations.declare import Operation, make, parameters_on
from cocite.operations.pages.compare import Compare
from cocite.operations.pages.hubs import Hubs
from cocite.operations.pages.recommend import Recommend
from cocite.operations.pages.related import Related
from cocite.operations.shared import MAX_ADDRESS_LENGTH
from cocite.operations.words.communities import FindCommunities
from cocite.operations.words.keywords import FindKeywords
from cocite.operations.words.search import SearchPages
from cocite.parameters import TRUTH_VALUES, Parameter, parameters_of
from cocite.results.filters import Filters

VIEW_OPERATIONS: dict[str, tuple[type[Operation], int]] = {
    "related": (Related, 10),
    "compare": (Compare, 10),
    "picture": (Related, 12),
    "hubs": (Hubs, 10),
    "search": (SearchPages, 10),
    "communities": (FindCommunities, 6),
    "keywords": (FindKeywords, 20),
    "recommend": (Recommend, 10),
}
"""The operation of each view, and how many results it shows by default."""
PATHS = {name: f"/{name}" for name in VIEW_OPERATIONS} | {"related": "/"}
OF_PAGES = ("related", "compare", "picture", "hubs", "keywords", "recommend")
OF_WORDS = ("search", "communities", "keywords")
WITH_OPTIONS = ("related", "picture", "compare", "hubs", "recommend")
WITH_DATE = ("related", "picture", "compare", "hubs")
"""Views that can be had as of a date."""
WITH_METHOD = ("related", "picture", "recommend")
"""Views whose form has a choice of one method."""
FILTERS = tuple(each.name for each in parameters_of(Filters))
KEPT_OPTIONS = (*FILTERS, "as_of")
"""Options that another view keeps."""
OWN_FIELDS = ("url", "not", "q", "method", "k")
"""Parameters that are fields of a state; the others are its options."""
MAX_SHOWN = 100
"""Results of one page: more are for programs."""
MAX_FIELDS = 200


@cache
def parameters_of_view(view: str) -> dict[str, Parameter]:
    """The parameters of a view's operation, as in the API."""
    return {each.name: each for _, each in parameters_on(VIEW_OPERATIONS[view][0], "http")}


@cache
def option_parameters(view: str) -> dict[str, Parameter]:
    """The options of a view: filters, which all views keep, and what its operation has beside."""
    own = {name: each for name, each in parameters_of_view(view).items() if name not in OWN_FIELDS}
    return {name: each for name, each in parameters_of_view("related").items() if name in KEPT_OPTIONS} | own


@dataclass(frozen=True)
class State:
    """What the page shows."""

    view: str = "related"
    urls: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    words: str = ""
    methods: tuple[str, ...] = ()
    k: int = 0  # 0: as many as the view shows by default
    options: tuple[tuple[str, str], ...] = ()  # other parameters, as in the address
    form: str = ""  # of a file, if it isn't a page

    @property
    def method(self) -> str:
        """The one method of views that use one; empty: the default."""
        return self.methods[0] if self.methods else ""

    @property
    def shown(self) -> int:
        """How many results are wanted."""
        return min(self.k or VIEW_OPERATIONS[self.view][1], MAX_SHOWN)

    @property
    def asks(self) -> bool:
        """Whether anything is asked."""
        return bool(self.urls or self.words)

    @property
    def tabs(self) -> tuple[str, ...]:
        """The views of a question."""
        return OF_PAGES if self.urls else OF_WORDS

    def option(self, name: str) -> str:
        """An option as in the address; several values are separated by spaces, empty is the default."""
        return " ".join(text for each, text in self.options if each == name)

    @property
    def form_fields(self) -> list[Parameter]:
        """The options that the form of this view has."""
        shown = option_parameters(self.view).values() if self.view in WITH_OPTIONS else ()
        return [each for each in shown if each.name in FILTERS or each.type is bool]

    @property
    def kept(self) -> list[tuple[str, str]]:
        """Parameters that the next question keeps, and that no field of the form has."""
        inside = {"k", *(each.name for each in self.form_fields)} if self.view in WITH_OPTIONS else set()
        inside |= {"method"} if self.view in WITH_METHOD and self.asks else set()
        inside |= {"as_of"} if self.view in WITH_DATE and self.asks else set()
        return [pair for pair in self.given() if pair[0] not in ("url", "q", *inside)]

    @property
    def has_options(self) -> bool:
        """Whether any option differs from its default."""
        return bool(self.options or self.methods) or self.k not in (0, VIEW_OPERATIONS[self.view][1])

    @property
    def without_filters(self) -> Self:
        """The same question without filters."""
        return replace(self, unwanted=(), options=tuple(pair for pair in self.options if pair[0] not in FILTERS))

    def from_here(self, url: str) -> Self:
        """The same view of another page; views that aren't about a page lead to its related pages."""
        view = self.view if self.view in ("related", "picture", "compare") else "related"
        return self.but(urls=(url,), unwanted=(), words="", view=view)

    def given(self, but: str = "") -> list[tuple[str, str]]:
        """Parameters of the address, without one: those that differ from the default."""
        found = [("url", url) for url in self.urls] + [("not", url) for url in self.unwanted]
        found += [("q", self.words)] if self.words else []
        found += [("method", method) for method in self.methods]
        found += [("k", str(self.k))] if self.k not in (0, VIEW_OPERATIONS[self.view][1]) else []
        return [pair for pair in (*found, *self.options) if pair[0] != but]

    def address(self, **more: str) -> str:
        """The address of this state with `more` parameters."""
        return with_query(PATHS[self.view], [*self.given(), *more.items()])

    def own(self) -> list[tuple[str, str]]:
        """The parameters that the operation of this view has."""
        known = parameters_of_view(self.view)
        pairs = [pair for pair in self.given(but="k") if pair[0] in known]
        if self.view == "communities":  # its method is community, not the one that relates pages
            pairs = [pair for pair in pairs if pair[0] != "method"]
        if self.view == "keywords":  # of words, or of one page
            pairs = [("q", self.words)] if self.words else [("url", url) for url in self.urls[:1]]
        return [*pairs, ("k", str(self.shown))] if self.view != "keywords" or self.words else pairs

    def program(self, **more: str) -> str:
        """The same in the API."""
        return with_query(VIEW_OPERATIONS[self.view][0].about.route, [*self.own(), *more.items()])

    def operation(self, **changes: Any) -> Any:
        """The operation that this view shows; raises BadParameter."""
        cls, known = VIEW_OPERATIONS[self.view][0], parameters_of_view(self.view)
        given: dict[str, Any] = {}
        for name, text in self.own():
            if known[name].many:
                given.setdefault(name, []).append(text)
            else:
                given.setdefault(name, text)
        return make(cls, "http", given | changes)

    def but(self, **other: Any) -> Self:
        """A state that differs in some fields or options. Another view keeps filters, but no other option, and no k."""
        if other.get("view", self.view) != self.view:
            kept = tuple(pair for pair in self.options if pair[0] in KEPT_OPTIONS)
            other = {"k": 0, "options": kept, **other}
        own = {name: other.pop(name) for name in list(other) if name in _FIELDS}
        state = replace(self, **own)
        for name, value in other.items():
            pairs = [pair for pair in state.options if pair[0] != name]
            state = replace(state, options=tuple([*pairs, (name, str(value))] if value else pairs))
        return state


_FIELDS = {each.name for each in fields(State)}


def with_query(path: str, pairs: Sequence[tuple[str, str]]) -> str:
    """An address of this server with parameters."""
    query = urlencode(pairs, errors="replace")
    return f"{path}?{query}" if query else path


def state_of(view: str, query: bytes) -> State:
    """What the address of a page means."""
    given: dict[str, list[str]] = {}
    with suppress(ValueError):
        given = parse_qs(query.decode("latin-1"), max_num_fields=MAX_FIELDS)
    last = {name: texts[-1].strip() for name, texts in given.items()}
    urls = dict.fromkeys(each for text in given.get("url", ()) for each in addresses_of(text))
    unwanted = dict.fromkeys(each for text in given.get("not", ()) for each in addresses_of(text))
    methods = dict.fromkeys(text.strip() for text in given.get("method", ()) if text.strip())
    return State(
        view=view,
        urls=() if view in OF_WORDS and last.get("q") else tuple(urls),
        unwanted=tuple(each for each in unwanted if each not in urls),
        words=" ".join(last.get("q", "").split())[:MAX_ADDRESS_LENGTH] if view in OF_WORDS else "",
        methods=tuple(methods),
        k=number(last.get("k", ""), 1000),
        options=tuple(pair for each in option_parameters(view).values() for pair in option_pairs(each, given, last)),
        form=last.get("format", ""),
    )


def option_pairs(each: Parameter, given: Mapping[str, list[str]], last: Mapping[str, str]) -> list[tuple[str, str]]:
    """An option as the address has it: none if it is the default, or means nothing."""
    if each.many:
        texts = (text for entry in given.get(each.name, ()) for text in entry.split())
        return [(each.name, text[: each.max_length]) for text in dict.fromkeys(texts)]
    text = last.get(each.name, "")
    if each.type is bool:
        text = "true" if TRUTH_VALUES.get(text.lower()) else ""
    elif each.type is int:
        text = str(number(text, int(each.maximum or 0)) or "")
    elif each.type is float:
        text = text if re.fullmatch(r"[0-9]{0,6}\.?[0-9]{0,6}", text) else ""
    text = text[: each.max_length]
    return [(each.name, text)] if text and text != str(each.default) else []


def number(text: str, maximum: int) -> int:
    """A whole number up to a maximum; 0 if it is none."""
    return min(maximum, int(text)) if re.fullmatch("[0-9]{1,6}", text) else 0


def addresses_of(text: str) -> list[str]:
    """The addresses in a field: several, if all parts between spaces look like one; names may have spaces."""
    parts = text.split()
    return parts if len(parts) > 1 and all("." in part for part in parts) else [" ".join(parts)] if parts else []


ADDRESS_PATTERN = re.compile(r"[a-z][a-z0-9+.-]*:\S+|[^\s/]+\.[^\s/.]{2,}(?:/\S*)?", re.IGNORECASE)


def looks_like_words(text: str) -> bool:
    """Whether a text can't be an address: then it is searched for."""
    return ADDRESS_PATTERN.fullmatch(text) is None
