"""Pages as the web page lists them: title, address, why, and what to do with each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cocite.cli.terminal import clean
from cocite.errors import CociteError
from cocite.http.frame import NOTHING, note
from cocite.http.holding import Served
from cocite.http.markup import Markup, joined, link_out, shown_address, tag, text, void
from cocite.http.state import PATHS, State
from cocite.results.answer import TOGETHER, Answer, Answers, Reason
from cocite.results.excerpt import Excerpts
from cocite.results.naming import Titles
from cocite.results.present import apart, briefly, say

SHORT = 48
"""Characters of a neighbour's name."""
SCHEME = re.compile(r"\bhttps?://(?:www\.)?")
EXCERPTS = 20
"""Answers whose neighbours are shown: a hundred of them would make a page of 300 kB."""


def name_of(url: str, title: str) -> str:
    """What to call a page."""
    return clean(title) or clean(shown_address(url))


def briefer(said: str) -> str:
    """A reason in which addresses are as people read them."""
    return SCHEME.sub("", said)


def titled(url: str, title: str) -> Markup:
    """A page by its title, which leads to it, and its address below; without a title, by its address."""
    where = tag("div", tag("bdi", shown_address(url)), class_="address") if clean(title) else NOTHING
    return joined(tag("div", link_out(url, name_of(url, title)), class_="title"), where)


def keeper(state: State) -> Markup:
    """A form that holds the state, to which the buttons of answers add one page: it is on the page once."""
    hidden = [void("input", type="hidden", name=name, value=value) for name, value in state.given()]
    return tag("form", *hidden, id="state", action=PATHS[state.view])


def actions(state: State, url: str, title: str) -> Markup:
    """What to do with an answer."""
    name = tag("span", f" {name_of(url, title)}", class_="unseen")  # for whoever hears one of many such buttons
    on = state.but(urls=(url,), unwanted=(), words="", view=here(state)).address()
    buttons = [tag("a", "Related to this", name, href=on, class_="related", rel="nofollow")]
    if state.urls:
        buttons.append(tag("button", "Add", name, form="state", name="url", value=url, class_="add"))
    if state.urls and state.view in ("related", "picture"):
        buttons.append(tag("button", "Not like this", name, form="state", name="not", value=url, class_="not"))
    return tag("div", *buttons, class_="actions")


def here(state: State) -> str:
    """The view in which to go on from an answer."""
    return state.view if state.view in ("related", "picture", "compare") else "related"


def bar(share: float) -> Markup:
    """How strong an answer is beside the best."""
    rest = tag("rect", width=f"{max(2.0, 100 * min(1.0, share)):.0f}%", height="100%", rx="2")
    return tag("svg", rest, class_="bar", aria_hidden="true")


def answer_list(web: Served, state: State, answers: Answers, some: Sequence[Answer] | None = None) -> Markup:
    """Answers in their order."""
    best = max((answer.score for answer in answers), default=1.0) or 1.0
    reasons = Reasons(web, answers)
    items = [
        tag(
            "li",
            tag("span", str(answer.rank), class_="rank"),
            titled(answer.url, answer.title),
            bar(answer.score / best),
            reasons.why(answer),
            actions(state, answer.url, answer.title),
            id=f"a{answer.rank}",
        )
        for answer in (answers if some is None else some)
    ]
    return tag("ol", *items, class_="answers")


