"""Related pages, as a list."""

from __future__ import annotations

from cocite.http.frame import NOTHING, Content, exports, method_choice, note
from cocite.http.holding import Served
from cocite.http.listing import answer_list, asked_about, instead, keeper
from cocite.http.markup import Markup, joined, shown_address, tag
from cocite.http.questions import IDLE, Related
from cocite.http.state import MOST_SHOWN, State
from cocite.results.answer import Answers
from cocite.results.groups import group_answers

KEYWORDS = 8
"""Keywords of a page that are shown with it."""


def show(web: Served, state: State, asked: Related, load: int) -> Content:
    """The list."""
    answers = asked.answers(web, load)
    title = f"Related to {', '.join(map(shown_address, state.urls))}"
    top = joined(
        method_choice(state),
        asked_about(web, state, "Related to"),
        keywords(web, state),
        instead(web, state, answers),
        busy(web, asked, load),
    )
    if not len(answers):
        return Content(title, joined(top, nothing(state, asked.why_nothing(answers))))
    return Content(title, joined(top, keeper(state), listed(web, state, answers), below(state, answers)))


def listed(web: Served, state: State, answers: Answers) -> Markup:
    """All answers, in groups if that is wanted."""
    if not state.group:
        return answer_list(web, state, answers)
    groups = group_answers(web, answers)
    return joined(
        *(
            tag("section", tag("h2", tag("bdi", group.name)), answer_list(web, state, answers, some), class_="group")
            for group, some in groups
        )
    )


def below(state: State, answers: Answers) -> Markup:
    """How it came about, the same as files, and more."""
    many = "1 page" if len(answers) == 1 else f"{len(answers)} pages"
    took = f"{many} by {answers.method} in {answers.milliseconds:.1f} ms"
    files = exports(
        ("JSON", state.program(), "related.json"),
        ("CSV", state.but(group=False).program(format="csv"), "related.csv"),
        ("GEXF", state.but(view="picture", k=state.shown).address(format="gexf"), "related.gexf"),
    )
    more = NOTHING
    if state.shown < MOST_SHOWN and len(answers) == state.shown:
        more = joined(" · ", tag("a", "more", href=state.but(k=min(MOST_SHOWN, 2 * state.shown)).address()))
    return tag("p", took, files, more, class_="facts")


def keywords(web: Served, state: State) -> Markup:
    """What a page is about, as far as that is known."""
    page = web.graph.get(state.urls[0]) if len(state.urls) == 1 and web.has("keywords") else None
    if page is None:
        return NOTHING
    words = [web.keywords.words[word] for word, _ in web.keywords.ordered(page)[:KEYWORDS]]
    links = [tag("li", tag("a", tag("bdi", word), href=State("keywords", words=word).address())) for word in words]
    return tag("ul", *links, class_="words", aria_label="Keywords of the page") if links else NOTHING


def nothing(state: State, why: str) -> Markup:
    """Known, but nothing to show: what to try."""
    tries = [tag("li", tag("a", "Compare what all methods find", href=state.but(view="compare").address()))]
    if state.unwanted or state.but(per_site=0, not_own_site=False, lang="", since="") != state:
        plain = state.but(unwanted=(), per_site=0, not_own_site=False, lang="", since="")
        tries.insert(0, tag("li", tag("a", "Ask without filters", href=plain.address())))
    return joined(note(f"{why[:1].upper()}{why[1:]}."), tag("ul", *tries, class_="plain"))


def busy(web: Served, asked: Related, load: int) -> Markup:
    """That the server was busy, if that made a difference."""
    if load == IDLE or not asked.limits(web.graph, load):
        return NOTHING
    return note("The server is busy: this is a quicker, less thorough answer.")
