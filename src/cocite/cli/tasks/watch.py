"""cocite watch: keep a store current with a folder of notes, or with the output of a documentation tool."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cocite.cli.failures import complain
from cocite.cli.terminal import Screen, seconds
from cocite.errors import BadParameter, BadSource, BadStore
from cocite.operations.declare import operation
from cocite.operations.store.build import WorkOptions, kept_before
from cocite.parameters import parameter
from cocite.system import replace_file
from cocite.text import count

if TYPE_CHECKING:
    import pyarrow as pa

    from cocite.graph.build.passes import Built
    from cocite.sources.watched_folder import FolderChanges, WatchedFolder

STATE_SECONDS = 60  # between two saves of what is known; without the latest, some pages are read once more
GROUP_MILLISECONDS, STEP_MILLISECONDS, LOOK_MILLISECONDS = 400, 50, 500


@operation(name="watch", store=False, json=False)
class WatchFolder(WorkOptions):
    """Keep a store current with a folder: a vault of notes, or the output of a documentation tool.

    Builds the store if it isn't there, then adds every change as soon as it is saved: changed pages as a layer, deleted
    ones as pages that are gone. Servers and other commands see it at once. Stop it with Ctrl-C: nothing is lost, and
    changes that are made meanwhile are read at the next start. Needs the extra `watch`.

    Examples:
        cocite watch notes/ --base https://me.example/ -o notes.cocite
        cocite watch site/ --base https://docs.example/ --once
    """

    shows_itself = True
    folder: str = parameter("", "The folder to watch", metavar="FOLDER", positional=True, required=True)
    output: str = parameter("web.cocite", "The store to keep current", metavar="STORE", flags=("--output", "-o"))
    base: str = parameter("", "Base URL for files without addresses, as notes are", metavar="URL")
    kind: str = parameter("", "Kind of the files, if not recognised", metavar="KIND")
    text: bool | None = parameter(
        None, "Keep the texts of pages, and index all words for search (default: as before, else yes)", type=bool,
        flags=("--text/--no-text",),
    )  # fmt: skip
    mentions: bool = parameter(False, "Notes: read names of other notes in a text as weak links")
    once: bool = parameter(False, "Add what has changed since the last time, and end")

    def validate(self) -> None:
        super().validate()
        if not Path(self.folder).is_dir():
            raise BadParameter(f"folder {self.folder} is not a folder: give one with notes or HTML files")
        if Path(self.output).resolve() == Path(self.folder).resolve():
            raise BadParameter(f"output {self.output} is the folder that is watched: choose another place")

    def do(self, progress: object) -> None:
        """Watch until Ctrl-C."""
        screen, watched = Screen(stderr=True), self._restored()
        groups = iter(()) if self.once else changed_files(watched.path)
        try:
            next(groups, None)  # begins to watch: what changes while all is read comes after it
            if Path(self.output).exists():
                self._commit(watched, watched.changes, screen)
            else:
                self._build(watched, screen)
            self._save(watched)
            if not self.once:
                self._say(screen, f"Watching {self.folder}; stop with Ctrl-C")
            self._follow(groups, watched, screen)
        except KeyboardInterrupt:
            pass
        self._save(watched)
        if not self.once:
            self._say(screen, f"Stopped; {self.output} has {count(len(watched.seen), 'page')} of {self.folder}")

    def _follow(self, groups: Iterator[set[Path]], watched: "WatchedFolder", screen: Screen) -> None:
        saved = time.monotonic()
        for files in groups:
            if files:
                self._commit(watched, lambda files=files: watched.changes_of(files), screen)  # type: ignore[misc]
            if time.monotonic() - saved > STATE_SECONDS:
                self._save(watched)
                saved = time.monotonic()

    def _build(self, watched: "WatchedFolder", screen: Screen) -> None:
        """Make the store."""
        from cocite.graph.build.passes import build

        began = time.monotonic()
        self._write(build, watched, watched.all_records)
        took = seconds(time.monotonic() - began)
        self._say(screen, f"Built {self.output}: {count(len(watched.seen), 'page')} ({took})")

    def _commit(self, watched: "WatchedFolder", read: "Callable[[], FolderChanges]", screen: Screen) -> None:
        """Add what changed. What can't be read or written now is reported, and tried again with the next change."""
        from cocite.graph.build.maintain import add

        began = time.monotonic()
        try:
            changes = read()
            if changes:
                self._write(add, watched, lambda: iter(changes.records))
        except (BadSource, BadStore, OSError) as error:
            if self.once:
                raise
            complain(f"{error}; trying again with the next change")
            return
        watched.keep(changes)
        if changes:
            gone = f", {changes.gone:,} gone" if changes.gone else ""
            took = seconds(time.monotonic() - began)
            self._say(screen, f"{datetime.now():%H:%M:%S} {count(changes.changed, 'page')} read{gone} ({took})")

    def _write(
        self, work: "Callable[..., Built]", watched: "WatchedFolder", records: "Callable[[], Iterator[pa.RecordBatch]]"
    ) -> None:
        from cocite.graph.generation import no_progress
        from cocite.sources.open_source import Source

        source = Source(self.folder, "folder", 0, watched.report, records, watched.text)
        said = ({"base": self.base} if self.base else {}) | ({"mentions": ""} if self.mentions else {})
        options = self.build_options(said, anchors=self._keeps("anchors"), text=self._keeps("text"))
        write = partial(work, [source], Path(self.output), watched.report, options, no_progress)
        result = self.carried_out(write, options, no_progress)
        if result.warning:
            complain(result.warning)

    def _keeps(self, name: str) -> bool:
        """Whether texts are kept: as asked for, or as before."""
        if name == "text" and self.text is not None:
            return self.text
        return kept_before(self.output, self.platforms)[name] if Path(self.output).exists() else True

    def _say(self, screen: Screen, line: str) -> None:
        if not self.quiet:
            screen.line(line)

    @property
    def _state(self) -> Path:
        """The file with a hash of each page, beside the store: without it, all pages are added again."""
        store = Path(self.output)
        return store.with_name(f"{store.name}.watch.json")

    def _restored(self) -> "WatchedFolder":
        from cocite.sources.watched_folder import WatchedFolder

        given = self.base or None, self.kind or None, self._keeps("text"), self.mentions
        watched = WatchedFolder(Path(self.folder).absolute(), *given)
        if Path(self.output).exists():
            with suppress(OSError, ValueError):
                watched.restore(json.loads(self._state.read_bytes()))
        return watched

    def _save(self, watched: "WatchedFolder") -> None:
        replace_file(self._state, json.dumps(watched.state()))


def changed_files(folder: Path) -> Iterator[set[Path]]:
    """Yield the files that have changed, in groups, or nothing twice a second, until Ctrl-C."""
    try:
        from watchfiles import watch
    except ImportError as error:
        raise BadParameter("Watching needs the extra watch: pip install 'cocite[watch]'; or use --once") from error
    groups = watch(
        folder, watch_filter=None, debounce=GROUP_MILLISECONDS, step=STEP_MILLISECONDS, rust_timeout=LOOK_MILLISECONDS,
        yield_on_timeout=True, raise_interrupt=True,
    )  # fmt: skip
    for group in groups:
        yield {Path(path) for _, path in group}
