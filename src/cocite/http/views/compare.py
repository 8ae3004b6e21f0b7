"""What several methods answer, side by side."""

from __future__ import annotations

from collections import Counter

from cocite.http.frame import Content, check, exports
from cocite.http.holding import Served
from cocite.http.limits import confined, methods_of
from cocite.http.listing import asked_about, titled
from cocite.http.markup import Markup, joined, shown_address, tag, void
from cocite.http.state import PATHS, State
from cocite.related import methods
from cocite.results import COMPARED, DEFAULT_METHOD
from cocite.results.answer import Answer, Answers
from cocite.results.ask import question
from cocite.results.compare import Comparison, compare

USUAL = (DEFAULT_METHOD, "cocitation", "companion", "lli")
"""Four columns fit a screen; others are ticked."""


def chosen(state: State) -> tuple[str, ...]:
    """The methods to set side by side."""
    return state.methods if len(state.methods) > 1 else tuple(dict.fromkeys((*state.methods, *USUAL)))


def find(web: Served, state: State) -> Comparison:
    """What each answers; raises UnknownMethod, BadParameter."""
    calls = [confined(web.graph, each) for each in methods_of(chosen(state))]
    return compare(web, question(web.graph, state.urls), calls, state.shown)


def show(web: Served, state: State) -> Content:
    """The columns."""
    found = find(web, state)
    votes = Counter(answer.page for answers in found.by_method.values() for answer in answers)
    columns = [column(state, name, answers, votes, len(found.by_method)) for name, answers in found.by_method.items()]
    body = joined(
        asked_about(web, state.but(unwanted=()), "Compared for"),
        choice(state),
        tag("div", *columns, class_="columns", tabindex="0", role="region", aria_label="Answers by method"),
        agreement(found),
        tag("p", "How many answers methods have in common", exports(("JSON", state.program(), "compare.json")),
            class_="facts"),
    )  # fmt: skip
    return Content(f"Methods compared for {', '.join(map(shown_address, state.urls))}", body, wide=True)


def choice(state: State) -> Markup:
    """Methods to tick."""
    ticked = chosen(state)
    names = [*dict.fromkeys((DEFAULT_METHOD, *COMPARED)), *methods.names()]
    boxes = [check("method", name, name in ticked, value=name) for name in dict.fromkeys((*names, *ticked))]
    kept = [void("input", type="hidden", name=name, value=value) for name, value in state.given() if name != "method"]
    inner = tag("div", *boxes, *kept, tag("button", "Compare"), class_="fields")
    form = tag("form", inner, action=PATHS["compare"])
    return tag("details", tag("summary", f"Methods: {', '.join(ticked)}"), form, class_="options")


def column(state: State, name: str, answers: Answers, votes: Counter[int], methods_: int) -> Markup:
    """One method."""
    where = state.but(view="related", methods=(name,)).address()
    took = f"{answers.milliseconds:.1f} ms"
    items = [cell(state, answer, votes[answer.page], methods_) for answer in answers]
    shown = tag("ol", *items) if items else tag("p", "nothing", class_="facts")
    head = tag("h2", tag("a", name, href=where), " ", tag("small", took))
    return tag("section", head, shown)


def cell(state: State, answer: Answer, votes: int, methods_: int) -> Markup:
    """One answer; how many of the methods give it is told by a mark, and in words."""
    told = f"{votes} of {methods_} methods" if votes > 1 else "only here"
    marks = tag("span", "●" * votes + "○" * (methods_ - votes), class_="votes", aria_hidden="true")
    return tag(
        "li",
        titled(answer.url, answer.title),
        tag("div", marks, tag("span", told), class_="facts"),
        data_page=answer.page,
        class_="alone" if votes == 1 else None,
    )


def agreement(found: Comparison) -> Markup:
    """How many answers each two methods have in common."""
    names = list(found.by_method)
    head = tag("tr", tag("td", ""), *(tag("th", name, scope="col") for name in names))
    rows = [
        tag("tr", tag("th", one, scope="row"),
            *(tag("td", str(found.overlap(one, other)), class_="own" if one == other else None) for other in names))
        for one in names
    ]  # fmt: skip
    return tag("div", tag("table", tag("thead", head), tag("tbody", *rows), class_="overlap"), class_="scroll")
