"""The questions beside related pages: search, compare, hubs, communities, keywords, links, methods, the store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cocite.errors import BadParameter
from cocite.http.holding import Served
from cocite.http.limits import check_addresses, confined, method_of, methods_of
from cocite.http.questions import Plain
from cocite.http.settings import MOST_K
from cocite.operations.info import Info
from cocite.operations.links import Links
from cocite.operations.methods import Methods
from cocite.related.methods import method
from cocite.results import COMPARED
from cocite.results.ask import question
from cocite.results.communities import find as find_communities
from cocite.results.compare import compare as compare_methods
from cocite.results.hubs import find_hubs
from cocite.results.keywords import keywords_for, keywords_of_page
from cocite.results.search import search_for


def search(words: str, k: int) -> Plain:
    """Pages by words."""
    return Plain("search", (words, k), lambda web: search_for(web.graph, web.search, words, k).to_dict())


def compare(urls: tuple[str, ...], calls: tuple[str, ...], k: int) -> Plain:
    """Several methods on the same pages."""
    check_addresses(_some(urls))
    calls = tuple(dict.fromkeys(calls or COMPARED))
    chosen = methods_of(calls)

    def find(web: Served) -> dict[str, Any]:
        confined_ = [confined(web.graph, each) for each in chosen]
        return compare_methods(web, question(web.graph, urls), confined_, k).to_dict()

    return Plain("compare", (urls, calls, k), find, heavy=True)


def hubs(urls: tuple[str, ...], kind: str, by: str, rounds: int, likeness: float, k: int) -> Plain:
    """Hubs, or authorities, some links away."""
    check_addresses(_some(urls))
    chosen = method("hubfinder", {"kind": kind, "criterion": by, "rounds": rounds, "likeness": likeness})
    parts = (urls, str(chosen), k)
    return Plain("hubs", parts, lambda web: find_hubs(web, question(web.graph, urls), chosen, k).to_dict(), heavy=True)


def communities(words: str, urls: tuple[str, ...], call: str, k: int, plain_too: bool) -> Plain:
    """Hubs and authorities around a topic."""
    check_addresses(urls)
    chosen = method_of(call)[0]
    if chosen.name != "community":
        raise BadParameter(f"communities are made by the method community, not {chosen.name}: give its parameters")
    if not words.strip() and not urls:
        raise BadParameter("nothing to look for: give some words by q=, or pages by url=")

    def find(web: Served) -> dict[str, Any]:
        params = confined(web.graph, chosen).params
        found = find_communities(web, words, urls, params, k).to_dict()
        if plain_too:
            plain = find_communities(web, words, urls, replace(params, npea="off"), k)
            found["without_npea"] = plain.to_dict()["communities"]
        return found

    return Plain("communities", (words, urls, str(chosen), k, plain_too), find, heavy=True)


def keywords(words: tuple[str, ...], url: str, k: int, alpha: float, beta: float) -> Plain:
    """Keywords to go on with, or those of a page."""
    if bool(words) == bool(url):
        raise BadParameter("give either words by q=, or a page by url=")
    if url:
        check_addresses([url])
        return Plain("keywords", (url,), lambda web: keywords_of_page(web, url).to_dict(), heavy=True)
    parts = (words, k, alpha, beta)
    return Plain("keywords", parts, lambda web: keywords_for(web, words, k, alpha, beta).to_dict(), heavy=True)


def links(url: str, k: int) -> Plain:
    """The links around a page."""
    check_addresses([url])

    def find(web: Served) -> dict[str, Any]:
        return Links(url=url, k=k or MOST_K).run(web).to_dict()

    return Plain("links", (url, k), find)


def every_method(name: str) -> Plain:
    """Every method, or one of them."""
    return Plain("methods", (name,), lambda _: Methods(name=name).run().to_dict())


def store() -> Plain:
    """What the store holds; not where it is, nor what it was made from."""
    return Plain("store", (), lambda web: Info().run(web).to_dict())


def _some(urls: tuple[str, ...]) -> tuple[str, ...]:
    if not urls:
        raise BadParameter("no page to ask about: give url=, the address of a page")
    return urls
