"""The values that the templates of views show."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from cocite.errors import BadAddress, BadParameter, BadStore, UnknownPage
from cocite.graph.arrays import HAS_RECORD
from cocite.graph.notebook import top_indices
from cocite.http.page.render import method_names, name_of, sentence, shown_address
from cocite.http.page.state import State
from cocite.http.questions import IDLE, OperationQuestion, find_page
from cocite.operations.words.communities import CommunityResult
from cocite.operations.words.search import search_for
from cocite.results.answer import Answer, Answers
from cocite.results.groups import GroupedAnswers
from cocite.results.naming import titles_of
from cocite.results.pictures.neighbourhood import QUERY, RELATED, curves, picture_of, rows
from cocite.results.strips import Strip, listed, read_strip, stand_ins, strips
from cocite.text import count
from cocite.web import Web

MAX_EXAMPLES = 9
"""Pages that the first page offers."""
EXAMPLE_CANDIDATES, EXAMPLE_PARENTS = 200, 20
"""They are chosen among this many pages, by this many lists of each."""
MIN_EXAMPLE_LINKS = 3
POPULAR_WORDS = 8
KEYWORDS_OF_PAGE = 8
KEYWORDS_IN_NAME = 3
PAGES_FOR_KEYWORDS, PAGES_FOR_UNKNOWN = 5, 6
RESULTS_WITH_STRIPS = 20
"""The lists of a hundred results would take half a second to read."""
Values = dict[str, Any]


def start(web: Web) -> Values:
    """The first visit."""
    graph = web.graph
    figures = (("pages", len(graph)), ("links", len(graph.links)), ("sites", int(graph.manifest.get("sites") or 0)))
    return {"figures": figures, "examples": examples(web), "popular": popular(web)}


def related(web: Web, state: State, asked: OperationQuestion, load: int) -> Values:
    """Related pages as a list, in groups if wanted."""
    values = around_answers(web, state, asked, load)
    answers = values["answers"]
    groups: list[tuple[str | None, Sequence[Answer]]] = [(None, answers)]
    if isinstance(answers, GroupedAnswers):
        groups = [(group.name, some) for group, some in answers.groups]
    return values | {"groups": groups, "keywords": keywords_of(web, state), "strips": shown_strips(web, answers)}


def shown_strips(web: Web, answers: Answers) -> list[Strip | None]:
    """The strips of the first results, by rank."""
    found = strips(web.graph, replace(answers, answers=answers.answers[:RESULTS_WITH_STRIPS]))
    return [*found, *[None] * (len(answers) - len(found))]


def picture(web: Web, state: State, asked: OperationQuestion, load: int) -> Values:
    """Related pages and the lists that have them: lists as rows, each with its strip."""
    values = around_answers(web, state, asked, load)
    if len(values["answers"]):
        found = picture_of(web.graph, values["answers"])
        queries = {found.nodes[at].page for at in found.of(QUERY)} | stand_ins(web.graph, values["answers"])
        results = [page for at in found.of(RELATED) if (page := found.nodes[at].page) not in queries]
        strip = partial(read_strip, web.graph, asked=sorted(queries), results=results)
        lists = [(at, strip(citing=found.nodes[at].page)) for at in rows(found)]
        joined = {end for pair in (*found.links, *found.by_name) for end in pair}
        values |= {"picture": found, "lists": lists, "joined": joined, "curves": curves}
    return values


def compare(web: Web, state: State, asked: OperationQuestion, load: int) -> Values:
    """What several methods answer, side by side."""
    ticked, found = getattr(asked.operation, "methods", ()), asked.answers(web, load)
    names = list(dict.fromkeys((*method_names(), *ticked)))
    votes = Counter(answer.page for answers in found.by_method.values() for answer in answers)
    return {"found": found, "ticked": ticked, "names": names, "votes": votes}


def hubs(web: Web, state: State, asked: OperationQuestion, load: int) -> Values:
    """Hubs, or authorities, around some pages."""
    answers, graph = asked.answers(web, load), web.graph
    used = [page for url in answers.used if (page := graph.get(url)) is not None]

    def strip(hub: int) -> Strip | None:
        """Where a hub has a page asked about; where a list has an authority."""
        if state.option("authorities"):
            return listed(graph, hub)
        return next(filter(None, (read_strip(graph, hub, (page,), (page,)) for page in used)), None)

    return {"answers": answers, "strips": by_rank(answers, strip)}


def by_rank(answers: Answers, strip: Callable[[int], Strip | None]) -> list[Strip | None]:
    """The strips of the first results, made one by one."""
    return [strip(answer.page) if answer.rank <= RESULTS_WITH_STRIPS else None for answer in answers]


def search(web: Web, state: State, asked: OperationQuestion, load: int) -> Values:
    """Pages by words."""
    answers = asked.answers(web, load) if web.has("search") else None
    found = by_rank(answers, lambda page: listed(web.graph, page)) if answers else []
    return {"answers": answers, "strips": found, "examples": [] if answers else examples(web)}


def keywords(web: Web, state: State, asked: OperationQuestion | None, load: int) -> Values:
    """Keywords of a page, or those that go with some words."""
    if not web.has("relevance"):
        return {"missing": True}
    found = asked.answers(web, load) if asked else None
    pages = pages_with(web, state.words, PAGES_FOR_KEYWORDS) if state.words else []
    return {"found": found, "pages": pages, "popular": [] if asked else popular(web)}


def communities(web: Web, state: State, asked: OperationQuestion | None, load: int) -> Values:
    """Communities of hubs and authorities on a topic, each drawn."""
    if not asked:
        return {"popular": popular(web)}
    if not web.has("search") and state.words:
        return {"missing": True}
    found = asked.answers(web, load)
    spread = Counter(word for each in found for word in each.keywords)
    return {"found": found, "communities": [DrawnCommunity.of(each, spread, len(found)) for each in found]}


def unknown(web: Web, state: State, error: UnknownPage | BadAddress) -> Values:
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
    name, _, path = host.partition("/")
    own = name.rpartition(".")[0] or name  # without .com or .example
    words = " ".join(part for part in re.split("[/.-]", f"{own}/{path}") if len(part) > 3)
    pages = [each for each in pages_with(web, words or first, PAGES_FOR_UNKNOWN) if each[0] not in near]
    return {
        "message": sentence(str(error).partition("; did you mean")[0]),
        "near": [(url, changed(url)) for url in near],
        "pages": pages,
        "several": len(every) > 1,
        "rest": changed() if len(every) > 1 and changed().urls else None,
        "examples": [] if near or pages else examples(web),
    }


def around_answers(web: Web, state: State, asked: OperationQuestion, load: int) -> Values:
    """Related pages, and what is shown above them, as a list or as a picture."""
    answers = asked.answers(web, load)
    return {
        "answers": answers,
        "busy": load != IDLE and asked.limits(web.graph, load),
        "why_nothing": "" if len(answers) else asked.operation.why_empty(web, answers),
    }


VIEWS: dict[str, Callable[[Web, State, Any, int], Values]] = {
    "recommend": around_answers,
    **{each.__name__: each for each in (related, picture, compare, hubs, search, communities, keywords)},
}


def asked_page(web: Web, url: str) -> dict[str, str]:
    """A page of the query, by its address as given."""
    page = find_page(web.graph, url)
    if page is None:
        return {"url": url, "name": name_of(url, ""), "facts": ""}
    name = name_of(url, titles_of(web.graph).of(page))
    return {"url": web.graph.address(page), "name": name, "facts": linked(web, page)}


def linked(web: Web, page: int) -> str:
    """How many links a page has."""
    into, out = int(web.graph.in_degree[page]), int(web.graph.out_degree[page])
    found = [f"linked from {count(into, 'page')}"] if into else []
    return " · ".join([*found, f"links to {out:,}"] if out else found)


def keywords_of(web: Web, state: State) -> list[str]:
    """Keywords of the page in the query."""
    page = web.graph.get(state.urls[0]) if len(state.urls) == 1 and web.has("keywords") else None
    ordered = [] if page is None else web.keywords.ordered(page)
    return [web.keywords.words[word] for word, _ in ordered[:KEYWORDS_OF_PAGE]]


def examples(web: Web) -> list[tuple[str, str, int]]:
    """Pages to begin with: address, title, number of in-links.

    They were fetched if there are such, are neither famous nor unknown, and differ: in site, and in where lists have
    them.
    """
    graph, titles = web.graph, titles_of(web.graph)
    degrees = graph.in_degree[:]
    most = int(degrees.max(initial=0))
    least = min(most, MIN_EXAMPLE_LINKS)
    pages = np.flatnonzero(degrees >= max(1, least))
    fetched = graph.array("page.kind")[pages] & HAS_RECORD > 0
    away = np.abs(np.log(degrees[pages] / np.sqrt(least * most))) if most else degrees[pages]
    order = np.lexsort((pages * 0x9E3779B1 & 0xFFFFFFFF, away, ~fetched))  # by hash: neighbours are of one host
    chosen, others, taken = list[int](), list[int](), set[tuple[int, int]]()
    for page in pages[order[:EXAMPLE_CANDIDATES]].tolist():
        if titles.of(page):
            places = {(-1, int(graph.units("site")[page])), *sections_of(web, page)}
            (others if places & taken else chosen).append(page)
            taken |= places
    shown = (chosen + others)[:MAX_EXAMPLES] or pages[order[:MAX_EXAMPLES]].tolist()
    return [(graph.address(page), titles.of(page), int(degrees[page])) for page in shown]


def sections_of(web: Web, page: int) -> Iterator[tuple[int, int]]:
    """Where lists have a page: (list, section)."""
    graph, titles = web.graph, titles_of(web.graph)
    for parent in graph.links_to(page)[:EXAMPLE_PARENTS].tolist():
        read = titles.list_of(parent)
        yield from ((parent, int(section)) for section in read.sections[read.targets == page].tolist())


def popular(web: Web) -> list[str]:
    """Words that many pages have."""
    if not web.has("keywords") or not web.has("search"):
        return []
    return [web.keywords.words[word] for word in top_indices(web.keywords.frequency, POPULAR_WORDS)]


def pages_with(web: Web, words: str, limit: int) -> list[tuple[str, str]]:
    """Pages that have some words: address and title; none without a search index."""
    try:
        return [(hit.url, hit.title) for hit in search_for(web, words, limit)]
    except (BadStore, BadParameter):
        return []


class DrawnCommunity(NamedTuple):
    """A community: its name, its further keywords, and curves from hubs to authorities."""

    shown: CommunityResult
    name: str
    more: list[str]
    curves: list[tuple[int, int, str, str]]

    @classmethod
    def of(cls, shown: CommunityResult, spread: Counter[str], communities: int) -> Self:
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
