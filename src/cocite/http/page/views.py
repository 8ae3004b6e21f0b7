"""The web page's views: each function gathers the values that a template shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from cocite.errors import BadAddress, BadParameter, BadStore, CociteError, UnknownPage, UnknownWord
from cocite.graph.notebook import top_indices
from cocite.http.page.render import cut, name_of, sentence, shown_address
from cocite.http.page.state import State
from cocite.http.questions import IDLE, Asked
from cocite.operations import COMPARED_METHODS, DEFAULT_METHOD
from cocite.operations.words.communities import CommunityResult
from cocite.operations.words.search import search_for
from cocite.related import methods
from cocite.results.answer import Answer, Answers, Reason
from cocite.results.groups import GroupedAnswers
from cocite.results.naming import Excerpts, Titles
from cocite.results.pictures.neighbourhood import (
    ASKED,
    CITING,
    RELATED,
    Curve,
    Frame,
    Label,
    Node,
    Picture,
    curves,
    labels,
    picture_of,
    positions,
)
from cocite.snapshot import Snapshot

MAX_EXAMPLES = 9
"""Most-linked pages that the first page offers."""
EXAMPLES_FROM = 400
"""Most-linked pages from which they are chosen: one of each site, with a title."""
POPULAR_WORDS = 8
KEYWORDS_OF_PAGE = 8
KEYWORDS_IN_NAME = 3
PAGES_FOR_KEYWORDS, PAGES_FOR_UNKNOWN = 5, 6
RESULTS_WITH_EXCERPTS = 20
"""Excerpts of a hundred results would make a page of 300 kB."""
DEFAULT_COLUMNS = (DEFAULT_METHOD, "cocitation", "companion", "lli")
"""Methods that are compared by default: four columns fit a screen."""


class View(NamedTuple):
    """A template, and what it shows."""

    template: str
    title: str
    values: dict[str, Any]
    status: int = 200
    look: str | None = None


class AskedPage(NamedTuple):
    """A page that is asked about."""

    url: str
    name: str
    facts: str


def start(web: Snapshot) -> View:
    """The first visit."""
    graph = web.graph
    figures = (("pages", graph.pages), ("links", len(graph.links)), ("sites", int(graph.manifest.get("sites") or 0)))
    values = {"figures": figures, "examples": list(examples(web)), "popular": popular(web)}
    return View("start.html", "", values, look="first")


def related(web: Snapshot, state: State, asked: Asked, load: int) -> View:
    """Related pages as a list, in groups if wanted."""
    answers: Answers = asked.answers(web, load)
    groups: list[tuple[str | None, Sequence[Answer]]] = [(None, answers)]
    if isinstance(answers, GroupedAnswers):
        groups = [(group.name, some) for group, some in answers.groups]
    files = (
        ("JSON", state.program(), "related.json"),
        ("CSV", state.but(group="").program(format="csv"), "related.csv"),
        ("GEXF", state.but(view="picture", k=state.shown).address(format="gexf"), "related.gexf"),
    )
    values = {"groups": groups, "best": best_score(answers), "keywords": keywords_of(web, state), "files": files,
              "excerpt": Marked(web, answers), **around_answers(web, state, asked, load, answers)}  # fmt: skip
    return View("related.html", f"Related to {', '.join(map(shown_address, state.urls))}", values)


def picture(web: Snapshot, state: State, asked: Asked, load: int) -> View:
    """Related pages and the pages that link them, drawn."""
    answers = asked.answers(web, load)
    values = around_answers(web, state, asked, load, answers)
    if len(answers):
        found = picture_of(web.graph, answers)
        stand = positions(found)
        values["picture"] = found
        values["drawings"] = [Drawing.of(found, frame, frame.points(stand)) for frame in frames(len(answers))]
        values["files"] = (
            ("GEXF", state.address(format="gexf"), "related.gexf"),
            ("JSON", state.program(), "related.json"),
            ("CSV", state.program(format="csv"), "related.csv"),
        )
    look = "wide" if len(answers) else None
    return View("picture.html", f"Picture of {', '.join(map(shown_address, state.urls))}", values, look=look)


def compare(web: Snapshot, state: State, asked: Asked, load: int) -> View:
    """What several methods answer, side by side."""
    ticked = getattr(asked.operation, "methods", ())
    found = asked.answers(web, load)
    values = {
        "found": found,
        "ticked": ticked,
        "names": list(dict.fromkeys((DEFAULT_METHOD, *COMPARED_METHODS, *methods.names(), *ticked))),
        "votes": Counter(answer.page for answers in found.by_method.values() for answer in answers),
        "asked": asked_pages(web, state),
        "files": (("JSON", state.program(), "compare.json"),),
    }
    return View(
        "compare.html", f"Methods compared for {', '.join(map(shown_address, state.urls))}", values, look="wide"
    )


def hubs(web: Snapshot, state: State, asked: Asked, load: int) -> View:
    """Hubs, or authorities, around some pages."""
    answers = asked.answers(web, load)
    what = "Authorities around" if state.option("authorities") else "Hubs around"
    files = (("JSON", state.program(), "hubs.json"), ("CSV", state.address(format="csv"), "hubs.csv"))
    values = {"answers": answers, "best": best_score(answers), "what": what, "asked": asked_pages(web, state),
              "linked": lambda page: linked(web, page), "files": files}  # fmt: skip
    return View("hubs.html", f"{what} {', '.join(map(shown_address, state.urls))}", values)


def search(web: Snapshot, state: State, asked: Asked, load: int) -> View:
    """Pages by words."""
    answers = asked.answers(web, load) if web.has("search") else None
    files = (("JSON", state.program(), "search.json"), ("CSV", state.address(format="csv"), "search.csv"))
    values: dict[str, Any] = {"answers": answers, "linked": lambda page: linked(web, page), "files": files}
    if not answers:
        values["examples"] = list(examples(web))
    return View("search.html", state.words, values)


def keywords(web: Snapshot, state: State, asked: Asked | None, load: int) -> View:
    """Keywords of a page, or those that go with some words."""
    if not web.has("relevance"):
        return View("keywords.html", "Keywords", {"missing": True})
    if state.words:
        pages = pages_with(web, state.words, PAGES_FOR_KEYWORDS) if web.has("search") else []
        values: dict[str, Any] = {"pages": pages, "start": State()}
        try:
            values["found"] = asked.answers(web, load) if asked else None
        except UnknownWord as error:
            values |= {"error": sentence(str(error).partition("; ")[0]), "nearest": error.nearest}
            return View("keywords.html", state.words, values, 404)
        return View("keywords.html", state.words, values)
    if not asked:
        return View("keywords.html", "Keywords", {"popular": popular(web)})
    one = state.but(urls=state.urls[:1], unwanted=())
    values = {"found": asked.answers(web, load), "one": one, "asked": asked_pages(web, one)}
    return View("keywords.html", f"Keywords of {shown_address(state.urls[0])}", values)


def communities(web: Snapshot, state: State, asked: Asked | None, load: int) -> View:
    """Communities of hubs and authorities on a topic, each drawn."""
    if not asked:
        return View("communities.html", "Communities", {"popular": popular(web)})
    if not web.has("search") and state.words:
        return View("communities.html", "Communities", {"missing": True})
    found = asked.answers(web, load)
    spread = Counter(word for each in found for word in each.keywords)
    files = (
        ("JSON", state.program(), "communities.json"),
        ("GEXF", state.address(format="gexf"), "communities.gexf"),
        ("HTML", state.address(format="html"), "communities.html"),
    )
    values = {"found": found, "communities": [DrawnCommunity.of(each, spread, len(found)) for each in found],
              "files": files}  # fmt: skip
    title = state.words or ", ".join(map(shown_address, state.urls))
    return View("communities.html", title, values, look="wide" if len(found) else None)


def unknown(web: Snapshot, state: State, error: UnknownPage | BadAddress) -> View:
    """What an unknown address may have meant."""
    every = (*state.urls, *state.unwanted)
    first = next((url for url in every if not known(web, url)), (*state.urls, "")[0])

    def meaning(url: str) -> State:
        swap = {first: url}
        urls = tuple(dict.fromkeys(swap.get(each, each) for each in state.urls))
        return state.but(urls=urls, unwanted=tuple(swap.get(each, each) for each in state.unwanted))

    near = list(getattr(error, "nearest", []))
    host = shown_address(first if "://" in first else f"https://{first}").rpartition("@")[2]
    words = " ".join(part for part in host.replace("/", ".").replace("-", ".").split(".") if len(part) > 3)
    pages = [each for each in pages_with(web, words or first, PAGES_FOR_UNKNOWN) if each[0] not in near]
    rest = state.but(
        urls=tuple(url for url in state.urls if url != first),
        unwanted=tuple(url for url in state.unwanted if url != first),
    )
    values = {
        "message": sentence(str(error).partition("; did you mean")[0]),
        "near": [(url, meaning(url)) for url in near],
        "pages": pages,
        "several": len(every) > 1,
        "rest": rest if len(every) > 1 and rest.urls else None,
        "examples": [] if near or pages else list(examples(web)),
    }
    return View("unknown.html", "Unknown page", values, 404 if isinstance(error, UnknownPage) else 400)


def every_method() -> View:
    """Every method, with its parameters."""
    names = dict.fromkeys((DEFAULT_METHOD, *methods.names()))
    return View("methods.html", "Methods", {"methods": [methods.about(name) for name in names]})


VIEWS: dict[str, Callable[[Snapshot, State, Any, int], View]] = {
    "related": related,
    "picture": picture,
    "compare": compare,
    "hubs": hubs,
    "search": search,
    "communities": communities,
    "keywords": keywords,
}


def around_answers(web: Snapshot, state: State, asked: Asked, load: int, answers: Answers) -> dict[str, Any]:
    """What stands above related pages, as a list or as a picture."""
    own = {web.graph.get(url) for url in state.urls}
    chosen = state.method or DEFAULT_METHOD
    first = list(dict.fromkeys((DEFAULT_METHOD, *COMPARED_METHODS, chosen)))
    rest = [name for name in methods.names() if name not in first]
    return {
        "answers": answers,
        "asked": asked_pages(web, state),
        "methods": {"first": first, "rest": rest, "chosen": chosen},
        "instead": [url for url in answers.used if web.graph.get(url) not in own],
        "busy": load != IDLE and asked.limits(web.graph, load),
        "why_nothing": "" if len(answers) else asked.why_empty(web, answers),
    }


def asked_pages(web: Snapshot, state: State) -> dict[str, AskedPage]:
    """What is asked about, by address as given."""
    titles, found = Titles(web.graph), {}
    for url in (*state.urls, *state.unwanted):
        page = web.graph.get(url)
        if page is None:
            found[url] = AskedPage(url, name_of(url, ""), "")
        else:
            found[url] = AskedPage(web.graph.address(page), name_of(url, titles.of(page)), linked(web, page))
    return found


def linked(web: Snapshot, page: int) -> str:
    """How many links a page has."""
    into, out = int(web.graph.in_degree[page]), int(web.graph.out_degree[page])
    found = f"cited by {into:,} {'page' if into == 1 else 'pages'}"
    return f"{found} · links to {out:,}" if out else found


def best_score(answers: Answers) -> float:
    """The highest score, with which the others are compared."""
    return max((answer.score for answer in answers), default=1.0) or 1.0


def keywords_of(web: Snapshot, state: State) -> list[str]:
    """Keywords of the page that is asked about."""
    page = web.graph.get(state.urls[0]) if len(state.urls) == 1 and web.has("keywords") else None
    if page is None:
        return []
    return [web.keywords.words[word] for word, _ in web.keywords.ordered(page)[:KEYWORDS_OF_PAGE]]


def examples(web: Snapshot) -> Iterator[tuple[str, str, int]]:
    """The most-linked pages of different sites: address, title, number of in-links."""
    graph, titles = web.graph, Titles(web.graph)
    candidates = min(EXAMPLES_FROM, graph.pages)
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
    words, frequency = web.keywords.words, web.keywords.frequency
    return [words[word] for word in top_indices(frequency, POPULAR_WORDS)]


def pages_with(web: Snapshot, words: str, limit: int) -> list[tuple[str, str]]:
    """Pages that have some words: address and title."""
    try:
        return [(hit.url, hit.title) for hit in search_for(web, words, limit)]
    except (BadStore, BadParameter):
        return []


def known(web: Snapshot, url: str) -> bool:
    """Whether the store has a page."""
    try:
        return web.graph.get(url) is not None
    except BadAddress:
        return False


class Line(NamedTuple):
    """A link of an excerpt, with the HTML element that marks it."""

    mark: str
    text: str


class Marked:
    """Excerpts of citing pages around two links, with the page asked about and the result marked."""

    def __init__(self, web: Snapshot, answers: Answers) -> None:
        self._graph, self._excerpts, self._answers = web.graph, Excerpts(web.graph), answers

    def __call__(self, answer: Answer, reason: Reason) -> list[Line]:
        """The lines around both links on the citing page."""
        if answer.rank > RESULTS_WITH_EXCERPTS:
            return []
        try:
            citing = self._graph.find(reason.by)
            asked = self._graph.find(reason.query or self._answers.used[0])
            page = self._graph.find(reason.copy) if reason.copy else answer.page
        except CociteError:
            return []
        marks = {page: "b", asked: "i", -1: "small"}
        lines = self._excerpts.around(citing, asked, page)
        return [Line(marks.get(line.page, "span"), line.text or "…") for line in lines]


def frames(results: int) -> tuple[Frame, Frame]:
    """The two drawings of a picture; more pages need more height."""
    rows = (results + 1) // 2
    return (
        Frame("broad", 1120, max(440, 68 * rows + 70), 310, max(180, 34 * rows), 29, 20),
        Frame("narrow", 380, max(380, 62 * rows + 60), 160, max(160, 31 * rows), 0, 0),
    )


class Drawing(NamedTuple):
    """A picture laid out in a frame."""

    frame: Frame
    picture: Picture
    curves: list[Curve]
    marks: list[tuple[Node, tuple[float, float], Label]]

    @classmethod
    def of(cls, picture: Picture, frame: Frame, points: Sequence[tuple[float, float]]) -> Drawing:
        """Lay out a picture."""
        named = labels(picture, points, frame, lambda node, length: cut(name_of(node.url, node.title), length))
        return cls(frame, picture, list(curves(picture, points)), list(zip(picture.nodes, points, named, strict=True)))

    @property
    def label(self) -> str:
        """The picture in words."""
        few = len(self.picture.of(RELATED)), len(self.picture.of(CITING))
        return f"{few[0]} related pages, and {few[1]} pages that cite several of them"

    def kind_of(self, curve: Curve) -> str | None:
        """The class of a line: dotted where no link joins a page."""
        kind = self.picture.nodes[curve.start].kind
        return "apart" if curve.unlinked else None if kind == ASKED else kind


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
