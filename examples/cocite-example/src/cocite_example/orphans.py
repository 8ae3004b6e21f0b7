"""List pages that no page links to."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocite.operations import shared
from cocite.operations.declare import Operation, operation
from cocite.results.answer import Result

if TYPE_CHECKING:
    from cocite.web import Web


@dataclass(frozen=True)
class OrphanPages(Result):
    """Pages without in-links."""

    orphans: list[str]


@operation(route="/api/orphans", tool="orphan_pages")
class Orphans(Operation):
    """List pages that no page links to.

    Examples:
        cocite orphans -k 20
    """

    k: int = shared.k()

    def run(self, web: "Web") -> OrphanPages:
        """The first k of them, by address."""
        import numpy as np

        pages = np.flatnonzero(web.graph.in_degree[:] == 0)[: self.k]
        return OrphanPages([web.graph.address(page) for page in pages.tolist()])
