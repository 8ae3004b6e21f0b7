"""Everything works without the modules and functions that only Unix has. No Windows machine was at hand: a stand-in."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cocite import system
from tests.conftest import ROOT, long

WINDOWS = """
import asyncio, os, pkgutil, signal, socket, sys, types
import duckdb, fastapi, mcp, numba, numpy, pyarrow.parquet, scipy.sparse, tantivy, uvicorn
import uvicorn.protocols.http.httptools_impl
locked = []
stand_in = types.ModuleType("msvcrt")
stand_in.LK_LOCK, stand_in.LK_NBLCK = 1, 2
stand_in.locking = lambda descriptor, mode, count: locked.append(mode)
sys.modules |= {"fcntl": None, "resource": None, "msvcrt": stand_in}
for name in "fork register_at_fork sched_getaffinity sysconf waitpid".split():
    delattr(os, name)
del signal.SIGHUP, signal.pthread_sigmask

import cocite
from cocite.errors import BadParameter
for each in pkgutil.walk_packages(cocite.__path__, "cocite."):
    if not each.name.startswith(("cocite.spark", "cocite.__main__", "cocite.sample")):
        __import__(each.name)
from cocite.http import run, settings
from cocite.system import machine_bytes, resident_bytes, usable_cores
cocite.build([sys.argv[1]], sys.argv[2])
print(cocite.open(sys.argv[2]).related("b", "cocitation")[0].url, locked)
assert machine_bytes() and usable_cores() and resident_bytes() == 0
try:
    run.serve(settings.Settings(sys.argv[2], workers=2), socket.socket())
except BadParameter as error:
    print(error)
"""


@long
def test_on_windows_every_module_is_imported_and_a_store_is_built_and_asked(tmp_path: Path) -> None:
    (tmp_path / "links.tsv").write_text("a\tb\na\tc\nd\tb\nd\tc\n")
    command = [sys.executable, "-c", WINDOWS, tmp_path / "links.tsv", tmp_path / "web.cocite"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    related, refused = done.stdout.splitlines()
    assert re.fullmatch(r"c \[2(, 1)*\]", related), "the build takes the store's lock, and side data wait for theirs"
    assert refused == "This system can't start several workers: use --workers 1"


def test_a_locked_file_is_locked_for_others(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("a") as mine, (tmp_path / "lock").open("a") as other:
        system.lock_file(mine)
        with pytest.raises(BlockingIOError):
            system.lock_file(other, wait=False)
    with (tmp_path / "lock").open("a") as later:
        system.lock_file(later, wait=False)


def test_memory_is_that_of_this_process_and_machine() -> None:
    assert 1e6 < system.resident_bytes() < system.machine_bytes()
    assert system.usable_cores() >= 1


def test_one_file_imports_what_only_unix_has() -> None:
    pattern = re.compile(r"^\s*(?:import|from) (?:fcntl|resource|termios|pwd|grp|pty|tty)\b", re.MULTILINE)
    files = [file for file in (ROOT / "src").rglob("*.py") if pattern.search(file.read_text("utf-8"))]
    assert sorted(file.name for file in files) == ["parquet_worker.py", "system.py"], "the first goes on without"


def test_a_file_is_replaced_when_the_new_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")
    path.chmod(0o640)
    with pytest.raises(ValueError, match="half"), system.replacing(path) as unfinished:
        unfinished.write_text("ne")
        raise ValueError("half of it")
    assert (path.read_text(), [file.name for file in tmp_path.iterdir()]) == ("old", ["page.html"])
    with system.replacing(path) as unfinished:
        unfinished.write_text("new")
        assert path.read_text() == "old"
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o640)
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


def test_every_new_folder_and_file_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    monkeypatch.setattr(system, "sync_folder", lambda path: synced.append(path.relative_to(tmp_path).as_posix()))
    system.make_folder(tmp_path / "a" / "b")
    system.make_folder(tmp_path / "a" / "b")
    assert sorted(synced) == [".", "a"]
    with system.replacing(tmp_path / "a" / "file", ".part") as unfinished:
        unfinished.write_text("new")
    assert synced[2:] == ["a/.file.part", "a"]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries don't keep freed memory")
def test_freed_memory_goes_back_to_the_system() -> None:
    """Also where something is kept behind it, as an answer in the cache is."""
    program = (
        "from cocite.system import limit_free_memory, release_free_memory, resident_bytes;"
        "limit_free_memory(); kept = [bytes(4000) for _ in range(20_000)]; kept[:-1] = [];"
        "before = resident_bytes(); release_free_memory(); print(before - resident_bytes())"
    )
    freed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert int(freed) > 50_000_000
