"""The process of a server that writes to its store: a commit is mostly Python, and would hold up all answers.

It has a low priority, so questions go first. It starts with the server, and commits to a store of its own first: that
loads what a commit needs. It ends when the server does: then nothing comes from its standard input any more. A commit
that is under way is finished before, but not one for practice.
"""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import cocite
from cocite.errors import BadSource, BadStore, CociteError
from cocite.graph.generation import no_progress

STARTING = "from cocite.http.writer import main; main(practises=True)"
PRIORITY = 19
"""With 10, the threads that answer waited twice as long for a processor in one of ten cases; a commit mostly sleeps."""
Counts = dict[str, Any]
"""What was sent: how many pages or clicks, and what was skipped."""


class StoreWriter:
    """Commits to a store in a process of its own, one at a time."""

    def __init__(self, store: Path) -> None:
        self._store, self._lock = store, threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        """The process; starts it unless it runs."""
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-c", STARTING]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self._process

    def commit(self, kind: str, items: Sequence[str], request_ids: dict[str, bytes]) -> "list[Counts | CociteError]":
        """Write items of one kind; returns when they are on disk. See `commit`."""
        with self._lock:
            process = self.start()
            sent, answers = process.stdin, process.stdout
            assert sent is not None and answers is not None
            try:
                pickle.dump((self._store, kind, list(items), request_ids), sent)
                sent.flush()
                outcomes, error = pickle.load(answers)
            except (OSError, EOFError, pickle.UnpicklingError) as broken:
                code = process.wait()
                raise BadStore(f"the process that writes to {self._store} died ({code}): send it again") from broken
        if error is not None:
            raise error
        found: list[Counts | CociteError] = outcomes
        return found

    def close(self) -> None:
        """End the process, when it has finished."""
        if self._process is not None and self._process.stdin is not None and self._process.stdout is not None:
            with suppress(OSError):
                self._process.stdin.close()
            self._process.stdout.close()


def commit(store: Path, kind: str, items: Sequence[str], request_ids: dict[str, bytes]) -> "list[Counts | CociteError]":
    """Write items of one kind to a store, by the operation of the command line. Raises a CociteError.

    Returns what each of them has, or why it can't be used: it is counted here, since that takes Python as long as a
    question does.
    """
    from cocite.operations.store.build import Add, Remove
    from cocite.operations.store.clicks import CountClicks

    given: dict[str, Any] = {"index": str(store), "quiet": True}
    outcomes = [counted(kind, item) for item in items]
    usable = tuple(item for item, has in zip(items, outcomes, strict=True) if not isinstance(has, CociteError))
    if not usable:
        return outcomes
    if kind == "pages":
        Add(sources=usable, kind="records", sent=True, **given).do(no_progress)
    elif kind == "removals":
        Remove(urls=usable, **given).do(no_progress)
    else:
        CountClicks(files=usable, request_ids=request_ids, **given).do(no_progress)
    return outcomes


def counted(kind: str, item: str) -> "Counts | CociteError":
    """What a file has that was sent, and what was skipped; or why it can't be used."""
    from cocite.sources.clicks import read_clicks
    from cocite.sources.open_source import open_source
    from cocite.sources.records import Page, ReadReport

    report = ReadReport()
    try:
        if kind == "pages":  # not made into batches, as a commit does
            read = open_source(item, report, kind="records").read()
            what, number = "page record", sum(1 if isinstance(each, Page) else len(each) for each in read)
        elif kind == "clicks":
            what, number = "click", sum(1 for _ in read_clicks(Path(item), report))
        else:
            return {}
        if not number:
            why = "; ".join(f"{reason} ({example})" for reason, example in report.example.items())
            raise BadSource(f"No {what} that can be used: {why or 'it is empty'}")
    except CociteError as error:
        return error
    return {kind: number, "skipped": dict(report.skipped)}


def practise() -> None:
    """Commit to a small store: loading modules and kernels takes a second or two, for which the first would wait."""
    with tempfile.TemporaryDirectory(prefix="cocite-practice-") as folder, suppress(Exception):
        store, pages = Path(folder) / "web.cocite", Path(folder) / "pages.jsonl"
        for number in range(3):
            pages.write_text(f'{{"url": "https://a{number}.example/", "links": ["https://b.example/"]}}\n')
            if number:
                commit(store, "pages", [str(pages)], {})
            else:
                cocite.build([pages], store)


def main(practises: bool = False) -> None:
    """Commit what comes from the standard input, until that ends, and say how each went."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    getattr(os, "nice", lambda _: None)(PRIORITY)
    practice = threading.Thread(target=practise, daemon=True)
    if practises:
        practice.start()
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # whatever else is printed would be read as one
        while True:
            try:
                asked = pickle.load(sys.stdin.buffer)
            except EOFError:
                if practice.is_alive():
                    os._exit(0)
                return
            if practises:
                practice.join()
            outcomes, error = list[Counts | CociteError](), cast(Exception | None, None)
            try:
                outcomes = commit(*asked)
            except CociteError as refused:
                error = refused
            except Exception as fault:  # others may be of any shape
                error = RuntimeError(f"{type(fault).__name__}: {fault}")
            with suppress(BrokenPipeError):
                pickle.dump((outcomes, error), answers)
                answers.flush()
