"""The web page as questions: what a page depends on, and the values that its template shows.

A page is a question like those of the API: cached, limited and counted in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import orjson
from starlette.requests import Request

from cocite import __version__
from cocite.errors import BadAddress, BadParameter, BadStore, CociteError, UnknownPage, UnknownWord
from cocite.graph.notebook import top_indices
from cocite.http.front import Exchange
from cocite.http.page.render import assets, cut, name_of, render, sentence, shown_address
from cocite.http.page.state import State, looks_like_words, state_of
from cocite.http.questions import IDLE, Key, OperationQuestion, find_page
from cocite.http.responses import CSV, ERRORS, HTML, JSON, RefusedRequest, Reply, kind_of
from cocite.operations import COMPARED_METHODS, DEFAULT_METHOD
from cocite.operations.bounds import check_addresses
from cocite.operations.words.communities import CommunityResult
from cocite.operations.words.search import search_for
from cocite.related import methods
from cocite.results.answer import Answer, Answers, Reason
from cocite.results.groups import GroupedAnswers
from cocite.results.naming import excerpt, titles_of
from cocite.results.pictures.gexf import picture_gexf
from cocite.results.pictures.neighbourhood import Frame, curves, labels, picture_of, positions
from cocite.results.present import separated
from cocite.snapshot import Snapshot
from cocite.text import count

GEXF = b"application/gexf+xml; charset=utf-8"
MAX_EXAMPLES = 9
"""Most-linked pages that the first page offers."""
EXAMPLE_CANDIDATES = 400
"""They are chosen among these most-linked pages: one of each site, with a title."""
POPULAR_WORDS = 8
KEYWORDS_OF_PAGE = 8
KEYWORDS_IN_NAME = 3
PAGES_FOR_KEYWORDS, PAGES_FOR_UNKNOWN = 5, 6
RESULTS_WITH_EXCERPTS = 20
"""Excerpts of a hundred results would make a page of 300 kB."""
DEFAULT_COLUMNS = (DEFAULT_METHOD, "cocitation", "companion", "lli")
"""Methods that are compared by default: four columns fit a screen."""
Values = dict[str, Any]


@dataclass(frozen=True)
class PageQuestion:
    """A view of the web page, and the question whose answer it shows."""

    state: State
    asked: OperationQuestion | None
    route: str = "page"

    @classmethod
    def of(cls, state: State) -> PageQuestion:
        """The question that an address asks; raises a CociteError."""
        check_addresses((*state.urls, *state.unwanted))
        if not state.asks:
            return cls(state, None)
        default = DEFAULT_COLUMNS if state.view == "compare" and len(state.methods) < 2 else ()
        changes = {"method": list(dict.fromkeys((*state.methods, *default)))} if default else {}
        return cls(state, OperationQuestion.of(state.operation(**changes)))

    @property
    def slow(self) -> bool:
        return self.asked is not None and self.asked.slow

    def keys(self, web: Snapshot) -> tuple[Key, ...]:
        """What the page depends on: also the version of the program, and its files."""
        own = (self.route, self.state, __version__, *(reply.etag for reply in assets().values()))
        return tuple((*own, key) for key in (self.asked.keys(web) if self.asked else ((),)))

    def work(self, web: Snapshot, load: int) -> Reply:
        """The page, or the same as a file."""
        state, asked = self.state, self.asked
        if state.view in ("related", "picture") and only_words(web, state):
            state = State("search", words=state.urls[0])
            asked = OperationQuestion.of(state.operation())
        file = FILES.get((state.view, state.form))
        if file is not None and asked is not None:
            return asked.file(web, load, *file(web, asked.answers(web, load)))
        status, template = 200, state.view
        try:
            if asked is None and state.view not in ("communities", "keywords"):
                template, values = "start", start(web)
            else:
                values = VIEWS[state.view](web, state, asked, load)
        except UnknownWord as error:
            status, values = 404, {"error": sentence(str(error).partition("; ")[0]), "nearest": error.nearest}
            values["pages"] = pages_with(web, state.words, PAGES_FOR_KEYWORDS)
        except (UnknownPage, BadAddress) as error:
            status, template = (404 if isinstance(error, UnknownPage) else 400), "unknown"
            values = unknown(web, state, error)
        return Reply(status, document(template, state, web, **values), HTML)


FILES: dict[tuple[str, str], Callable[[Snapshot, Any], tuple[bytes, bytes]]] = {
    ("picture", "gexf"): lambda web, answers: (picture_gexf(answers, picture_of(web.graph, answers)).encode(), GEXF),
    ("communities", "gexf"): lambda _, found: (found.to_gexf().encode(), GEXF),
    ("communities", "html"): lambda _, found: (found.to_html().encode(), HTML),
    ("hubs", "csv"): lambda _, answers: (separated(answers, ",").encode(), CSV),
    ("search", "csv"): lambda _, answers: (separated(answers, ",").encode(), CSV),
}
"""Files that a view can be had as, beside those of the API."""


async def page_reply(request: Request, exchange: Exchange, view: str) -> Reply:
    """A view of the page, or a page that says what went wrong."""
    state = State(view)
    try:
        state = state_of(view, request.scope["query_string"])
        return failure_page(state, await exchange.answer(PageQuestion.of(state)))
    except CociteError as error:
        return failed(state, ERRORS[kind_of(error)][0], str(error))
    except RefusedRequest as error:
        return failure_page(state, error.reply())


def failure_page(state: State, reply: Reply) -> Reply:
    """A reply as a page: an error that occurred in a thread comes as JSON."""
    if reply.media != JSON or reply.status < 400:
        return reply
    error = orjson.loads(reply.body)["error"]
    return replace(failed(state, reply.status, f"{error['message']}. {error['hint']}."), extra=reply.extra)


def failed(state: State, status: int, message: str) -> Reply:
    """A page that says what went wrong, which nobody may cache."""
    return Reply(status, document("failed", replace(state, form=""), message=message), HTML)


def methods_page() -> bytes:
    """Every method, with its parameters."""
    names = dict.fromkeys((DEFAULT_METHOD, *methods.names()))
    return document("methods", State(), methods=[methods.about(name) for name in names])


def document(template: str, state: State, web: Snapshot | None = None, **values: Any) -> bytes:
    """A whole page."""
    if web is not None:
        graph = web.graph
        store = {"pages": graph.pages, "links": len(graph.links), "built": str(graph.manifest.get("built", ""))[:10]}
        values |= {"store": store, "linked": partial(linked, web), "asked": partial(asked_page, web)}
    return render(f"{template}.html", state=state, **values)


def only_words(web: Snapshot, state: State) -> bool:
    """Whether the text in the field isn't an address: it is searched for, unless a page is named so."""
    return len(state.urls) == 1 and looks_like_words(state.urls[0]) and find_page(web.graph, state.urls[0]) is None


