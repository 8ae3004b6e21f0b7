"""Power loss, simulated: a disk that drops, reorders and tears whatever was not synced.

Each job runs once, while every fsync, rename, unlink, rmdir and mkdir is recorded, with the files and folders as they
are at that time. A crash is made from the record: it needs no other run of the job. Of each folder, the entries that it
had when it was last synced are there. Every later change of an entry is there or not, each by itself. Of each file, the
bytes that it had when it was last synced are there. Later bytes are there, missing, cut, or torn in blocks of 512. A
real disk with a journal is kinder.

After each crash the store must be complete: all old, or all new; and new if the command had ended.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import random
import re
import stat
import tempfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.faults.dying import finished, fork, in_child
from tests.faults.jobs import Content, Job, jobs, trial

CALLS = ("fsync", "rename", "replace", "unlink", "rmdir", "mkdir")
BLOCK_BYTES = 512
MEMORY = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
LITTER = re.compile(r"(^|/)(work-\d+(/|$)|lock$|\.[^/]*$|CURRENT\.new$)")
Tree = dict[str, bytes]


class State(NamedTuple):
    """A disk at one time, by the numbers of its files and folders."""

    folders: dict[int, dict[str, int]]
    files: dict[int, str]  # digests of contents


class Record(NamedTuple):
    """What a job did: a state before each call, and the last one; and what each call has synced, or None."""

    root: int
    states: list[State]
    synced: list[int | None]
    contents: dict[str, bytes]


class Recorder:
    """Notes the state of a folder before each call that makes something durable or visible."""

    def __init__(self, root: Path) -> None:
        self.root, self.record = root, Record(root.stat().st_ino, [], [], {})
        self._known: dict[tuple[int, int, int], str] = {}

    def note(self, synced: int | None = None) -> None:
        """A call begins."""
        self.record.states.append(self._scan())
        self.record.synced.append(synced)

    def _scan(self) -> State:
        state = State({}, {})
        waiting = [self.root]
        while waiting:
            folder = waiting.pop()
            entries = state.folders.setdefault(folder.stat().st_ino, {})
            for entry in os.scandir(folder):
                about = entry.stat(follow_symlinks=False)
                entries[entry.name] = about.st_ino
                if stat.S_ISDIR(about.st_mode):
                    waiting.append(Path(entry.path))
                else:
                    state.files[about.st_ino] = self._digest(Path(entry.path), about)
        return state

    def _digest(self, file: Path, about: os.stat_result) -> str:
        key = about.st_ino, about.st_mtime_ns, about.st_size
        if key not in self._known:
            data = file.read_bytes()
            self._known[key] = name = hashlib.blake2b(data, digest_size=8).hexdigest()
            self.record.contents[name] = data
        return self._known[key]

    def install(self) -> None:
        """Note every call from now on."""
        for name in CALLS:
            call = getattr(os, name)

            def noted(*args: Any, call: Callable[..., Any] = call, name: str = name, **options: Any) -> Any:
                if options.get("dir_fd") is None:  # else a folder is being removed: the next state shows it
                    self.note(os.fstat(args[0]).st_ino if name == "fsync" else None)
                return call(*args, **options)

            setattr(os, name, noted)


def recorded(work: Callable[[], object], root: Path) -> Record:
    """Run a job to its end in a process of its own, and return what it did."""
    with tempfile.NamedTemporaryFile() as note:

        def run() -> None:
            recorder = Recorder(root)
            recorder.note()
            recorder.install()
            try:
                work()
            except SystemExit as end:
                if end.code:
                    raise
            recorder.note()
            Path(note.name).write_bytes(pickle.dumps(recorder.record))

        code = finished(fork(run))
        assert code == 0, f"it ended with {code} though the power was on"
        record: Record = pickle.loads(Path(note.name).read_bytes())
    return record


class Disk:
    """What is durable after each call of a record."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.last_sync: list[dict[int, int]] = []  # after each call: when each file and folder was last synced
        known: dict[int, int] = {}
        first = record.states[0]
        for inode in (*first.folders, *first.files):
            known[inode] = 0  # the disk was quiet before
        for number, inode in enumerate(record.synced):
            if inode is not None:
                known = {**known, inode: number}
            self.last_sync.append(known)
        self._folders = changes_of([state.folders for state in record.states])
        self._files = changes_of([state.files for state in record.states])

    def __len__(self) -> int:
        return len(self.record.states)

    def crash(self, at: int, dice: random.Random) -> Tree:
        """The files after the power failed, after call `at` and before the next one."""
        last = min(at + 1, len(self) - 1)
        keep = dice.choice([0.0, 0.3, 0.7, 1.0])  # the probability that something unsynced is there
        tree: Tree = {}
        self._fill(tree, "", self.record.root, at, last, keep, dice)
        return tree

    def _fill(self, tree: Tree, path: str, folder: int, at: int, last: int, keep: float, dice: random.Random) -> None:
        since = self.last_sync[at].get(folder)
        views = values_between(self._folders[folder], since or 0, last)
        if since is None:
            views = [{}, *views]
        for name in sorted({name for view in views for name in view}):
            history = list(dict.fromkeys(view.get(name) for view in views))
            inode = history[0] if len(history) == 1 or dice.random() >= keep else dice.choice(history[1:])
            if inode is None:
                continue
            place = f"{path}{name}"
            if inode in self._folders and self._folders[inode][0][0] <= last:
                tree[f"{place}/"] = b""
                self._fill(tree, f"{place}/", inode, at, last, keep, dice)
            else:
                tree[place] = self._content(inode, at, last, keep, dice)

    def _content(self, inode: int, at: int, last: int, keep: float, dice: random.Random) -> bytes:
        record, since = self.record, self.last_sync[at].get(inode)
        names = values_between(self._files.get(inode, []), since or 0, last)
        durable = record.contents[names[0]] if since is not None and names else b""
        newest = record.contents[names[-1]] if names else b""
        if durable == newest or dice.random() >= keep:
            return durable
        kind = dice.randrange(3)
        if kind == 0:
            return newest
        if kind == 1:
            return newest[: dice.randrange(len(newest) + 1)]
        return torn(durable, newest, dice)


