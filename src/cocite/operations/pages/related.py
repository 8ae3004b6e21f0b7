"""Find the pages most related to one or more pages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocite.errors import BadParameter, UnknownPage
from cocite.operations import COMPARED_METHODS, DEFAULT_METHOD, shared
from cocite.operations.declare import Operation, Web, operation
from cocite.operations.task import not_in_store, read_addresses
from cocite.parameters import changed, parameter, parameters_of, spell
from cocite.results.answer import Answers
from cocite.results.filters import NO_FILTERS, Filters, why_none_passes
from cocite.text import count

if TYPE_CHECKING:
    from cocite.related.methods import Method

QUICK_METHODS = frozenset({DEFAULT_METHOD, *COMPARED_METHODS} - {"walk"})
"""They take milliseconds with default limits, and for few pages and results:"""
MAX_QUICK_PAGES, MAX_QUICK_RESULTS = 5, 100
MAX_IN_LINKS_LOOKED_AT = 100_000
MAX_NAMED_PAGES = 5  # of a question without results
MAX_LINKS, MAX_TEXT_CHARS = 600, 4096
"""Of a page that the store doesn't have, as an assistant sends it."""


@lru_cache(maxsize=512)
def is_quick(call: str) -> bool:
    """Whether a method takes milliseconds: no number is larger than its default, so it reads no more than usual.

    Another seed does: only parents chosen by the default one are stored.
    """
    from cocite.related.methods import method

    if call.partition("(")[0].strip() not in QUICK_METHODS:
        return False
    defaults = {each.name: each.default for each in parameters_of(type(method(call).params))}
    return all(
        isinstance(value, str | bool) or (name != "seed" and defaults[name] and value < defaults[name])
        for name, value in changed(method(call).params).items()
    )


@dataclass(frozen=True, kw_only=True)
class CommandLineOptions(Filters):
    """Filters, and options that only the command line has: a history from a file, and ways to print."""

    history_file: str = shared.command_option(
        "", "Pages that were read: addresses, a table, records, bookmarks or a browser's history", metavar="FILE",
        on={"cli": {"name": "history"}},
    )  # fmt: skip
    all_reasons: bool = shared.command_option(
        False, "Show all reasons, not one line of them", flags=("--explain", "-e"), on={"cli": {"name": "explain"}}
    )
    csv: bool = shared.command_option(False, "Print comma-separated values; ' precedes what a spreadsheet would run")
    tsv: bool = shared.command_option(False, "Print tab-separated values")