# --------------------------------------------------------------------------------- what the templates of views show


def start(web: Snapshot) -> Values:
    """The first visit."""
    graph = web.graph
    figures = (("pages", graph.pages), ("links", len(graph.links)), ("sites", int(graph.manifest.get("sites") or 0)))
    return {"figures": figures, "examples": list(examples(web)), "popular": popular(web)}


def related(web: Snapshot, state: State, asked: OperationQuestion, load: int) -> Values:
    """Related pages as a list, in groups if wanted."""
    values = around_answers(web, state, asked, load)
    answers = values["answers"]
    groups: list[tuple[str | None, Sequence[Answer]]] = [(None, answers)]
    if isinstance(answers, GroupedAnswers):
        groups = [(group.name, some) for group, some in answers.groups]
    return values | {"groups": groups, "keywords": keywords_of(web, state), "excerpt": excerpt_reader(web, answers)}


def picture(web: Snapshot, state: State, asked: OperationQuestion, load: int) -> Values:
    """Related pages and the pages that link them, drawn broad with names and narrow with numbers."""
    values = around_answers(web, state, asked, load)
    if results := len(values["answers"]):
        found = picture_of(web.graph, values["answers"])
        places, rows, drawings = positions(found), (results + 1) // 2, []
        for frame in (  # more pages need more height
            Frame("broad", 1120, max(440, 68 * rows + 70), 310, max(180, 34 * rows), 29, 20),
            Frame("narrow", 380, max(380, 62 * rows + 60), 160, max(160, 31 * rows), 0, 0),
        ):
            points = frame.points(places)
            named = labels(found, points, frame, lambda node, length: cut(name_of(node.url, node.title), length))
            marks = list(zip(found.nodes, points, named, strict=True))
            drawings.append({"frame": frame, "curves": list(curves(found, points)), "marks": marks})
        values |= {"picture": found, "drawings": drawings}
    return values


