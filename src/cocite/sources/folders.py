"""Walk the files of a folder, and name them by address."""

import errno
import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from cocite.errors import BadSource
from cocite.sources.records import UNREADABLE_FOLDER, ReadReport, shorten

_PARQUET_SUFFIX = ".parquet"
TEMPORARY = "_temporary"  # Spark and Hadoop write here until all files are complete
WORK = "_work"  # `cocite spark` keeps its steps here until it is done
PLAN = f"{WORK}/plan.json"  # the options of a running `cocite spark` job
PAGES_DONE = "_pages.json"  # written by `cocite spark pages` when it is done

_WEB_ADDRESS = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_STORE_POINTER = re.compile(rb"g[0-9]{6,} [0-9a-f]{32}\n")  # see graph/FORMAT.md
_PARTITION = re.compile(r"\w+=")  # a folder that holds one value of a column
_MARKDOWN_NOTE = re.compile(r"_.*\.(?:md|markdown|mdown|mkd)", re.IGNORECASE)  # Hugo's _index.md is a page


def walk_files(folder: Path, report: ReadReport | None = None) -> Iterator[Path]:
    """Yield the regular files of a folder and its subfolders, as `walk_names` does."""
    return (folder / name for name in walk_names(folder, report))


def walk_names(folder: Path, report: ReadReport | None = None) -> Iterator[str]:
    """Yield the paths of a folder's regular files, from that folder on: sorted, without hidden files and stores.

    Links to folders aren't followed. Where Spark or Hive has written, names that begin with _ are hidden too, and so is
    Parquet below such names. Elsewhere they are not: documentation tools write pages into `_modules`. An unfinished
    folder raises BadSource. A folder that can't be listed is skipped and counted in the report;
    without a report, it is skipped if it may not be listed, else OSError is raised.
    """
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        below = waiting.pop()
        here = folder.joinpath(*below)
        folders, names = list_folder(here, report)
        if is_unfinished(here, folders, names):
            raise unfinished_folder(str(here))
        is_table = (
            "_SUCCESS" in names
            or any(name.endswith(_PARQUET_SUFFIX) for name in names)
            or any(_PARTITION.match(name) for name in folders)
        )
        hidden = (".", "_") if is_table else (".",)
        skip_parquet = any(part.startswith("_") for part in below)
        for name in sorted(names):
            if name.startswith(hidden) and not _MARKDOWN_NOTE.fullmatch(name):
                continue
            if names[name] and not (skip_parquet and name.endswith(_PARQUET_SUFFIX)):
                yield "/".join((*below, name))
        inside = (name for name, is_link in folders.items() if not is_link and not name.startswith(hidden))
        waiting += [(*below, name) for name in sorted(inside, reverse=True) if not is_store(here / name)]


def list_folder(folder: Path, report: ReadReport | None = None) -> tuple[dict[str, bool], dict[str, bool]]:
    """The folders in a folder, and whether each is a link; the other names, and whether each is a regular file."""
    folders, names = dict[str, bool](), dict[str, bool]()
    with _listed(folder, report) as entries:
        for entry in entries:
            try:
                if entry.is_dir():
                    folders[entry.name] = entry.is_symlink()
                else:
                    names[entry.name] = entry.is_file()
            except OSError:  # a link to itself
                names[entry.name] = False
    return folders, names


@contextmanager
def _listed(folder: Path, report: ReadReport | None) -> Iterator[Iterable[os.DirEntry[str]]]:
    try:
        entries = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):  # it is gone meanwhile
        yield ()
        return
    except OSError as error:
        if report is not None:
            report.skip(UNREADABLE_FOLDER, str(error))
        elif error.errno not in (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG):  # as long as it stays as it is
            raise
        yield ()
        return
    with entries:
        yield entries


def is_unfinished(place: Path, folders: Collection[str], names: Collection[str]) -> bool:
    """Return whether a job is still writing a folder with these folders and files, or was stopped while writing it."""
    return TEMPORARY in folders or (WORK in folders and PAGES_DONE not in names and (place / PLAN).is_file())


def unfinished_folder(place: str) -> BadSource:
    """Return the error for an unfinished folder."""
    return BadSource(f"{place} is incomplete: wait for the job that writes it, or run that job again")


def is_store(folder: Path) -> bool:
    """Return whether a folder is a cocite store: it has the file that names the current generation."""
    pointer = folder / "CURRENT"
    try:
        if not pointer.is_file():  # reading a pipe of that name would block
            return False
        with pointer.open("rb") as file:
            return _STORE_POINTER.fullmatch(file.read(100)) is not None
    except OSError:
        return False


def checked_base(base: str) -> str:
    """Return a base address without the white space around it. Raise BadSource if it is not a web address."""
    if not _WEB_ADDRESS.match(base.strip()):
        raise BadSource(f"Invalid --base {shorten(base)!r}: give a web address such as https://example.org/notes/")
    return base.strip()


def address_of_file(base: str, path: Path, file: Path) -> str:
    """Return the address of a file in the folder `path`, or of the file `path` itself, which may be `base`."""
    if path.is_dir():
        return address_under(base, path, file)
    return address_under(base, path.parent, file) if base.endswith("/") else base


def address_under(base: str, folder: Path, path: Path) -> str:
    """Return the address of a file in a folder whose address is `base`."""
    return base.rstrip("/") + "/" + quote(os.fsencode(path.relative_to(folder).as_posix()))
