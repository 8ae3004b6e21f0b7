"""cocite spark: what it prints and refuses; what the jobs do is tested in tests/spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cocite.errors import BadSource
from cocite.spark import session
from cocite.spark import store as store_job
from tests.surfaces.conftest import run


class Session:
    """Instead of Spark's."""

    stopped = False

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The sessions that were asked for."""
    found: list[tuple[Any, ...]] = []

    def start(*given: Any) -> Session:
        found.append((*given, Session()))
        return found[-1][-1]

    monkeypatch.setattr(session, "start", start)
    return found


def test_store(started: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    def write(spark: Session, records: str, output: str, tell: Any) -> dict[str, Any]:
        tell("keyed")
        return {"pages": 2, "links": 1, "made": [records, output]}

    monkeypatch.setattr(store_job, "write_store", write)
    ran = run("spark", "store", "pages", "-o", "shards", "--master", "yarn", "--conf", "a.b=c=d")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("shards  2 pages, 1 link in ")
    assert ran.err.endswith(": keyed\n")
    name, master, conf, spark = started[0]
    assert (name, master, conf, spark.stopped) == ("store", "yarn", {"a.b": "c=d"}, True)
    found = json.loads(run("spark", "store", "pages", "-o", "shards", "--json").out)
    assert found["made"] == ["pages", "shards"]


def test_failures_are_one_line(started: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    def write(*_: Any, **__: Any) -> None:
        raise BadSource("no records")

    monkeypatch.setattr(store_job, "write_store", write)
    ran = run("spark", "store", "pages", "-o", "shards")
    assert (ran.code, ran.err) == (2, "cocite: no records\n")
    assert started[0][-1].stopped


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["related", "shards", "-o", "x", "-m", "companion"], "not by companion: use cocite batch"),
        (["store", "pages", "-o", "x", "--conf", "memory"], "is no setting"),
        (["pages", "-o", "x", "--list", "no-such-file"], "is not a file"),
    ],
)
def test_wrong_use(arguments: list[str], message: str) -> None:
    ran = run("spark", *arguments)
    assert ran.code == 2
    assert message in ran.err


def test_what_is_written_while_java_starts_is_kept_back(capfd: pytest.CaptureFixture[str]) -> None:
    with session.hushed() as said:
        java = subprocess.Popen(
            [sys.executable, "-c", "import os; os.write(2, b'noise\\n'); input(); os.write(2, b'news\\n')"],
            stdin=subprocess.PIPE,
        )
        while not said:
            time.sleep(0.01)
    assert said == ["noise"]
    java.communicate(b"\n")
    os.write(2, b"own\n")
    shown = ""
    while "news" not in shown:
        time.sleep(0.01)
        shown += capfd.readouterr().err
    assert sorted(shown.split()) == ["news", "own"]


def test_without_java_the_cause_is_told(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    from pyspark import SparkContext

    if SparkContext._gateway is not None:
        pytest.skip("Java runs already")
    monkeypatch.setenv("JAVA_HOME", str(place))
    ran = run("spark", "store", "pages", "-o", str(place / "shards"))
    assert ran.code == 2 and ran.err.count("\n") == 1
    assert "Spark did not start: " in ran.err and f"{place}/bin/java: No such file" in ran.err