def compare(web: Snapshot, state: State, asked: OperationQuestion, load: int) -> Values:
    """What several methods answer, side by side."""
    ticked, found = getattr(asked.operation, "methods", ()), asked.answers(web, load)
    names = list(dict.fromkeys((DEFAULT_METHOD, *COMPARED_METHODS, *methods.names(), *ticked)))
    votes = Counter(answer.page for answers in found.by_method.values() for answer in answers)
    return {"found": found, "ticked": ticked, "names": names, "votes": votes}


def hubs(web: Snapshot, state: State, asked: OperationQuestion, load: int) -> Values:
    """Hubs, or authorities, around some pages."""
    return {"answers": asked.answers(web, load)}


def search(web: Snapshot, state: State, asked: OperationQuestion, load: int) -> Values:
    """Pages by words."""
    answers = asked.answers(web, load) if web.has("search") else None
    return {"answers": answers, "examples": [] if answers else list(examples(web))}


def keywords(web: Snapshot, state: State, asked: OperationQuestion | None, load: int) -> Values:
    """Keywords of a page, or those that go with some words."""
    if not web.has("relevance"):
        return {"missing": True}
    found = asked.answers(web, load) if asked else None
    pages = pages_with(web, state.words, PAGES_FOR_KEYWORDS) if state.words else []
    return {"found": found, "pages": pages, "popular": [] if asked else popular(web)}


def communities(web: Snapshot, state: State, asked: OperationQuestion | None, load: int) -> Values:
    """Communities of hubs and authorities on a topic, each drawn."""
    if not asked:
        return {"popular": popular(web)}
    if not web.has("search") and state.words:
        return {"missing": True}
    found = asked.answers(web, load)
    spread = Counter(word for each in found for word in each.keywords)
    return {"found": found, "communities": [DrawnCommunity.of(each, spread, len(found)) for each in found]}


VIEWS: dict[str, Callable[[Snapshot, State, Any, int], Values]] = {
    each.__name__: each for each in (related, picture, compare, hubs, search, communities, keywords)
}


def unknown(web: Snapshot, state: State, error: UnknownPage | BadAddress) -> Values:
    """What an unknown address may have meant."""
    every = (*state.urls, *state.unwanted)
    first = next((url for url in every if find_page(web.graph, url) is None), (*state.urls, "")[0])

    def changed(*instead: str) -> State:
        """The state with other pages instead of the unknown one."""
        urls, unwanted = (
            tuple(dict.fromkeys(new for url in given for new in (instead if url == first else (url,))))
            for given in (state.urls, state.unwanted)
        )
        return state.but(urls=urls, unwanted=unwanted)

    near = list(getattr(error, "nearest", []))
    host = shown_address(first if "://" in first else f"https://{first}").rpartition("@")[2]
    words = " ".join(part for part in host.replace("/", ".").replace("-", ".").split(".") if len(part) > 3)
    pages = [each for each in pages_with(web, words or first, PAGES_FOR_UNKNOWN) if each[0] not in near]
    return {
        "message": sentence(str(error).partition("; did you mean")[0]),
        "near": [(url, changed(url)) for url in near],
        "pages": pages,
        "several": len(every) > 1,
        "rest": changed() if len(every) > 1 and changed().urls else None,
        "examples": [] if near or pages else list(examples(web)),
    }


def around_answers(web: Snapshot, state: State, asked: OperationQuestion, load: int) -> Values:
    """Related pages, and what is shown above them, as a list or as a picture."""
    answers = asked.answers(web, load)
    chosen = state.method or DEFAULT_METHOD
    first = list(dict.fromkeys((DEFAULT_METHOD, *COMPARED_METHODS, chosen)))
    rest = [name for name in methods.names() if name not in first]
    return {
        "answers": answers,
        "methods": {"first": first, "rest": rest, "chosen": chosen},
        "busy": load != IDLE and asked.limits(web.graph, load),
        "why_nothing": "" if len(answers) else asked.operation.why_empty(web, answers),
    }


def asked_page(web: Snapshot, url: str) -> dict[str, str]:
    """A page of the query, by its address as given."""
    page = find_page(web.graph, url)
    if page is None:
        return {"url": url, "name": name_of(url, ""), "facts": ""}
    name = name_of(url, titles_of(web.graph).of(page))
    return {"url": web.graph.address(page), "name": name, "facts": linked(web, page)}


