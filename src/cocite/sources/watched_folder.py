"""A folder whose pages are compared with what they were: only those that changed are given, and those that are gone.

Notes are read one by one: a changed note, and the notes whose links lead elsewhere because a note was added, renamed or
deleted. Of other files, as a documentation tool writes them, the whole folder is read, and its pages are compared.

A page that is gone becomes a record with the status 410. Removing it from the store would keep it out for good.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from cocite.errors import BadSource
from cocite.sources.arrow_batches import merge_small_batches
from cocite.sources.collections.markdown import MARKDOWN_SUFFIXES, note_address
from cocite.sources.collections.markdown import SOURCE as MARKDOWN
from cocite.sources.folders import address_under, is_store, walk_files
from cocite.sources.kinds import ReadOptions, SourceFolder, is_never_source, kind_of
from cocite.sources.open_source import open_source
from cocite.sources.records import Page, ReadReport, batches
from cocite.sources.wikis.notes import WIKI_LINK, Notes, mention

GONE_STATUS = 410
STATE_VERSION = 1


class FolderChanges(NamedTuple):
    """What changed in a folder."""

    records: list[pa.RecordBatch]  # of changed pages and pages that are gone
    changed: int
    gone: int
    seen: dict[str, str]  # what is known of pages after these changes

    def __bool__(self) -> bool:
        return bool(self.records)


class WatchedFolder:
    """A folder, and a hash of each record that the store has of it, by address."""

    def __init__(
        self, path: Path, base: str | None, kind: str | None, text: bool, reads_mentions: bool = False
    ) -> None:
        """With `reads_mentions`, names of notes in the texts of others are links."""
        self.path, self.base, self.kind, self.text, self.reads_mentions = path, base, kind, text, reads_mentions
        self.seen: dict[str, str] = {}
        self.files: dict[str, str] = {}  # the address of each note, by path
        self.folder = SourceFolder(path)
        self.mentions: dict[str, set[str]] = {}  # the notes that have a link with this name
        self.report = ReadReport()
        self.unsaved = False  # changes were found that may not be stored: all files are read again

    def changes(self) -> FolderChanges:
        """What differs from the store, after reading all files."""
        self.unsaved = True
        seen: dict[str, str] = {}
        found = list(self._changed(self._records(), seen))
        self._find_notes()
        return self._with_gone(found, [url for url in self.seen if url not in seen], seen)

    def all_records(self) -> Iterator[pa.RecordBatch]:
        """Everything, for a new store."""
        seen, self.seen = dict[str, str](), {}
        yield from self._changed(self._records(), seen)
        self.seen = seen
        self._find_notes()

    def _records(self) -> Iterator[pa.RecordBatch]:
        self.report, self.folder = ReadReport(), SourceFolder(self.path)
        given: dict[str, Any] = {"base": self.base, "kind": self.kind, "mentions": self.reads_mentions}
        return open_source(str(self.path), self.report, text=self.text, **given).records()

    def changes_of(self, files: Iterable[Path]) -> FolderChanges:
        """What differs because some files changed. A folder that was moved counts as all files in it."""
        paths = {path for file in files for path in self._affected(file)}
        only_notes = all(path.lower().endswith(MARKDOWN_SUFFIXES) for path in paths)
        if self.unsaved or not only_notes or self.kind not in (None, "markdown"):
            return self.changes()
        self.unsaved = True
        self.report = ReadReport()
        renamed = self.folder.know(Notes).renew(paths)
        if renamed and self.reads_mentions:  # any note may have the name in its text
            return self.changes()
        again = paths.union(*(self.mentions.get(name, set()) for name in renamed))
        before = {self.files.pop(path) for path in again if path in self.files}
        pages = [page for path in sorted(again) if self._has(path) for page in self._read_note(path)]
        seen = dict(self.seen)
        found = list(self._changed(merge_small_batches(iter(pages), self.text), seen))
        gone = sorted(url for url in before - {page.url for page in pages} if seen.pop(url, ""))
        return self._with_gone(found, gone, seen)

    def _has(self, path: str) -> bool:
        """Whether a file is there, and has content: an empty one isn't a page."""
        file = self.path / path
        return file.is_file() and file.stat().st_size > 0

    def keep(self, changes: FolderChanges) -> None:
        """Note that changes are in the store."""
        self.seen, self.unsaved = changes.seen, False

    def _with_gone(self, found: list[pa.RecordBatch], gone: list[str], seen: dict[str, str]) -> FolderChanges:
        changed = sum(batch.num_rows for batch in found)
        found += batches(Page(url, status=GONE_STATUS) for url in gone)
        return FolderChanges(found, changed, len(gone), seen)

    def _changed(self, records: Iterable[pa.RecordBatch], seen: dict[str, str]) -> Iterator[pa.RecordBatch]:
        """Batches with the records that are new or differ; `seen` gets the hashes of all."""
        for batch in records:
            rows, differs = batch.to_pylist(), []
            for row in rows:
                if row["partial"]:
                    raise BadSource(f"{self.path} has edge lists, which cocite can't watch: use cocite build")
                digest = hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()[:20]
                differs.append(self.seen.get(row["url"]) != digest)
                seen[row["url"]] = digest
            if any(differs):
                yield batch.filter(pa.array(differs))

    def _affected(self, file: Path) -> Iterator[str]:
        """The paths of the files that a change is about: none if the folder doesn't have the file, or hides it."""
        try:
            inside = file.relative_to(self.path)
        except ValueError:
            return
        path = inside.as_posix()
        if any(part.startswith(".") for part in inside.parts) or any(map(is_store, [file, *file.parents])):
            return
        if file.is_dir():
            yield from (each.relative_to(self.path).as_posix() for each in walk_files(file))
        elif file.is_file():
            if path.lower().endswith(MARKDOWN_SUFFIXES) or kind_of(file) is not None:
                yield path
        elif within := [each for each in self.files if each.startswith(f"{path}/")]:
            yield from within
        elif path in self.files or not is_never_source(path):
            yield path

    def _find_notes(self) -> None:
        """Read all notes for their addresses and the names in their links."""
        self.mentions, self.files = {}, {}
        self.folder.know(Notes)  # as they are now: a later change is compared with them
        for file in walk_files(self.path):
            path = file.relative_to(self.path).as_posix()
            if path.lower().endswith(MARKDOWN_SUFFIXES):
                try:
                    text = file.read_text("utf-8", "replace")
                except OSError:  # the report of its records has it
                    continue
                if not text:
                    continue
                self._mention(path, text)
                base = None if self.base is None else address_under(self.base, self.path, file)
                self.files[path] = note_address(text, base)

    def _mention(self, path: str, text: str) -> None:
        for link in WIKI_LINK.findall(text):
            self.mentions.setdefault(mention(link[0]), set()).add(path)

    def _read_note(self, path: str) -> Iterator[Page]:
        """Read a note. One that can't be read, such as one that is just being written, is counted."""
        file = self.path / path
        base = None if self.base is None else address_under(self.base, self.path, file)
        try:
            self._mention(path, file.read_text("utf-8", "replace"))
            for page in MARKDOWN.read(
                file, self.report, ReadOptions(base, self.text, mentions=self.reads_mentions, folder=self.folder)
            ):
                assert isinstance(page, Page)
                self.files[path] = page.url
                yield page
        except (BadSource, OSError) as error:
            self.report.skip("file that can't be read", str(error))

    def state(self) -> dict[str, Any]:
        """The hashes of all records, to be written to a file."""
        state = {"version": STATE_VERSION, "folder": str(self.path.resolve()), "base": self.base, "seen": self.seen}
        return state | {"mentions": True} if self.reads_mentions else state

    def restore(self, state: object) -> bool:
        """Take over what an earlier watch knew. Return False if it was about something else."""
        given = state if isinstance(state, dict) else {}
        seen = given.get("seen")
        own = {name: value for name, value in self.state().items() if name != "seen"}
        if not isinstance(seen, dict) or any(given.get(name) != own.get(name) for name in {*own, *given} - {"seen"}):
            return False
        self.seen = {str(url): str(digest) for url, digest in seen.items()}
        return True
