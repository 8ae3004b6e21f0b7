"""Hubs, or authorities, around some pages."""

from __future__ import annotations

from cocite.http.frame import Content, exports, note
from cocite.http.holding import Served
from cocite.http.listing import actions, asked_about, bar, briefer, cited, keeper, titled
from cocite.http.markup import Markup, joined, shown_address, tag
from cocite.http.state import State
from cocite.related.methods import method
from cocite.results.answer import Answer, Answers
from cocite.results.ask import ask, question
from cocite.results.present import briefly

ABOUT = {
    False: "Pages some links away that link to many others on the subject: lists to read on.",
    True: "Pages some links away that many others on the subject link to.",
}


def find(web: Served, state: State) -> Answers:
    """The hubs themselves."""
    chosen = method("hubfinder", {"kind": "authorities" if state.authorities else "hubs"})
    return ask(web, question(web.graph, state.urls), chosen, state.shown)


def show(web: Served, state: State) -> Content:
    """The list."""
    answers = find(web, state)
    what = "Authorities around" if state.authorities else "Hubs around"
    both = [
        tag("a", name, href=state.but(authorities=kind).address(),
            aria_current="true" if kind == state.authorities else None)
        for kind, name in ((False, "hubs"), (True, "authorities"))
    ]  # fmt: skip
    top = joined(
        tag("nav", *both, class_="pills", aria_label="Kind"),
        asked_about(web, state.but(unwanted=()), what),
        tag("p", ABOUT[state.authorities], class_="facts"),
    )
    title = f"{what} {', '.join(map(shown_address, state.urls))}"
    if not len(answers):
        return Content(title, joined(top, note("Nothing of the kind is linked with this page.")))
    best = max(answer.score for answer in answers) or 1.0
    items = [item(web, state, answer, best) for answer in answers]
    return Content(title, joined(top, keeper(state), tag("ol", *items, class_="answers"), below(state, answers)))


def item(web: Served, state: State, answer: Answer, best: float) -> Markup:
    """One hub."""
    why = briefer(briefly(answer))
    return tag(
        "li",
        tag("span", str(answer.rank), class_="rank"),
        titled(answer.url, answer.title),
        bar(answer.score / best),
        tag("p", cited(web, answer.page).removeprefix(" · "), f" · {why}" if why else "", class_="facts"),
        actions(state, answer.url, answer.title),
        id=f"a{answer.rank}",
    )


def below(state: State, answers: Answers) -> Markup:
    """The same as files."""
    files = exports(("JSON", state.program(), "hubs.json"), ("CSV", state.address(format="csv"), "hubs.csv"))
    return tag("p", f"{len(answers)} pages by HubFinder in {answers.milliseconds:.1f} ms", files, class_="facts")
