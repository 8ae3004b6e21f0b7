"""Find pages near a collection: bookmarks or subscriptions, folder by folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocite.operations.pages.related import Related
from cocite.results.filters import Filters

if TYPE_CHECKING:
    from cocite.results.collection import CollectionResults
    from cocite.web import Web


@dataclass(frozen=True, kw_only=True)
class RelatedToCollection(Related):
    """The question about related pages, asked for each folder of a collection."""

    collection: Any = None
    file: str = ""

    def validate(self) -> None:
        """Check the filters; the collection is the query."""
        Filters.validate(self)

    def run(self, web: Web) -> CollectionResults:  # type: ignore[override]
        """The k pages nearest to each folder."""
        from cocite.related.methods import method
        from cocite.results.collection import ask_collection

        return ask_collection(web, self.collection, method(self.method), self.k, self.filters, self.exclude)

    def why_empty(self, web: Web, result: Any) -> str:
        """Why nothing is near, and what to try."""
        if not self.k or any(folder.answers for folder in result.folders):
            return ""
        return f"Nothing is related to the pages of {self.file} in this store; give fewer filters, or another method"
