"""The interface for programs, as data: every route with what it takes, what it gives, and the question that it asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from cocite.http import asked, examples
from cocite.http.questions import Question, Related
from cocite.http.settings import LONGEST_ADDRESS, MOST_K
from cocite.http.taken import Taken
from cocite.results import DEFAULT_METHOD
from cocite.results.filters import NO_FILTERS, Filters

Given = dict[str, Any]
SOMETHING = r"\S"
"""The pattern of what may not be empty; that it is none is told by whatever needs it."""

URL = Taken(
    name="url", meaning="Address of a page, in any spelling; repeated: related to all.", many=True, required=True,
    longest=LONGEST_ADDRESS, pattern=SOMETHING, example=["nytimes.com"],
)  # fmt: skip
ONE_URL = Taken(
    name="url", meaning="Address of a page, in any spelling.", required=True, longest=LONGEST_ADDRESS,
    pattern=SOMETHING, example="nytimes.com",
)  # fmt: skip
METHOD = Taken(
    name="method", meaning="How to relate pages, parameters in the name: `companion(parents=500)`.",
    default=DEFAULT_METHOD, example="companion",
)  # fmt: skip
K = Taken(name="k", meaning="So many answers at most.", default=10, most=MOST_K)
FILTERS = (
    Taken(name="per_site", meaning="At most so many answers from one site (0: any number).", default=0, most=MOST_K),
    Taken(name="not_own_site", meaning="No answers from the page's own site.", default=False),
    Taken(name="lang", meaning="Only pages known to be in this language, such as `de`.", longest=20,
          pattern="^([A-Za-z]{2,3}([-_][A-Za-z]{2})?)?$"),
    Taken(name="since", meaning="Only pages known to be captured on or after this date, such as `2020-05-17`.",
          longest=40, pattern="^([12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8]))?$"),
)  # fmt: skip
ROOT = Taken(
    name="url",
    meaning="A page of the root set; may be repeated.",
    many=True,
    longest=LONGEST_ADDRESS,
    pattern=SOMETHING,
)
IN_WORDS = Taken(
    name="words", meaning="Reasons in words, too: `why` of each answer, and what each reason `says`.", default=False
)
RELATED = (
    URL,
    Taken(name="not", meaning="Not this page, nor what is nearer to it; may be repeated.", many=True,
          longest=LONGEST_ADDRESS, pattern=SOMETHING),
    METHOD,
    K,
    *FILTERS,
    Taken(name="group", meaning="Put the answers into groups, named by keywords.", default=False),
    IN_WORDS,
    Taken(name="format", meaning="What comes back.", default="json", choices=("json", "csv", "tsv")),
)  # fmt: skip
UNSEEN = (METHOD, K, *FILTERS, IN_WORDS)
WORDS = Taken(name="q", meaning="Words, and phrases in double quotes.", required=True, example="static site generator")
SEARCH = (WORDS, K)
COMPARE = (
    URL,
    Taken(name="method", meaning="A method to compare; may be repeated. Else some quick ones.", many=True),
    K,
)
HUBS = (
    URL,
    Taken(name="authorities", meaning="Look for authorities, not hubs.", default=False),
    Taken(name="by", meaning="What is interesting: a rank that is kept, out_degree, in_degree or text."),
    Taken(name="rounds", meaning="Extensions after the first.", default=3, most=5),
    Taken(name="likeness", meaning="Least likeness of texts.", default=0.0, most=1),
    K,
)
COMMUNITIES = (
    Taken(name="q", meaning="Words; the best pages for them are the root set.", example="password manager"),
    ROOT,
    Taken(name="method", meaning="Parameters: `community(delta=0.3, npea=min, vectors=5)`.", default="community"),
    Taken(name="k", meaning="So many hubs and authorities of each.", default=5, most=100),
    Taken(name="no_npea", meaning="Also what comes out if no noise is eliminated.", default=False),
)
KEYWORDS = (
    Taken(name="q", meaning="Words that are keywords of pages; may be repeated.", many=True, example=["password"]),
    Taken(name="url", meaning="The keywords of this page instead.", longest=LONGEST_ADDRESS),
    K,
    Taken(name="alpha", meaning="Similar: share of support; the rest is mutual information.", default=0.5, most=1),
    Taken(name="beta", meaning="Logical: share of support; the rest is confidence over links.", default=0.5, most=1),
)
LINKS = (ONE_URL, Taken(name="k", meaning=f"At most so many each way; 0: {MOST_K:,}.", default=20, most=MOST_K))
METHODS = (Taken(name="name", meaning="Only this one.", longest=100),)


class Route(NamedTuple):
    """One route."""

    path: str
    group: str
    says: str
    takes: tuple[Taken, ...]
    gives: dict[int | str, dict[str, Any]]
    asks: Callable[[Given], Question]


def filters_of(given: Given) -> Filters:
    """What answers must be like."""
    names = ("per_site", "not_own_site", "lang", "since")
    return Filters(**{name: given[name] for name in names}) if any(given[name] for name in names) else NO_FILTERS


def related(given: Given) -> Related:
    """Related pages."""
    return Related(
        given["url"], given["not"], given["method"], given["k"], filters_of(given), given["group"], given["format"],
        given["words"],
    )  # fmt: skip


def hubs(given: Given) -> Question:
    """Hubs, or authorities."""
    kind = "authorities" if given["authorities"] else "hubs"
    return asked.hubs(given["url"], kind, given["by"], given["rounds"], given["likeness"], given["k"])


def communities(given: Given) -> Question:
    """Communities."""
    return asked.communities(given["q"], given["url"], given["method"], given["k"], given["no_npea"])


def keywords(given: Given) -> Question:
    """Keywords."""
    return asked.keywords(given["q"], given["url"], given["k"], given["alpha"], given["beta"])


PAGES, TEXTS, STORE = "related pages", "words", "the store"
ROUTES = (
    Route("/api/related", PAGES, "The pages most related to a page, best first, and why.", RELATED, examples.RELATED,
          related),
    Route("/api/compare", PAGES, "What several methods answer, and how much they agree.", COMPARE, examples.COMPARE,
          lambda given: asked.compare(given["url"], given["method"], given["k"])),
    Route("/api/hubs", PAGES, "Hubs some links away from a set of pages: pages that link to many.", HUBS, examples.HUBS,
          hubs),
    Route("/api/search", TEXTS, "Pages by words, in titles, headings, texts and addresses, and in what links say.",
          SEARCH, examples.SEARCH, lambda given: asked.search(given["q"], given["k"])),
    Route("/api/communities", TEXTS, "Communities of hubs and authorities on a topic, freed from noise pages.",
          COMMUNITIES, examples.COMMUNITIES, communities),
    Route("/api/keywords", TEXTS, "Keywords to go on with from some words, or the keywords of a page.", KEYWORDS,
          examples.KEYWORDS, keywords),
    Route("/api/links", STORE, "What a page links to, block by block, and who links to it.", LINKS, examples.LINKS,
          lambda given: asked.links(given["url"], given["k"])),
    Route("/api/methods", STORE, "Every method with its paper and its parameters.", METHODS, examples.METHODS,
          lambda given: asked.every_method(given["name"])),
    Route("/api/store", STORE, "What the store holds.", (), examples.STORE, lambda _: asked.store()),
)  # fmt: skip
