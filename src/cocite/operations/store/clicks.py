"""Count clicks into a store."""

from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cocite.errors import BadSource
from cocite.operations import shared
from cocite.operations.declare import Progress, operation
from cocite.operations.store.build import skipped_json
from cocite.operations.task import Task
from cocite.parameters import parameter

if TYPE_CHECKING:
    from cocite.graph.clicks import Kept
    from cocite.sources.clicks import Trail
    from cocite.sources.records import ReadReport

PROGRESS_ROWS = 10_000


class ClicksResult(NamedTuple):
    """What was counted."""

    store: Path
    kept: "Kept"
    report: "ReadReport"

    def to_dict(self) -> dict[str, Any]:
        kept = {"pairs": self.kept.pairs, "clicks": self.kept.clicks, "used": self.kept.trails}
        read = {"read": dict(self.report.read), "skipped": skipped_json(self.report)}
        return {"store": str(self.store), **kept, **read}


@operation(name="clicks")
class CountClicks(Task):
    """Count clicks into a store, for the method whats_related.

    A file has transitions, from<TAB>to<TAB>count per line, or sessions: the pages somebody visited, in order, separated
    by tabs or semicolons, with < for the back button. Plain, .gz, .zst or .bz2. Pages that the store doesn't have are
    counted and skipped. Clicks are added to those counted before; a file of the same content is skipped. They are kept
    when pages are added or removed.

    Examples:
        cocite clicks clickstream.tsv.gz -i web.cocite
        cocite clicks monday.tsv tuesday.tsv --anew
    """

    files: tuple[str, ...] = parameter(
        (), "Click logs: transitions or sessions", metavar="FILE", positional=True, required=True
    )
    kind: str = parameter("", "Kind of the files, if not recognised: transitions, sessions", metavar="KIND")
    anew: bool = parameter(False, "Delete the clicks that were counted before")
    strict: bool = parameter(False, "Stop at the first record that can't be used")
    quiet: bool = shared.quiet()
    request_ids: dict[str, bytes] = field(default_factory=dict, compare=False)
    """Digests of files that are to be counted once whatever their content is, by path."""

    def do(self, progress: Progress) -> ClicksResult:
        from cocite.graph.clicks import add_files
        from cocite.graph.generation import file_digest
        from cocite.graph.store import Graph
        from cocite.sources.clicks import read_clicks
        from cocite.sources.records import ReadReport

        graph, report, paths = Graph(self.index), ReadReport(self.strict), [Path(file) for file in self.files]
        if missing := [path for path in paths if not path.is_file()]:
            raise BadSource(f"Unknown file {missing[0]}: check the path")

        def trails(path: Path) -> "Iterator[Trail]":
            for number, trail in enumerate(read_clicks(path, report, self.kind or None), 1):
                if number % PROGRESS_ROWS == 0:
                    progress("counting clicks", PROGRESS_ROWS, None)
                yield trail

        ids = (self.request_ids.get(str(path)) or bytes.fromhex(file_digest(path)) for path in paths)
        files = ((content, trails(path)) for content, path in zip(ids, paths, strict=True))
        return ClicksResult(graph.path, add_files(graph, files, report, self.anew), report)

    def failure(self, result: ClicksResult) -> str:
        from cocite.graph.clicks import COUNTED_BEFORE

        why = "No usable click, so nothing was changed: give rows of from<TAB>to<TAB>count, or sessions"
        return "" if result.kept.trails or result.report.skipped[COUNTED_BEFORE] else why