class Reasons:
    """Shows why pages are related: in a line, and in full if it is opened."""

    def __init__(self, web: Served, answers: Answers) -> None:
        self._graph, self._excerpts, self._answers = web.graph, Excerpts(web.graph), answers

    def why(self, answer: Answer) -> Markup:
        """The reasons of an answer."""
        if not answer.reasons:
            return NOTHING
        told = [self._told(answer, reason) for reason in answer.reasons]
        whole = tag("ul", *told, id=f"why-{answer.rank}")
        return tag("details", tag("summary", briefer(briefly(answer))), whole, class_="why")

    def _told(self, answer: Answer, reason: Reason) -> Markup:
        if reason.kind != TOGETHER:
            return tag("li", briefer(say(reason)))
        where = joined(", under ", tag("em", reason.block)) if reason.block else text("")
        which = text(f" (with {shown_address(reason.query)})") if reason.query else NOTHING
        which = joined(which, f" (its near-duplicate {shown_address(reason.copy)})") if reason.copy else which
        shown = self._excerpt(answer, reason) if answer.rank <= EXCERPTS else NOTHING
        return tag(
            "li", "on ", link_out(reason.by, name_of(reason.by, reason.title)), where, apart(reason), which, shown
        )

    def _excerpt(self, answer: Answer, reason: Reason) -> Markup:
        """What stands around both on the citing page."""
        try:
            citing = self._graph.find(reason.by)
            asked = self._graph.find(reason.query or self._answers.used[0])
            page = self._graph.find(reason.copy) if reason.copy else answer.page
        except CociteError:
            return NOTHING
        marks = {page: "b", asked: "i", -1: "small"}
        lines = self._excerpts.around(citing, asked, page)
        parts = [tag(marks.get(line.page, "span"), text(line.text or "…", SHORT), dir="auto") for line in lines]
        return tag("span", *parts, class_="list") if parts else NOTHING


def asked_about(web: Served, state: State, what: str) -> Markup:
    """What is asked, by name: a heading and, if there is more than one page, each to be taken out."""
    titles = Titles(web.graph)
    known = {url: web.graph.get(url) for url in (*state.urls, *state.unwanted)}
    names = {url: name_of(url, titles.of(page) if page is not None else "") for url, page in known.items()}
    if len(state.urls) == 1 and not state.unwanted:
        url = state.urls[0]
        page = known[url]
        facts = "" if page is None else cited(web, page)
        return joined(
            tag("h1", what, " ", tag("bdi", names[url])),
            tag("p", link_out(web.graph.address(page) if page is not None else url, shown_address(url)), facts,
                class_="facts"),
        )  # fmt: skip
    heading = f"{what} {f'{len(state.urls)} pages' if len(state.urls) > 1 else names[state.urls[0]]}"
    return joined(tag("h1", heading), chips(state, names))


def cited(web: Served, page: int) -> str:
    """How a page is linked."""
    into, out = int(web.graph.in_degree[page]), int(web.graph.out_degree[page])
    said = f" · cited by {into:,} {'page' if into == 1 else 'pages'}"
    return f"{said} · links to {out:,}" if out else said


def chips(state: State, names: dict[str, str]) -> Markup:
    """What is asked about and what is not wanted, each to be taken out."""
    found = []
    for kind, urls in (("urls", state.urls), ("unwanted", state.unwanted)):
        for url in urls:
            name = names.get(url) or shown_address(url)
            without = state.but(**{kind: tuple(each for each in urls if each != url)})
            label = f"Take out {clean(name)}"
            gone = tag("a", "×", href=without.address(), aria_label=label, title=label, rel="nofollow")
            word = tag("span", "not ", class_="no") if kind == "unwanted" else NOTHING
            alone = kind == "urls" and len(urls) == 1
            shown = tag("bdi", name, title=clean(shown_address(url)))
            found.append(tag("li", word, shown, NOTHING if alone else gone, class_="not" if word else None))
    return tag("ul", *found, class_="chips", aria_label="Asked about")


def instead(web: Served, state: State, answers: Answers) -> Markup:
    """That something else was asked about, if so."""
    asked = {web.graph.get(url) for url in state.urls}
    others = [url for url in answers.used if web.graph.get(url) not in asked]
    if not others:
        return NOTHING
    return note("Too little is known of the page itself. Asked about instead: ", ", ".join(others))


def plain_list(state: State, pages: Iterable[tuple[str, str]]) -> Markup:
    """Pages to go on with."""
    shown = [
        tag("li", tag("a", tag("bdi", name_of(url, title)), href=state.but(urls=(url,), words="").address()), " ",
            tag("span", shown_address(url), class_="address") if title else NOTHING)
        for url, title in pages
    ]  # fmt: skip
    return tag("ul", *shown, class_="plain")
