"""Pages by words: the way in for whoever has no address."""

from __future__ import annotations

from cocite.http.frame import Content, exports, note
from cocite.http.holding import Served
from cocite.http.listing import cited, name_of
from cocite.http.markup import Markup, joined, link_out, shown_address, tag
from cocite.http.state import MOST_SHOWN, State
from cocite.http.views import start
from cocite.results.answer import Answer, Answers
from cocite.results.search import search_for


def show(web: Served, state: State) -> Content:
    """What is found."""
    if not web.has("search"):
        why = "This store has no search index, or not yet: only addresses can be asked about."
        return Content(
            state.words, joined(tag("h1", "Pages"), note(why), tag("h2", "Ask about one of these"), start.cards(web))
        )
    answers = search_for(web.graph, web.search, state.words, state.shown)
    hint = tag("p", "Choose one to see what is related to it.", class_="facts")
    head = joined(tag("h1", "Pages about ", tag("bdi", state.words)), hint)
    if not len(answers):
        none = note("No page has these words.")
        return Content(state.words, joined(head, none, tag("h2", "Ask about one of these"), start.cards(web)))
    items = [item(web, answer) for answer in answers]
    return Content(
        state.words, joined(head, partly(answers), tag("ol", *items, class_="answers"), below(state, answers))
    )


def item(web: Served, answer: Answer) -> Markup:
    """One page: its title leads to what is related to it, its address to the page itself."""
    title = tag("a", tag("bdi", name_of(answer.url, answer.title)), href=State(urls=(answer.url,)).address())
    where = tag("div", link_out(answer.url, shown_address(answer.url)), cited(web, answer.page), class_="address")
    return tag("li", tag("span", str(answer.rank), class_="rank"), tag("div", title, class_="title"), where,
               id=f"a{answer.rank}")  # fmt: skip


def partly(answers: Answers) -> Markup:
    """That no page has all the words, if so."""
    had, asked = answers.facts["had"], answers.facts["asked"]
    return note(f"No page has all of the words; these have {had} of {asked}.") if had < asked else Markup("")


def below(state: State, answers: Answers) -> Markup:
    """The same as a file, and more."""
    files = exports(
        ("JSON", state.program(), "search.json"),
        ("CSV", state.address(format="csv"), "search.csv"),
    )
    more = Markup("")
    if len(answers) == state.shown < MOST_SHOWN:
        more = joined(" · ", tag("a", "more", href=state.but(k=min(MOST_SHOWN, 2 * state.shown)).address()))
    many = "1 page" if len(answers) == 1 else f"{len(answers)} pages"
    return tag("p", f"{many} in {answers.milliseconds:.1f} ms", files, more, class_="facts")
