"""How commands fail: exit codes, one line, no traceback; help that is quick; what happens to pipes and Ctrl-C."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cocite import __version__
from cocite.cli import app
from tests.cli.conftest import run

COCITE = [sys.executable, "-c", "from cocite.cli import main; main()"]
COMMANDS: list[str] = [name for name in app.list_commands(None) if name != "help"]


def test_version() -> None:
    assert run("--version").out == f"cocite {__version__}\n"


def test_help_needs_nothing_slow() -> None:
    code = (
        "import sys\n"
        "from cocite.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print(sorted({'numpy', 'numba', 'pyarrow', 'duckdb', 'scrapy'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    assert "Which pages are related to this page?" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_no_command_shows_the_help() -> None:
    ran = run()
    assert ran.code == 0
    assert ran.out == run("--help").out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_that_are_commands(command: str) -> None:
    text = run(command, "--help").out
    examples = re.findall(r"^    cocite (\w+)", text.partition("Examples:")[2], re.MULTILINE)
    assert 1 <= len(examples) <= 3
    assert set(examples) == {command}
    for line in text.splitlines():
        assert len(line) <= 80, "wider than a small terminal"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["fly"], "cocite: No such command 'fly' (see cocite --help)"),
        (["relatd", "a"], "cocite: No such command 'relatd'; did you mean cocite related? (see cocite --help)"),
        (["nytimes.com"], "did you mean cocite related nytimes.com?"),
        (["study", "neww"], "did you mean cocite study new?"),
        (["--fly"], "cocite: No such option '--fly' (see cocite --help)"),
        (["links"], "cocite: Missing argument 'URL' (see cocite links --help)"),
        (["links", "a", "-k", "-1"], "cocite: -k must be a whole number from 0 to 100000, not -1"),
        (["links", "a", "-k", "x"], "cocite: -k must be a whole number from 0 to 100000, not 'x'"),
        (["info", "--json=1"], "Option '--json' does not take a value"),
    ],
)
def test_wrong_use(args: list[str], message: str) -> None:
    ran = run(*args)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "cocite: Interrupted; nothing was changed"),
        (
            OSError(errno.ENOSPC, "No space left on device", "/x/web"),
            2,
            "cocite: /x/web: no space left on device; f",
        ),
        (
            ValueError("An IO error occurred: 'No space left on device (os error 28) at path \"/x/.tmpL\"'"),
            2,
            "cocite: /x/.tmpL: no space left on device; free some space",
        ),
        (OSError("odd"), 2, "cocite: odd"),
        (MemoryError(), 2, "cocite: Out of memory: give a smaller --memory"),
        (ValueError("two\nlines"), 70, "cocite: A bug in cocite (ValueError: two lines): please report it"),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_errors_are_one_line(
    store: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("cocite.graph.generation.read_current", fail)
    ran = run("info", "-i", store)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith(message)
    assert ran.err.count("\n") == bool(message)


def test_debugging_shows_the_traceback(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COCITE_DEBUG", "1")
    ran = run("info", "-i", place / "none")
    assert ran.code == 2
    assert "Traceback (most recent call last)" in ran.err
    assert ran.err.splitlines()[-1].startswith("cocite: no store")


def test_a_closed_pipe_is_not_an_error(store: Path) -> None:
    command = [*COCITE, "info", "-i", str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_interrupted_builds_change_nothing(place: Path) -> None:
    """Ctrl-C while a build waits for its source, a pipe that nobody writes to any more."""
    command = [*COCITE, "build", "-", "-o", str(place / "web.cocite")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=place) as process:
        assert process.stdin is not None and process.stderr is not None
        for _ in range(600):
            if list(place.glob("web.cocite/work-*")):
                break
            time.sleep(0.05)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr.read().decode() == "cocite: Interrupted; nothing was changed\n"
    assert list(place.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written(store: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COCITE, "info", "-i", str(store)], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


def test_a_terminal_that_cannot_show_a_character() -> None:
    surroundings = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run([*COCITE, "info", "-i", "/nowhere/wéb"], capture_output=True, env=surroundings)
    assert done.returncode == 2
    assert done.stderr.startswith(b"cocite: no store at /nowhere/w")
    assert b"Traceback" not in done.stderr
