"""Put pages into named groups."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from cocite.errors import BadParameter, UnknownPage
from cocite.operations import shared
from cocite.operations.declare import Operation, Web, operation
from cocite.operations.task import not_in_store, read_addresses
from cocite.parameters import parameter

if TYPE_CHECKING:
    from cocite.results.groups import PageGroup


@dataclass(frozen=True)
class PageGroups:
    """Groups, the largest first; their pages are pairs of address and title."""

    groups: "tuple[PageGroup[tuple[str, str]], ...]"
    unknown: tuple[str, ...] = ()  # addresses that the store doesn't have
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        pages = [[{"url": url, "title": title} for url, title in each.pages] for each in self.groups]
        groups = [{"keywords": list(e.keywords), "pages": some} for e, some in zip(self.groups, pages, strict=True)]
        return {"groups": groups, **({"note": self.note} if self.note else {})}


@operation(slow=True)
class Cluster(Operation):
    """Put pages into groups, named by keywords.

    Examples:
        cocite cluster nytimes.com lemonde.fr bmw.com audi.com
        cocite cluster --file bookmarks.txt --json
    """

    urls: tuple[str, ...] = shared.urls("Address of a page to group", required=False)
    most: int = parameter(12, "Maximum number of groups", minimum=2, maximum=100)
    by: str = shared.group_by()
    file: str = shared.address_file()
    skip_unknown: bool = parameter(False, "Skip pages that the store doesn't have", surfaces=())

    def validate(self) -> None:
        if not self.urls and not self.file:
            raise BadParameter("No pages to group: give addresses, or --file FILE")

    def on_surface(self, surface: str) -> Self:
        """Read the addresses of a file; some of them may be unknown."""
        urls = (*self.urls, *read_addresses(self.file))
        return replace(self, urls=urls, skip_unknown=True) if self.file else self

    def warnings(self, web: Web, result: Any) -> Iterator[str]:
        if result.unknown:
            yield not_in_store(result.unknown)

    def run(self, web: Web) -> PageGroups:
        """The groups; raises UnknownPage where none of the pages is known."""
        from cocite.results.groups import PageGroup, group_pages
        from cocite.results.known import find_pages
        from cocite.results.naming import titles_of

        graph, found = web.graph, find_pages(web.graph, self.urls, skip=self.skip_unknown)
        pages, notes = [each.page for each in found if each], [each.note for each in found if each and each.note]
        unknown = [url for url, each in zip(self.urls, found, strict=True) if each is None]
        if not pages:
            raise UnknownPage(f"None of the {len(unknown):,} pages is in this store, such as {unknown[0]!r:.200}")
        groups = []
        for each in group_pages(web, pages, self.most, self.by):
            named = tuple((graph.address(page), titles_of(graph).of(page)) for page in each.pages)
            groups.append(PageGroup(each.keywords, named, each.alone))
        return PageGroups(tuple(groups), tuple(unknown), ". ".join(dict.fromkeys(notes)))
