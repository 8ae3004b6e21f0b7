"""The tools: a question each, from checked arguments to a shape. Their docstrings are what assistants read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cocite.errors import BadParameter
from cocite.http.holding import Served
from cocite.http.limits import confined, method_of
from cocite.mcp import shapes
from cocite.mcp.shapes import LONGEST_REASON, LONGEST_URL, said
from cocite.operations.links import Links
from cocite.related.methods import method as plain_method
from cocite.results import COMPARED
from cocite.results import answer as reasons
from cocite.results.answer import Answer, Answers
from cocite.results.ask import ask, question
from cocite.results.communities import Member
from cocite.results.communities import find as find_communities
from cocite.results.compare import compare as compare_methods
from cocite.results.filters import NO_FILTERS, Filters
from cocite.results.hubs import find_hubs
from cocite.results.keywords import Keyword, keywords_for, keywords_of_page
from cocite.results.naming import title_of
from cocite.results.present import briefly, say

REASONS = 3
"""Reasons for each page, the best; more would make answers long."""


def related_pages(
    web: Served, urls: list[str], k: int, method: str, not_urls: list[str], per_site: int, not_own_site: bool
) -> shapes.Found:
    """The pages most related to some pages."""
    chosen, filters = confined(web.graph, method_of(method)[0]), Filters(per_site=per_site, not_own_site=not_own_site)
    answers = ask(web, question(web.graph, urls, not_urls), chosen, k, filters)
    note = ""
    if not len(answers):
        known = "The page is known" if len(urls) == 1 else "The pages are known"
        why = "nothing related passes the filters: leave out per_site, not_own_site and not_urls."
        if filters == NO_FILTERS and not not_urls:
            why = f"{chosen.name} finds nothing related: look at links, or try hubs."
        note = f"{known}, but {why}"
    return _found(web, urls, answers, note)


def compare(web: Served, urls: list[str], methods: list[str], k: int) -> shapes.Comparison:
    """Several methods on one question."""
    chosen = [confined(web.graph, method_of(name)[0]) for name in dict.fromkeys(methods or COMPARED)]
    found = compare_methods(web, question(web.graph, urls), chosen, k)
    titles = {answer.url: answer.title for answers in found.by_method.values() for answer in answers}
    ranks = {name: {answer.url: answer.rank for answer in answers} for name, answers in found.by_method.items()}
    pages = [
        shapes.Compared(url=_url(url), title=said(titles[url]), ranks={name: ranks[name][url] for name in names})
        for url, names in found.votes()
    ]
    note = "" if pages else "No method finds anything related: look at links of the page."
    return shapes.Comparison(query=_urls(urls), methods=list(found.by_method), pages=pages, note=note)


def hubs(web: Served, urls: list[str], kind: str, k: int) -> shapes.Found:
    """Hubs or authorities some links away."""
    answers = find_hubs(web, question(web.graph, urls), plain_method("hubfinder", {"kind": kind}), k)
    return _found(web, urls, answers, "" if len(answers) else f"No {kind} around the pages: look at links of them.")


def communities(web: Served, query: str, urls: list[str], k: int) -> shapes.Communities:
    """Communities of hubs and authorities on a topic."""
    if not query.strip() and not urls:
        raise BadParameter("nothing to look for: give query, some words of a topic, or urls")
    found = find_communities(web, query, urls, plain_method("community").params, k)
    shown = [
        shapes.Community(
            about=[said(word) for word in each.keywords],
            pages=each.pages,
            authorities=_members(each.authorities),
            hubs=_members(each.hubs),
        )
        for each in found
    ]
    asked = ", ".join([*([said(query)] if query.strip() else []), *_urls(urls)])
    note = "" if shown else "No pages are linked on this topic: try fewer or other words, or give urls."
    return shapes.Communities(query=asked, communities=shown, left_out=found.eliminated, note=note)


def keywords(web: Served, words: list[str], url: str, k: int) -> shapes.Keywords:
    """Words to go on with, or the words of a page."""
    if bool(words) == bool(url):
        raise BadParameter("give either words, or the url of one page")
    empty: dict[str, Any] = {"main": [], "of_page": [], "similar": [], "logical": []}
    if url:
        page = keywords_of_page(web, url)
        note = "" if page.keywords else "Nothing is known of what the page says: it was never read."
        main = {"main": [said(word) for word in page.main], "of_page": _keywords(page.keywords[:k])}
        return shapes.Keywords(asked=[_url(page.page)], note=note, **{**empty, **main})
    found = keywords_for(web, words, k)
    both = {"similar": _keywords(found.similar), "logical": _keywords(found.logical)}
    note = "" if any(both.values()) else "No other keyword goes with these: try more general ones."
    return shapes.Keywords(asked=[said(word) for word in found.words], note=note, **{**empty, **both})


def links(web: Served, url: str, k: int) -> shapes.Links:
    """The links around a page."""
    found = Links(url=url, k=k).run(web)
    known = found.page
    out = [
        shapes.LinkOut(url=_url(link.url), title=said(link.text or link.title), section=said(section.heading))
        for section in found.blocks
        for link in section.links
    ]
    cited = [
        shapes.LinkIn(url=_url(each.url), title=said(each.title), section=said(each.heading), text=said(each.text))
        for each in found.cited_by
    ]
    note = "" if known["read"] else "The page itself was never read: only links to it are known."
    note = note if out or cited else "The page is known, but has no links."
    this = shapes.Page(url=_url(known["url"]), title=said(title_of(web.graph, web.graph.find(url))))
    return shapes.Links(
        page=this, links_out=known["links_out"], links_in=known["links_in"], out=out, cited_by=cited, note=note
    )


def _found(web: Served, urls: Sequence[str], answers: Answers, note: str) -> shapes.Found:
    own = {web.graph.canonical(web.graph.find(url)).removeprefix("name:") for url in urls}
    return shapes.Found(
        query=_urls(urls),
        asked_instead=[_url(page) for page in answers.used if page not in own],
        method=answers.method,
        pages=[
            shapes.Answer(url=_url(each.url), title=said(each.title), score=each.score, why=_why(each))
            for each in answers
        ],
        note=note,
    )


def _why(answer: Answer) -> list[str]:
    """The whole evidence in a line, then the best reasons."""
    counts = (reasons.TOGETHER_IN_ALL, reasons.SHARED_IN_ALL)
    each = [say(reason) for reason in answer.reasons if reason.kind not in counts]
    told = dict.fromkeys(said(text, LONGEST_REASON) for text in (briefly(answer), *each) if text)
    return list(told)[:REASONS]


def _members(members: Sequence[Member]) -> list[shapes.Page]:
    return [shapes.Page(url=_url(each.url), title=said(each.title)) for each in members]


def _keywords(found: Sequence[Keyword]) -> list[shapes.Keyword]:
    return [shapes.Keyword(word=said(each.word), relevance=each.relevance, pages=each.pages) for each in found]


def _url(url: str) -> str:
    return said(url, LONGEST_URL)


def _urls(urls: Sequence[str]) -> list[str]:
    return [_url(url) for url in urls]