Changes = list[tuple[int, Any]]
"""(number of a state, value from then on); None: it is not there."""


def changes_of(states: list[dict[int, Any]]) -> dict[int, Changes]:
    """The changes of each file, or of each folder: a crash looks at a few of them instead of all states."""
    found: dict[int, Changes] = {}
    for number, (before, now) in enumerate(zip([{}, *states], states, strict=False)):
        for inode in before.keys() | now.keys():
            if before.get(inode) != now.get(inode):
                found.setdefault(inode, []).append((number, now.get(inode)))
    return found


def values_between(changes: Changes, start: int, end: int) -> list[Any]:
    """The values from one state to another, without those that are None."""
    first = max(bisect_right(changes, start, key=lambda change: change[0]) - 1, 0)
    return [value for number, value in changes[first:] if number <= end and value is not None]


def torn(old: bytes, new: bytes, dice: random.Random) -> bytes:
    """Each block is the old one, the new one, or zeros."""
    blocks = []
    for start in range(0, len(new), BLOCK_BYTES):
        block = new[start : start + BLOCK_BYTES]
        before = old[start : start + len(block)].ljust(len(block), b"\0")
        blocks.append(dice.choice([block, before, bytes(len(block))]))
    return b"".join(blocks)


def write(tree: Tree, folder: Path) -> None:
    """Put files where they can be opened."""
    for name, data in tree.items():
        place = folder / name
        if name.endswith("/"):
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)


def reachable(tree: Tree) -> str:
    """A digest of what anybody reads: no locks, no unfinished work; generations, layers and side data if named."""
    digest = hashlib.blake2b()
    for name in sorted(tree):
        if LITTER.search(name):
            continue
        parts = name.split("/")
        for depth, part in enumerate(parts):
            above = "/".join(parts[:depth])
            names = tree.get(f"{above}/CURRENT", b"") if re.fullmatch(r"g\d{6,}(-\d{6,}\.layer)?", part) else None
            if side := re.fullmatch(r"([a-z0-9_]+)-[0-9a-f]{8}", part):
                names = tree.get(f"{above}/{side[1]}.json", b"")
            if names is not None and part.encode() not in names:
                break
        else:
            digest.update(f"{name} {len(tree[name])} ".encode() + tree[name])
    return digest.hexdigest()


class PowerTrial:
    """One job, recorded, and the states that it may leave."""

    def __init__(self, job: Job, model: Path) -> None:
        self.job, self.model = job, model
        with trial(model) as place:
            self.old = job.before(place)
            self.disk = Disk(recorded(job.work(place), place))
            self.new = job.before(place)
        self._verdicts: dict[tuple[str, bool], str] = {}

    def crashes(self, count: int, seed: int) -> Counter[str]:
        """Crash so often, at all calls in turn; returns how often the store was old or new. Raises AssertionError."""
        kept: Counter[str] = Counter()
        for number in range(count):
            dice = random.Random(f"{self.job.name} {seed} {number}")
            at = number % len(self.disk) if number % 4 else len(self.disk) - 1  # a quarter after the end
            tree = self.disk.crash(at, dice)
            key = reachable(tree), at == len(self.disk) - 1
            if key not in self._verdicts:
                try:
                    self._verdicts[key] = self._verdict(tree, key[1])
                except AssertionError as error:
                    call = f"{self.job.name}, seed {seed}, crash {number} after call {at} of {len(self.disk)}"
                    raise AssertionError(f"{call}: {error}") from error
            kept[self._verdicts[key]] += 1
        return kept

    def _verdict(self, tree: Tree, ended: bool) -> str:
        with tempfile.TemporaryDirectory(prefix="power-", dir=MEMORY) as folder:
            place = Path(folder) / "place"
            place.mkdir()
            write(tree, place)
            content: Content = in_child(lambda: self.job.look(place))
            kept = self.job.kept(content, self.old, self.new)
            wrong = in_child(lambda: [each for each in self.job.so_far(place) if each not in self.new["content"]])
        assert not wrong, f"a part that is there is not right: {wrong[0]}"
        assert not ended or kept == "new", "the command had ended, and its result is lost"
        return kept

    @property
    def distinct(self) -> int:
        """How many states were different."""
        return len(self._verdicts)


class Lost(NamedTuple):
    """One line of the log."""

    job: str
    crashes: int
    calls: int
    distinct_states: int
    old_state_after: int
    new_state_after: int


def lose_power(model: Path, names: list[str], crashes: int, seed: int) -> Iterator[Lost | str]:
    """Crash every chosen job, so often in all; texts say what was lost."""
    chosen = [job for job in jobs() if not names or job.name in names]
    for job in chosen:
        tried = PowerTrial(job, model)
        try:
            kept = tried.crashes(-(-crashes // len(chosen)), seed)
        except AssertionError as error:
            yield str(error)
            continue
        yield Lost(job.name, kept.total(), len(tried.disk), tried.distinct, kept["old"], kept["new"])
