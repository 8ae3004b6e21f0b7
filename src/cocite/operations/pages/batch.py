"""Find the related pages of every page."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocite.errors import BadAddress, BadParameter
from cocite.operations import shared_parameters
from cocite.operations.declare import Operation, operation
from cocite.parameters import parameter
from cocite.results.filters import Filters

if TYPE_CHECKING:
    from cocite.results.batch import BatchSummary
    from cocite.web import Web

ENDLESS = 100_000_000


@dataclass(frozen=True)
class BatchResult:
    """What was written."""

    done: BatchSummary
    output: str
    unknown: int  # pages asked about that the store doesn't have
    seconds: float

    def to_dict(self) -> Mapping[str, Any]:
        """For JSON."""
        own = {"unknown": self.unknown, "output": self.output, "seconds": round(self.seconds, 3)}
        return {**self.done._asdict(), **own}


@operation(
    group="related pages",
    examples=[
        "cocite batch -o related.parquet",
        "cocite batch -m cocitation -k 20 --queries pages.txt -o related.tsv",
        "cocite batch -m integrated --all-pairs -k 20 -o alike.parquet",
    ],
    slow=True,
)
class Batch(Operation, Filters):
    """Find the related pages of every page, or of those of a file, on all cores.

    Rows are query, rank, url and score; a TSV file has them in this order, without a header. If it is interrupted, the
    same command continues.

    With --all-pairs, integrated similarity is computed for all pages at once, from words and links in memory. It looks
    at fewer pages than a single question: about 19 of the 20 best results are the same (docs/integrated.md). If that is
    interrupted before the first part is written, it starts again.
    """

    output: str = parameter(
        "", "A folder of Parquet files, or one file if it ends in .tsv", metavar="PLACE", required=True,
        flags=("--output", "-o"),
    )  # fmt: skip
    method: str = shared_parameters.method()
    k: int = shared_parameters.k(help="Maximum number of results of each page")
    pages: tuple[str, ...] = parameter(
        (), "Only for these pages", max_items=ENDLESS, surfaces=("python",)
    )  # the command line reads them from a file
    all_pairs: bool = parameter(False, "Compare all pages at once: integrated only, much faster, approximate")
    threads: int = parameter(
        0, "Number of processes (default: one per core)", metavar="N", minimum=0, maximum=256,
        on={"cli": {"default": None, "minimum": 1}, "python": {"name": "processes"}},
    )  # fmt: skip

    def run(self, web: Web) -> BatchResult:
        """Write the results."""
        from cocite.results.batch import batch

        began, graph = time.monotonic(), web.graph
        found = [self._find(web, url) for url in self.pages]
        known = [page for page in found if page is not None]
        if self.pages and not known:
            raise BadParameter("None of the pages is in this store: check both")
        done = batch(
            graph, self.method, Path(self.output), k=self.k, queries=known if self.pages else None,
            filters=self.filters, processes=self.threads or None, together=self.all_pairs, progress=web.progress,
        )  # fmt: skip
        return BatchResult(done, self.output, len(found) - len(known), time.monotonic() - began)

    @staticmethod
    def _find(web: Web, url: str) -> int | None:
        try:
            return web.graph.get(url)
        except BadAddress:
            return None