def linked(web: Snapshot, page: int) -> str:
    """How many links a page has."""
    into, out = int(web.graph.in_degree[page]), int(web.graph.out_degree[page])
    found = f"cited by {count(into, 'page')}"
    return f"{found} · links to {out:,}" if out else found


def keywords_of(web: Snapshot, state: State) -> list[str]:
    """Keywords of the page in the query."""
    page = web.graph.get(state.urls[0]) if len(state.urls) == 1 and web.has("keywords") else None
    ordered = [] if page is None else web.keywords.ordered(page)
    return [web.keywords.words[word] for word, _ in ordered[:KEYWORDS_OF_PAGE]]


def examples(web: Snapshot) -> Iterator[tuple[str, str, int]]:
    """The most-linked pages of different sites: address, title, number of in-links."""
    graph, titles = web.graph, titles_of(web.graph)
    candidates = min(EXAMPLE_CANDIDATES, graph.pages)
    sites: set[int] = set()
    for page in top_indices(graph.in_degree, candidates):
        site, title = int(graph.units("site")[page]), titles.of(page)
        if len(sites) == MAX_EXAMPLES or not graph.in_degree[page]:
            return
        if site not in sites and (title or candidates <= MAX_EXAMPLES):
            sites.add(site)
            yield graph.address(page), title, int(graph.in_degree[page])


def popular(web: Snapshot) -> list[str]:
    """Words that many pages have."""
    if not web.has("keywords") or not web.has("search"):
        return []
    return [web.keywords.words[word] for word in top_indices(web.keywords.frequency, POPULAR_WORDS)]


def pages_with(web: Snapshot, words: str, limit: int) -> list[tuple[str, str]]:
    """Pages that have some words: address and title; none without a search index."""
    try:
        return [(hit.url, hit.title) for hit in search_for(web, words, limit)]
    except (BadStore, BadParameter):
        return []


def excerpt_reader(web: Snapshot, answers: Answers) -> Callable[[Answer, Reason], list[tuple[str, str]]]:
    """A function that reads the lines around two links on a citing page.

    Each line comes with the HTML element that marks it: the page asked about, the result, or neither.
    """
    graph = web.graph

    def read(answer: Answer, reason: Reason) -> list[tuple[str, str]]:
        if answer.rank > RESULTS_WITH_EXCERPTS:
            return []
        try:
            citing, asked = graph.find(reason.by), graph.find(reason.query or answers.used[0])
            page = graph.find(reason.copy) if reason.copy else answer.page
        except CociteError:
            return []
        marks = {page: "b", asked: "i", -1: "small"}
        return [(marks.get(line.page, "span"), line.text or "…") for line in excerpt(graph, citing, asked, page)]

    return read


class DrawnCommunity(NamedTuple):
    """A community: its name, its further keywords, and curves from hubs to authorities."""

    shown: CommunityResult
    name: str
    more: list[str]
    curves: list[tuple[int, int, str, str]]

    @classmethod
    def of(cls, shown: CommunityResult, spread: Counter[str], communities: int) -> DrawnCommunity:
        """Name a community by the keywords that the others lack, and lay out its links.

        Heights are percentages, so that the curves stretch with the lists.
        """
        words = sorted(shown.keywords, key=lambda word: spread[word] == communities > 1)
        sides = shown.hubs, shown.authorities
        rows = max(*map(len, sides), 1)
        heights = [[100 * ((rows - len(side)) / 2 + at + 0.5) / rows for at in range(len(side))] for side in sides]
        best = [max((member.score for member in side), default=1.0) or 1.0 for side in sides]
        lines = []
        for hub, authority in shown.links:
            strength = shown.hubs[hub].score / best[0] * shown.authorities[authority].score / best[1]
            low, high = heights[0][hub], heights[1][authority]
            path = f"M0 {low:.1f}C45 {low:.1f} 55 {high:.1f} 100 {high:.1f}"
            lines.append((hub, authority, path, f"{0.2 + 0.7 * strength:.2f}"))
        return cls(shown, ", ".join(words[:KEYWORDS_IN_NAME]) or shown.name, words[KEYWORDS_IN_NAME:], lines)
