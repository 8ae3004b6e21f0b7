"""Progress of a long command on standard error: a live display on a terminal, elsewhere one line per finished stage."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from cocite.cli.terminal import Screen, rate, seconds, size
from cocite.text import count

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

HEARTBEAT_SECONDS = 30.0  # time between two lines about the same stage, without a terminal
STAGE_UNITS = {
    "checksum": "byte", "copying": "byte", "downloading": "byte", "reading links": "list", "parents": "page",
    "asking": "question", "pages": "page", "names": "name", "texts": "text", "clicks": "click",
    "captures": "capture",
}  # fmt: skip
"""What stages with these words count; others count links."""


def unit(stage: str) -> str:
    """What a stage counts."""
    return next((what for words, what in STAGE_UNITS.items() if words in stage), "link")


def amount(stage: str, done: int) -> str:
    """How much of a stage is done."""
    return size(done) if unit(stage) == "byte" else count(done, unit(stage))


class Stages(AbstractContextManager["Stages"]):
    """Counts the stages of a command, and shows nothing."""

    def __init__(self) -> None:
        self.stage, self.done, self.began = "", 0, time.monotonic()
        self.total: int | None = None

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self.finish()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Count `done` more units of a stage; `total` is all of them, if known."""
        if stage != self.stage:
            self.finish()
            self.stage, self.done, self.began = stage, 0, time.monotonic()
        self.done, self.total = self.done + done, total
        self.show()

    def say(self, message: str) -> None:
        """Print a message."""

    def compile(self, kernel: str) -> None:
        """A kernel is being compiled, here or in a process that this one waits for."""

    def show(self) -> None:
        """More of the stage is done."""

    def finish(self) -> None:
        """The stage, if there is one, has ended."""


class Lines(Stages):
    """A line for every stage when it ends, and once in a while if it takes long."""

    def __init__(self, screen: Screen) -> None:
        super().__init__()
        self.say = screen.line  # type: ignore[assignment]
        self._last_line = time.monotonic()

    def show(self) -> None:
        """Print a line if the last one was long ago."""
        if time.monotonic() - self._last_line > HEARTBEAT_SECONDS:
            self._print("so far")

    def finish(self) -> None:
        """Print what was done."""
        if self.stage and self.done:
            self._print(seconds(time.monotonic() - self.began))

    def _print(self, when: str) -> None:
        self.say(f"{self.stage}: {amount(self.stage, self.done)}, {when}")
        self._last_line = time.monotonic()


class Live(Stages):
    """A row per stage with a progress bar; disappears when the command ends."""

    def __init__(self, screen: Screen) -> None:
        super().__init__()
        self._screen = screen
        self._task: TaskID | None = None  # of the stage
        self._compiling: TaskID | None = None

    @cached_property
    def _progress(self) -> "Progress":
        """Rich's display, which begins when there is something to show: most commands have nothing."""
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.table import Column

        progress = Progress(
            SpinnerColumn(finished_text="✓", style="cyan"),
            TextColumn("{task.description}", markup=False, table_column=Column(min_width=18, no_wrap=True)),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[amount]}", justify="right", markup=False),
            TextColumn("{task.fields[speed]}", style="dim", justify="right", markup=False),
            TimeElapsedColumn(), console=self._screen.console, transient=True, refresh_per_second=8,
        )  # fmt: skip
        progress.start()
        return progress

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if "_progress" in vars(self):
            self._progress.stop()

    def say(self, message: str) -> None:
        """Print a message above the rows."""
        from rich.text import Text

        self._progress.console.print(Text(message, "yellow"), soft_wrap=True)

    def compile(self, kernel: str) -> None:
        """Name the kernel in a row of its own."""
        if self._compiling is None:
            self._compiling = self._progress.add_task("compiling", total=None, amount="", speed="")
        self._progress.update(self._compiling, amount=kernel)

    def show(self) -> None:
        """Move the row of the stage, or add it."""
        if self._task is None:
            self._task = self._progress.add_task(self.stage, total=None, amount="", speed="")
        took = time.monotonic() - self.began
        speed = self.done / took if took > 1 else 0
        shown = f"{size(speed) if unit(self.stage) == 'byte' else rate(speed)}/s" if speed else ""
        done = amount(self.stage, self.done)
        self._progress.update(self._task, completed=self.done, total=self.total, amount=done, speed=shown)

    def finish(self) -> None:
        """Fill the row."""
        if self._task is not None:
            self._progress.update(self._task, completed=max(1, self.done), total=max(1, self.done))
            self._task = None


@contextmanager
def display(quiet: bool = False, compiling: Callable[[], object] = lambda: None) -> Iterator[Stages]:
    """The display that suits standard error. When kernels have to be compiled, it says so and calls `compiling`."""
    from cocite.kernels import jit

    screen = Screen(stderr=True)
    stages = Stages() if quiet else Live(screen) if screen.live else Lines(screen)
    first = threading.Lock()  # several threads may reach kernels that aren't compiled yet

    def started(kernel: str) -> None:
        if first.acquire(blocking=False):
            stages.say(jit.FIRST_RUN_NOTE)
            compiling()
        stages.compile(kernel)

    with stages, jit.watch(started):
        yield stages