@operation(route="/api/related", tool="related_pages")
class Related(Operation, CommandLineOptions):
    """Find the pages most related to a page, best first, with reasons.

    With several pages, results are related to all of them.

    Command line: With --like and the bookmarks of a browser, or the OPML file of a feed reader, pages near the
    whole collection are shown: -k for every folder, none that is in it already. Pages that the store doesn't have
    are counted.

    Exits with 0 if there are results, 1 if the page is known but nothing is related, 3 if it is unknown.

    Examples:
        cocite related nytimes.com lemonde.fr -m companion -k 20 --explain
        cocite related bmw.com -m 'cocitation(unit=site)' --json | jq .answers
        cocite related --like bookmarks.html -k 5 --not-own-site
    """

    urls: tuple[str, ...] = shared.urls(required=False)
    method: str = shared.method()
    k: int = shared.k()
    exclude: tuple[str, ...] = shared.exclude()
    history: tuple[tuple[str, float], ...] = parameter(
        (), "Pages that were read, with weights: results are related to all of them, to the heavier ones more",
        type=tuple, surfaces=("python",),
    )  # fmt: skip
    group: bool = parameter(
        False, "Put the results into groups, named by keywords", surfaces=("cli", "http"),
        label="In groups, by topic",
    )  # fmt: skip
    by: str = shared.group_by(surfaces=("cli", "http"))
    as_of: str = shared.as_of()
    explain: bool = parameter(True, "Give reasons", surfaces=("python",))
    like: str = shared.command_option(
        "", "More query pages: addresses, one per line; or bookmarks or OPML, asked folder by folder", metavar="FILE"
    )

    links: tuple[str, ...] = parameter(
        (), "If the store may not have the page: addresses that it links to", max_items=MAX_LINKS, max_length=4096,
        surfaces=("mcp",),
    )  # fmt: skip
    text: str = parameter(
        "", "If the store may not have the page: its title, and the beginning of its text", max_length=MAX_TEXT_CHARS,
        surfaces=("mcp",),
    )  # fmt: skip
    max_tokens: int = shared.max_tokens()

    listed: tuple[str, ...] = ()  # the addresses of a plain list: unknown ones are skipped, as those of bookmarks are

    def validate(self) -> None:
        super().validate()
        if not (self.urls or self.history or self.like or self.history_file):
            raise BadParameter("No page to ask about: give an address")
        if self.group and (self.csv or self.tsv):
            raise BadParameter("--group has no table: leave out --csv and --tsv, or give --json")
        if self.by != "lli" and not self.group:
            raise BadParameter("by needs --group: give both, or leave it out")

    def on_surface(self, surface: str) -> "Related":
        """Read the files that the command line names; a collection is asked folder by folder."""
        if not self.like and not self.history_file:
            return self
        from cocite.operations.pages.collection import RelatedToCollection, read_collection
        from cocite.results.visits import read_history, weights_of

        if self.like and (collection := read_collection(Path(self.like))) is not None:
            if self.urls or self.history_file or self.group or self.csv or self.tsv:
                others = "addresses, --history, --group, --csv and --tsv"
                raise BadParameter(f"Each folder of {self.like} is a question of its own: remove {others}")
            return RelatedToCollection(**vars(self), collection=collection)
        history = tuple(weights_of(read_history(Path(self.history_file)))) if self.history_file else ()
        return replace(self, listed=tuple(read_addresses(self.like)), history=history)

    @property
    def slow(self) -> bool:
        quick = is_quick(self.method) and self.k <= MAX_QUICK_RESULTS
        return super().slow or not quick or bool(self.trust) or len(self.urls) + len(self.exclude) > MAX_QUICK_PAGES

    def run(self, web: Web) -> Answers:
        from cocite.related.methods import method
        from cocite.results.ask import ask, question
        from cocite.results.groups import grouped

        chosen = method(self.method)
        if (self.links or self.text) and len(self.urls) == 1 and web.graph.get(self.urls[0]) is None:
            return self._unseen(web, chosen)
        listed = [url for url, page in self._found(web, self.listed) if page is not None] if self.listed else []
        if self.listed and not listed and not self.urls:
            some = f"{self.listed[0][:200]!r}"
            raise UnknownPage(f"No page of {self.like} is in this store, e.g. {some}: use another store")
        asked = question(web.graph, (*self.urls, *listed), self.exclude, self.history, chosen.chop)
        answers = ask(web, asked, chosen, self.k, self.filters, self.explain)
        return grouped(web, answers, self.by) if self.group else answers

    def _unseen(self, web: Web, chosen: "Method") -> Answers:
        """Pages related to one that the store doesn't have, by its links or its text."""
        from cocite.operations.pages.unseen import ask_unseen
        from cocite.sources.records import Link, Page

        record = Page(self.urls[0], text=self.text, links=[Link(url) for url in self.links])
        found = ask_unseen(web, record, chosen, self.k, self.filters, self.explain)
        note = f"{self.urls[0]} isn't in this store; these results are for its {'links' if found.used else 'text'}"
        return replace(found, note=". ".join(filter(None, (note, found.note))))

    def warnings(self, web: Web, result: Any) -> Iterator[str]:
        """Pages of the history, or of a list, that the store doesn't have."""
        for urls, file in (([url for url, _ in self.history], self.history_file), (self.listed, self.like)):
            if unknown := [url for url, page in self._found(web, urls) if page is None]:
                yield not_in_store(unknown, file)

    def _found(self, web: Web, urls: Sequence[str]) -> Iterator[tuple[str, Any]]:
        """Addresses with their pages, None where they are unknown."""
        from cocite.related.methods import method
        from cocite.results.known import find_pages

        return zip(urls, find_pages(web.graph, urls, method(self.method).chop), strict=True)

    def why_empty(self, web: Web, result: Any) -> str:
        if len(result):
            return ""
        if self.filters != NO_FILTERS or self.exclude:
            return why_filtered(web, self.filters, result.query)
        return why_unrelated(web, result.query, self.method)


def why_filtered(web: Web, filters: Filters, query: Sequence[str]) -> str:
    """Why nothing passes the filters, and what to try."""
    return why_none_passes(web.graph, filters, f"Nothing related to {first_of(query)}")


def first_of(urls: Sequence[str]) -> str:
    """The first addresses, and how many others there are: a history has a thousand."""
    more = len(urls) - MAX_NAMED_PAGES
    return ", ".join(urls[:MAX_NAMED_PAGES]) + (f" and {count(more, 'other page')}" if more > 0 else "")


def why_unrelated(web: Web, urls: Sequence[str], *calls: str) -> str:
    """Why methods find nothing related to known pages, and what to try."""
    from shlex import quote

    from cocite.related.methods import method
    from cocite.results.ask import question

    pages, chosen = question(web.graph, urls, chop="host").seeds, [method(call) for call in calls]
    are, their = ("is", "its") if len(urls) == 1 else ("are", "their")
    known = f"{first_of(urls)} {are} known, but"
    for each in chosen:
        unit = getattr(each.params, "unit", "none")
        if unit not in ("none", "auto") and all(linked_at_home_only(web, page, unit) for page in pages):
            call = quote(spell(each.name, {**changed(each.params), "unit": "none"}))
            return f"{known} linked only from pages of {their} own {unit}: try the method {call}"
    facts = web.graph.facts
    copies = sum(len(facts.near_duplicates(facts.representative(page))) for page in pages)
    for each in chosen if copies else ():
        if getattr(each.params, "merge", False) is True:
            call = quote(spell(each.name, {**changed(each.params), "merge": False}))
            same = f"{count(copies, 'page')} with nearly the same links count as {'it' if len(urls) == 1 else 'them'}"
            return f"{known} {same}, and {each.name} finds nothing else: try the method {call}"
    finds = f"{chosen[0].name} finds nothing" if len(chosen) == 1 else "no method finds anything"
    return f"{known} {finds} related: look at {their} links"


def linked_at_home_only(web: Web, page: int, unit: str) -> bool:
    """Whether other pages link to a page, and all of them are on its own unit."""
    graph = web.graph
    if not 0 < graph.in_degree[page] <= MAX_IN_LINKS_LOOKED_AT:
        return False
    parents, units = graph.links_to(page), graph.units(unit)
    return bool((parents != page).any() and (units[parents] == units[page]).all())
