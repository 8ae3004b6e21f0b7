"""cocite warm: compile every kernel ahead; cocite study rate: rate results; cocite reproduce: rerun papers' claims."""

import sys
import time
from importlib import import_module
from pathlib import Path

import cocite
from cocite.cli.terminal import Screen, seconds
from cocite.errors import BadParameter
from cocite.operations import shared
from cocite.operations.declare import operation
from cocite.operations.quality.study import study_folder
from cocite.operations.task import Task
from cocite.parameters import parameter


@operation(store=False, json=False)
class Warm(Task):
    """Compile everything now, so that no later command waits for it.

    For more than 20,000 pages and links, cocite compiles its inner loops when they are first used, and caches them.
    This command builds a small made-up store and asks it everything, which compiles all of them: a minute or two. Run
    it after an installation, or while building a container image. NUMBA_CACHE_DIR names another folder for the cache.

    Examples:
        cocite warm
        NUMBA_CACHE_DIR=/var/cache/cocite cocite warm
    """

    shows_itself = True
    quiet: bool = shared.quiet()

    def do(self, progress: object) -> None:
        """Compile, and show which step of how many."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        from cocite.kernels import jit
        from cocite.warm import warm

        screen, began = Screen(stderr=True), time.monotonic()
        bar = Progress(
            TextColumn("Compiling", style="bold"), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
            TextColumn("{task.fields[kernel]}", style="dim", markup=False),
            console=screen.console, transient=True, disable=self.quiet or not screen.live,
        )  # fmt: skip
        with bar, jit.watch(lambda kernel: bar.update(task, kernel=kernel)) as compilation:
            task = bar.add_task("", total=None, kernel="")

            def show(step: str, done: int, total: int) -> None:
                bar.update(task, description=step, completed=done, total=total, kernel="")
                if not self.quiet and not screen.live and done < total:
                    screen.line(f"{done + 1} of {total}: {step}")

            warm(show)
        if not self.quiet:
            screen.line(f"Compiled {compilation.kernels} kernels in {seconds(time.monotonic() - began)}")


@operation(name="study rate", store=False, json=False)
class StudyRate(Task):
    """Rate results in the terminal. Each rating is saved at once; you can stop and continue later.

    Examples:
        cocite study rate trial
        cocite study rate trial --rater anna
    """

    shows_itself = True
    folder: str = study_folder()
    rater: str = parameter("", "Your name, if the study has named raters", metavar="NAME")

    def do(self, progress: object) -> None:
        """Ask for a rating of each result that has none."""
        from cocite.evaluate.study import RATINGS, keep_edited, rater_name, read, read_ratings, sheet_of, write_ratings
        from cocite.sources.records import ReadReport

        found, rater = read(Path(self.folder)), rater_name(self.rater) if self.rater else ""
        sheet, share = sheet_of(Path(self.folder), rater), found.share(rater)
        screen, skips = Screen(), ReadReport()
        ratings = read_ratings(sheet, found, skips) if sheet.exists() else {}
        for reason, times in skips.skipped.items():
            screen.line(f"Skipped: {times:,} × {reason}")
        edited = None
        screen.line(f"Rated {len(ratings)} of {len(share)}. 1: related, 0: not related, x: can't open, q: stop")
        for item in [item for item in share if item.id not in ratings]:
            screen.blank()
            screen.line(("to ", "dim"), (item.query_title or item.query, "bold"), f"  {item.query}")
            screen.line(("is  ", "dim"), (item.title or item.page, "bold"), f"  {item.page}")
            rating = ""
            while rating not in RATINGS:
                try:
                    rating = input("related? 1 / 0 / x / q: ").strip().lower()
                except EOFError:
                    rating = "q"
                if rating == "q":
                    return
            if edited is None and (edited := keep_edited(found, sheet, rater) or Path()).name:
                screen.line(f"The edited sheet is kept as {edited}")
            ratings[item.id] = rating
            write_ratings(found, sheet, ratings, rater)


@operation(store=False, json=False)
class Reproduce(Task):
    """Rerun what the papers claim, and report what holds.

    Without --data, list the claims. Needs a checkout of cocite: run it there. After Ctrl-C, finished claims are still
    shown and written.

    Examples:
        cocite reproduce
        cocite reproduce --data ../shared/data --write reproductions.md
        cocite reproduce zhao --data ../shared/data --figures figures
    """

    shows_itself = True
    paper: str = parameter("", "A paper or one claim; default: all", metavar="PAPER", positional=True)
    data: str = parameter("", "The collections: awesome/, wikispeedia/, citations/ …", metavar="FOLDER")
    stores: str = parameter("", "Keep and reuse built stores here", metavar="FOLDER")
    write: str = parameter("", "Also write the outcome as Markdown", metavar="FILE")
    figures: str = parameter("", "Draw precision, recall and F of zhao here, as SVG", metavar="FOLDER")
    json: bool = parameter(False, "Print one JSON object instead")

    def do(self, progress: object) -> None:
        """Run the experiments of the checkout."""
        checkout = find_checkout()
        if checkout is None:
            raise BadParameter(
                "The papers' experiments are not in this package; run cocite reproduce in a checkout of cocite"
            )
        if str(checkout) not in sys.path:
            sys.path.insert(0, str(checkout))
        given = (self.data, self.stores, self.write, self.figures)
        places = [Path(each) if each else None for each in given]
        import_module("research.reproduce.command").reproduce(self.paper, *places, self.json)


def find_checkout() -> Path | None:
    """The folder with research/: beside an editable installation, or the current one."""
    folders = (Path(cocite.__file__).parents[2], Path.cwd())
    return next((each for each in folders if (each / "research" / "reproduce" / "claims.toml").is_file()), None)
