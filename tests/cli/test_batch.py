"""`cocite batch`: what it writes and says, and what Ctrl-C leaves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import LONELY, NEWS, OTHER, run
from tests.conftest import ROOT


def test_for_every_page(store: Path, place: Path) -> None:
    ran = run("batch", "-i", store, "-o", place / "r.tsv", "--threads", "1", "-k", "3")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.splitlines()[-1].endswith(f"s: {place / 'r.tsv'}")
    rows = [line.split("\t") for line in (place / "r.tsv").read_text().splitlines()]
    assert next(row[1:3] for row in rows if row[0] == NEWS) == ["1", OTHER]
    assert all(len(row) == 4 and float(row[3]) > 0 for row in rows)
    ran = run("batch", "-i", store, "-o", place / "r.parquet", "--threads", "1", "-k", "3", "--json")
    told = json.loads(ran.out)
    assert (ran.code, ran.err) == (0, "")
    table = pq.read_table(place / "r.parquet")
    assert table["url"].to_pylist() == [row[2] for row in rows]
    assert told["answers"] == len(rows)
    assert told | {"pages": 7, "parts": 1, "kept": 0, "unknown": 0, "output": str(place / "r.parquet")} == told
    again = run("batch", "-i", store, "-o", place / "r.parquet", "-k", "3")
    assert again.code == 0
    assert "Kept 1 part of 1 from an earlier run" in again.err
    assert f"Wrote {len(rows)} results for 7 pages in" in again.err


def test_for_the_pages_of_a_file(store: Path, place: Path) -> None:
    (place / "pages.txt").write_text(f"# mine\n{NEWS}\nunknown.example\n{LONELY}\nhttp://\n{OTHER}\n")
    ran = run("batch", "-i", store, "-o", place / "r.tsv", "--queries", place / "pages.txt")
    assert ran.code == 0
    assert f"Not in this store: 2 addresses of {place / 'pages.txt'}" in ran.err
    queries = [line.split("\t")[0] for line in (place / "r.tsv").read_text().splitlines()]
    assert list(dict.fromkeys(queries)) == [NEWS, OTHER]
    (place / "none.txt").write_text("unknown.example\n")
    ran = run("batch", "-i", store, "-o", place / "n.tsv", "--queries", place / "none.txt")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "None of the pages is in this store" in ran.err


def test_filters(store: Path, place: Path) -> None:
    ran = run("batch", "-i", store, "-o", place / "r.tsv", "--per-site", "1", "--not-own-site", "--threads", "1")
    assert ran.code == 0
    ran = run("batch", "-i", store, "-o", place / "none.tsv", "--since", "2900-01-01", "--threads", "1", "--json")
    assert json.loads(ran.out)["answers"] == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["-o", "r.csv"], "Unknown output format '.csv': r.csv must end in .parquet or .tsv"),
        (["-o", "r.tsv", "-k", "-1"], "-k must be a whole number from 1 to 100000, not -1"),
        (["-o", "r.tsv", "--per-site", "-1"], "--per-site must be a whole number of at least 0, not -1"),
        (["-o", "r.tsv", "-m", "nonsense"], "Unknown method 'nonsense'. Available:"),
        (["-o", "r.tsv", "--threads", "0"], "--threads must be a whole number from 1 to 256, not 0"),
        (["-o", "r.tsv", "--queries", "none.txt"], "none.txt: no such file or directory; check the path"),
        ([], "--output is missing: a folder of Parquet files"),
    ],
)
def test_wrong_use(store: Path, place: Path, monkeypatch: pytest.MonkeyPatch, given: list[str], message: str) -> None:
    monkeypatch.chdir(place)
    ran = run("batch", "-i", store, *given)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"cocite: {message}")
    assert not list(place.iterdir())


def test_another_batch_in_its_place_is_refused(store: Path, place: Path) -> None:
    assert run("batch", "-i", store, "-o", place / "r.parquet").code == 0
    ran = run("batch", "-i", store, "-o", place / "r.parquet", "-k", "5")
    assert ran.code == 2
    problem = f"{place / 'r.parquet'} contains something other than this batch"
    assert ran.err == f"cocite: {problem}: remove it, or choose another place\n"


INTERRUPTED = """
import os, signal, sys, time
import cocite.operations.pages.batch as batch
from cocite.cli import main
batch.batch.__kwdefaults__["part"] = 1
write = batch._write
def write_and_stop(path, *rest):
    write(path, *rest)
    if len(list(path.parent.glob("part-*"))) == 2:
        os.killpg(os.getpgid(0), signal.SIGINT)  # as a terminal does: to all processes of the command
        time.sleep(0.1)
        print("went on")
batch._write = write_and_stop
if __name__ == "__main__":
    main()
"""


def test_ctrl_c_keeps_the_parts_and_reports_it(store: Path, place: Path) -> None:
    output = place / "r.parquet"
    command = ["batch", "-i", str(store), "-o", str(output), "-m", "cocitation", "--threads", "2", "-q"]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *command],
        capture_output=True, text=True, cwd=ROOT, timeout=240, start_new_session=True,
    )  # fmt: skip
    assert done.returncode == 130
    message = "cocite: Interrupted; finished parts are kept, and the same command continues from there\n"
    assert (done.stdout, done.stderr) == ("", message), "no traceback of any process"
    assert len(list(output.glob("part-*"))) == 2
    assert [each.name for each in place.iterdir()] == ["r.parquet"]
