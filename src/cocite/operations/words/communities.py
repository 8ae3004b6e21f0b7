"""Find communities of hubs and authorities on a topic.

A community without pages of its own is not shown. With a text query, communities are ordered by fit × singular value:
the fit is the mean search score of the first ten authorities, relative to the best result. Without one, they are
ordered by singular value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocite.errors import BadParameter
from cocite.operations import shared
from cocite.operations.declare import Operation, Web, operation
from cocite.operations.task import check_writable
from cocite.parameters import parameter, parse, values_of
from cocite.results.answer import HIDDEN, Result, ResultRows
from cocite.system import replace_file
from cocite.text import clean, count, rounded

if TYPE_CHECKING:
    from cocite.evaluate.noise import NoiseReport
    from cocite.related.methods.community import BaseSet, Params, WebCommunities, WebCommunity, WeightedPages
    from cocite.related.neighbourhood.view import Pages
    from cocite.sources.records import ReadReport

COMMUNITY_METHOD = "community"
MAX_KEYWORDS = 8
SHOWN_PAGES, DRAWN_PAGES = 5, 12  # hubs and authorities of each community unless k says otherwise: shown, or drawn
SCORED_RESULTS = 2000  # search results whose scores show how well pages match the query
FIT_AUTHORITIES = 10  # authorities whose match is averaged; with fewer, the missing ones count as 0
STATISTIC_NAMES = {"avg": "mean", "max": "maximum", "min": "minimum"}


@dataclass(frozen=True)
class Member(Result):
    """A hub or an authority of a community."""

    url: str
    title: str
    score: float
    root: bool  # in the root set: found by the search, or given
    page: int = field(metadata=HIDDEN)  # number in the store


@dataclass(frozen=True)
class NoisePage(Result):
    """A page that NPEA removed: its measure is below that of the root set."""

    url: str
    title: str
    measure: float
    root_pages_linked: int
    why: str
    page: int = field(metadata=HIDDEN)


@dataclass(frozen=True)
class CommunityResult(Result):
    """One community for display."""

    name: str  # `principal`, or the vector and its end
    vector: int  # 1: the principal singular vector
    end: str  # positive or negative
    singular_value: float
    fit: float | None  # match with the query, from 0 to 1; None without a text query
    pages: int  # pages of its own: they weigh more here than in any other community
    keywords: tuple[str, ...]
    hubs: tuple[Member, ...]
    authorities: tuple[Member, ...]
    links: tuple[tuple[int, int], ...]  # (hub, authority), as indices of the two tuples
    eliminated: tuple[NoisePage, ...]  # noise pages linked with its pages, most links first
    eliminated_in_all: int


@dataclass(frozen=True, repr=False)
class CommunitiesFound(ResultRows[CommunityResult], Result):
    """The communities for one query, and what NPEA removed from its base set."""

    query: str  # the text query, if there is one
    pages: tuple[str, ...]  # the given addresses
    params: Mapping[str, Any]
    communities: tuple[CommunityResult, ...]
    root: int
    base: int
    links: int
    eliminated: int
    threshold: float
    k: int
    rank: int
    noise: tuple[NoisePage, ...]  # the noise pages nearest to the threshold
    left_out: frozenset[int]  # all noise pages, by number
    store: Mapping[str, Any]
    milliseconds: float
    found: WebCommunities = field(metadata=HIDDEN, compare=False)  # by page number, with the base set
    chopped: tuple[str, ...] = field(default=(), metadata=HIDDEN)  # notes where shorter addresses are used
    plain: CommunitiesFound | None = field(default=None, metadata=HIDDEN, compare=False)  # without eliminating noise
    experiment: NoiseReport | None = field(default=None, metadata=HIDDEN, compare=False)  # how well noise is found
    labels: ReadReport | None = field(default=None, metadata=HIDDEN, compare=False)  # which of its labels were skipped

    @property
    def _rows(self) -> tuple[CommunityResult, ...]:  # type: ignore[override]
        return self.communities

    @property
    def note(self) -> str:
        """What to know about all communities, in words."""
        return ". ".join([*self.chopped, *self.found.base.view.notes])

    def __repr__(self) -> str:
        rows = [f"{each.pages:5d} pages  {', '.join(each.keywords)}" for each in self]
        head = f"communities on {self.query or ', '.join(self.pages)}"
        return "\n".join(map(clean, filter(None, [head, self.note, *(rows or ["nothing"])])))

    def to_dict(self) -> dict[str, Any]:
        counts = {name: getattr(self, name) for name in ("links", "eliminated", "threshold", "k", "rank")}
        noise = [each.to_dict() for each in self.noise]
        return {
            "query": self.query or list(self.pages),
            "method": COMMUNITY_METHOD,
            "params": dict(self.params),
            "base_set": {"root": self.root, "pages": self.base, **counts, "noise": noise},
            "communities": [each.to_dict() for each in self],
            "store": dict(self.store),
            "milliseconds": round(self.milliseconds, 3),
            **({"note": self.note} if self.note else {}),
            **({"without_npea": [each.to_dict() for each in self.plain]} if self.plain is not None else {}),
            **({"experiment": self.experiment.to_dict()} if self.experiment else {}),
        }

    def to_html(self) -> str:
        """One HTML page that needs no other file: every community drawn, hubs left, authorities right, and noise."""
        from cocite.results.pictures.communities import communities_page

        return communities_page(self, self.plain, [self.experiment.section()] if self.experiment else [])

    def _repr_html_(self) -> str:
        """That page in a sandboxed frame."""
        page = escape(self.to_html(), quote=True)
        return f'<iframe sandbox srcdoc="{page}" width="100%" height="640" style="border:1px solid #8884"></iframe>'

    def to_gexf(self) -> str:
        """The whole base set as GEXF 1.3, for Gephi and NetworkX: communities, weights, positions and colours."""
        from cocite.results.pictures.gexf import communities_gexf

        return communities_gexf(self)


@operation(name="communities", route="/api/communities", tool="communities", slow=True)
class FindCommunities(Operation):
    """Find the communities of hubs and authorities on a topic, without noise pages.

    The best pages for the words, or the given pages, are the root set. Together with the pages that they link to, and
    the pages that link to them, they are the base set. Pages too loosely linked with the root set are removed as noise
    (NPEA). The rest forms communities: the principal one, and others by further singular vectors.

    Command line: Exits with 1 if no page has the words, or if no link connects two sites.

    Examples:
        cocite communities typography -m 'community(vectors=5)' --no-npea
        cocite communities password manager --html page.html --gexf page.gexf
        cocite communities --page example.org --page example.com --json
    """

    query: str = shared.topic()
    k: int | None = parameter(
        None, "Maximum number of hubs and of authorities in each community", type=int, flags=("-k",),
        minimum=0, maximum=shared.MAX_RESULTS,
        on={
            "cli": {"help": f"Maximum number of hubs and of authorities of each (default: {SHOWN_PAGES})"},
            "http": {"default": SHOWN_PAGES, "maximum": 100},
            "mcp": {"default": SHOWN_PAGES, "minimum": 1, "maximum": 50},
            "python": {"default": 10},
        },
    )  # fmt: skip
    urls: tuple[str, ...] = shared.some_pages("A page of the root set; may be repeated")
    method: str = shared.method(
        COMMUNITY_METHOD, "Parameters: community(delta=0.3, npea=min, vectors=5)", example=None,
        surfaces=("cli", "http", "python"),
    )  # fmt: skip
    no_npea: bool = parameter(
        False, "Also show the communities without eliminating noise pages", surfaces=("cli", "http")
    )
    html: str = shared.command_option(
        "", f"Also draw them, {DRAWN_PAGES} hubs and authorities each: one page of HTML", metavar="FILE"
    )
    gexf: str = shared.command_option("", "Also write the whole base set, for Gephi", metavar="FILE")
    sweep: bool = shared.command_option(
        False, "Also show how well noise is found, for every δ; noise has none of the words"
    )
    labels: str = shared.command_option(
        "", "The same by labels: page<TAB>noise or page<TAB>topic per line", metavar="FILE"
    )

    def validate(self) -> None:
        check_writable(self.html)
        check_writable(self.gexf)
        if self.sweep and not self.query.strip() and not self.labels:
            raise BadParameter("--sweep needs words, or --labels FILE, to know which pages are noise")
        if not self.query.strip() and not self.urls:
            raise BadParameter("Nothing to look for: give some words, or pages")
        check_method(self.method)

    def prepare(self, web: Web) -> None:
        from cocite.words.search import SEARCH

        if self.query.strip():
            web.search = SEARCH.ready(web.graph, progress=web.progress)

    def run(self, web: Web) -> CommunitiesFound:
        """The communities, and with `no_npea` those without eliminating noise; writes the files that are named."""
        from cocite.related.methods import method

        params, k = method(self.method).params, self.k
        k = (DRAWN_PAGES if self.html else SHOWN_PAGES) if k is None else k
        found = find(web, self.query, self.urls, params, k)
        if self.no_npea:
            found = replace(found, plain=find(web, self.query, self.urls, replace(params, npea="off"), k))
        if len(found) and (self.sweep or self.labels):
            found = with_experiment(found, self.labels)
        if len(found) and self.html:
            replace_file(Path(self.html), found.to_html())
        if len(found) and self.gexf:
            replace_file(Path(self.gexf), found.to_gexf())
        return found

    def warnings(self, web: Web, result: Any) -> Iterator[str]:
        for reason, number in result.labels.skipped.items() if result.labels else ():
            yield f"Skipped in {self.labels}: {count(number, reason)}, such as {result.labels.example[reason]!r}"

    def why_empty(self, web: Web, result: Any) -> str:
        if len(result):
            return ""
        if not result.root:
            return f"No page has any of the words {result.query!r}: try others, or give pages"
        by_words = f"the {count(result.root, 'page')} found for {result.query!r}"
        what = by_words if result.query else ", ".join(result.pages)
        return f"No link between two {'pages' if result.found.base.view.unit == 'none' else 'sites'} around {what}"

    def commands_to_try(self, web: Web, result: Any) -> str:
        return "see links with cocite links, or try 'community(unit=none)'" if result.root else ""


def check_method(call: str) -> None:
    """Refuse another method than that of communities, whose parameters also limit a base set."""
    if parse(call)[0] != COMMUNITY_METHOD:
        raise BadParameter(f"This is done by the method {COMMUNITY_METHOD}, not {call!r:.100}")


def with_experiment(found: CommunitiesFound, labels: str) -> CommunitiesFound:
    """The same, with how well noise is found in the base set: by labels of a file, or by the words."""
    from cocite.evaluate.noise import BY_WORDS, labels_by_words, noise_report, read_labels
    from cocite.sources.records import ReadReport

    base = found.found.base
    if not labels:
        return replace(found, experiment=noise_report(base, labels_by_words(base, found.query), BY_WORDS))
    report, path = ReadReport(), Path(labels)
    return replace(found, labels=report, experiment=noise_report(base, read_labels(path, base, report), path.name))


def root_set(
    web: Web, query: str, urls: Sequence[str], params: Params
) -> tuple[list[int], Mapping[int, float] | None, list[str]]:
    """The best search results for a query, the given pages, or both; how well pages match the query; and notes.

    The match is a search score divided by the best one; 1 for given pages. It is None without a query. Notes say where
    shorter addresses are used. Raises UnknownPage, BadAddress.
    """
    from cocite.results.known import find_page

    found = [find_page(web.graph, url, params.chop) for url in urls]
    given, notes = [each.page for each in found], [each.note for each in found if each.note]
    if not query.strip():
        return list(dict.fromkeys(given)), None, notes
    results = web.search.search(query, max(params.results, SCORED_RESULTS)).hits
    best = max((score for _, score in results), default=1.0)
    match = {page: score / best for page, score in results} | dict.fromkeys(given, 1.0)
    return list(dict.fromkeys([*given, *(page for page, _ in results[: params.results])])), match, notes


def find(web: Web, query: str, urls: Sequence[str], params: Params, k: int = 10) -> CommunitiesFound:
    """Communities for words or pages, each with its k best hubs and authorities."""
    import numpy as np

    from cocite.kernels.jit import stopwatch
    from cocite.related.methods.community import communities
    from cocite.results.ask import about_store
    from cocite.results.community_words import distinctive_words, words_of_pages
    from cocite.words.tokens import words_of

    with stopwatch() as passed:
        root, match, notes = root_set(web, query, urls, params)
        found = communities(web, root, params, match)
        base, measured = found.base, found.base.measured
        words = words_of_pages(web.graph, base.edges) if found else {}
        search, asked = (None, frozenset[str]()) if match is None else (web.search, frozenset(words_of(query)))

        def fit(community: WebCommunity) -> float:
            first = community.authorities.pages[:FIT_AUTHORITIES].tolist()
            return sum((match or {}).get(page, 0.0) for page in first) / FIT_AUTHORITIES

        def shown(each: WebCommunity) -> CommunityResult:
            end = "positive" if each.end > 0 else "negative"
            return CommunityResult(
                name="principal" if each.vector == 1 and each.end > 0 else f"vector {each.vector}, {end} end",
                vector=each.vector,
                end=end,
                singular_value=rounded(each.value),
                fit=None if match is None else rounded(fit(each)),
                pages=len(each.members),
                keywords=tuple(distinctive_words(words, each, MAX_KEYWORDS, search, asked)),
                hubs=_members(base, each.hubs, k),
                authorities=_members(base, each.authorities, k),
                links=tuple(_links(base, each.hubs.pages[:k], each.authorities.pages[:k])),
                eliminated=_noise(base, each.eliminated[:k]),
                eliminated_in_all=len(each.eliminated),
            )

        own = [each for each in found if len(each.members)]
        if match is not None:
            own.sort(key=lambda each: -rounded(fit(each) * each.value))
        noise = np.flatnonzero(~measured.keep)
        nearest = noise[np.lexsort((noise, -np.round(measured.measure[noise], 9)))][:k]
        return CommunitiesFound(
            query=query.strip(),
            pages=tuple(urls),
            params=values_of(params),
            communities=tuple(map(shown, own)),
            root=int(base.root.sum()),
            base=len(base.root),
            links=len(base.edges.ends),
            eliminated=len(base.root) - len(base.rest.pages),
            threshold=rounded(measured.threshold),
            k=measured.k,
            rank=measured.rank,
            noise=_noise(base, base.edges.pages[nearest]),
            left_out=frozenset(base.edges.pages[noise].tolist()),
            store=about_store(web.graph),
            milliseconds=passed(),
            found=found,
            chopped=tuple(notes),
        )


def _links(base: BaseSet, hubs: Pages, authorities: Pages) -> Iterable[tuple[int, int]]:
    """Links from hubs to authorities, as their indices."""
    edges, index = base.edges, {page: at for at, page in enumerate(authorities.tolist())}
    for hub, at in enumerate(edges.pages.searchsorted(hubs).tolist()):
        targets = edges.pages[edges.ends[edges.starts[at] : edges.starts[at + 1]]].tolist()
        yield from ((hub, authority) for authority in sorted(index[page] for page in targets if page in index))


def _members(base: BaseSet, side: WeightedPages, k: int) -> tuple[Member, ...]:
    """The first k hubs or authorities."""
    from cocite.results.naming import titles_of

    titles, pages, weights = titles_of(base.view.graph), side.pages[:k].tolist(), side.weights[:k].tolist()
    root = base.root[base.edges.pages.searchsorted(side.pages[:k])].tolist()
    rows = zip(pages, weights, root, strict=True)
    return tuple(Member(titles.address(page), titles.of(page), rounded(w), known, page) for page, w, known in rows)


def _noise(base: BaseSet, pages: Pages) -> tuple[NoisePage, ...]:
    """Noise pages, each with the reason why it was removed."""
    from cocite.results.naming import titles_of

    titles, measured, found = titles_of(base.view.graph), base.measured, []
    for page, at in zip(pages.tolist(), base.edges.pages.searchsorted(pages).tolist(), strict=True):
        measure, links = rounded(float(measured.measure[at])), int(measured.ties[at])
        found.append(NoisePage(titles.address(page), titles.of(page), measure, links, why_npea(base, at), page))
    return tuple(found)


def why_npea(base: BaseSet, at: int) -> str:
    """Why NPEA keeps or removes a page of a base set."""
    measured, links, roots = base.measured, int(base.measured.ties[at]), int(base.root.sum())
    if base.root[at]:
        return "in the root set"
    linked = f"linked with {links} of {roots} root pages" if links else "no link with root pages"
    if not measured.threshold:
        return linked
    limit = f"{measured.threshold:.3g}, the {STATISTIC_NAMES[base.params.npea]} of the root set"
    verb = "reaches" if measured.keep[at] else "is below"
    return f"{linked}; its measure {float(measured.measure[at]):.3g} {verb} {limit}"
