"""cocite demo: the bundled sample, from its pages to answers; and the second process that compiles."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cocite.cli.tasks import demo as module
from cocite.cli.tasks.demo import cached_store, sample_pages
from cocite.sources.records import Link, Page
from cocite.warm import SecondProcess, compile_answers
from tests.cli.conftest import run
from tests.graph.webs import make


def test_demo(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    ran = run("demo")
    assert ran.code == 0
    pages = len(list(sample_pages().glob("*.md")))
    assert f"{pages:,} lists" in ran.out
    assert "built in" in ran.out
    papers, databases = (part.splitlines() for part in ran.out.split("Related to ")[1:3])
    assert papers[0] == "The New York Times  https://www.nytimes.com/  in 13 lists"
    assert papers[1] == "  1\tThe Washington Post"
    assert papers[2].startswith("     Listed next to each other on ")
    assert papers[5].startswith("     Listed together on 8 of 13 pages, e.g. ")
    assert databases[0].startswith("PostgreSQL  https://www.postgresql.org/")
    assert {line.split("\t")[1] for line in databases if line.startswith("  ") and "\t" in line} >= {"MySQL", "SQLite"}
    store = next((place / "cocite").iterdir())
    assert f"export COCITE_INDEX={store}" in ran.out
    commands = [line.strip().split("\t")[0].split() for line in ran.out.splitlines() if line.startswith("  cocite ")]
    monkeypatch.setenv("COCITE_INDEX", str(store))
    assert ["cocite", "demo", "--open"] in commands
    for _, *args in [command for command in commands if "--open" not in command]:
        assert run(*args).code == 0, f"demo recommends cocite {' '.join(args)}"
    again = run("demo", "python.org")
    assert "from the last run" in again.out
    assert again.err == ""
    assert run("demo", "no-such-page.example").code == 3


def test_demo_builds_anew_where_the_cache_is_damaged(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    cached_store().mkdir(parents=True)
    (cached_store() / "CURRENT").write_text("nonsense")

    def build_sample(store: Path, _: object) -> tuple[Path, float]:
        return make(store, [Page("https://a.example/", links=[Link("https://b.example/")])]).path, 1.0

    monkeypatch.setattr(module, "build_sample", build_sample)
    ran = run("demo", "b.example")
    assert "1 list, 1 link to 1 page, built in 1.0 s" in ran.out


def test_the_cache_goes_elsewhere_where_it_cannot_be_written(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "file"))
    store = cached_store()
    assert os.access(store.parent, os.W_OK)
    assert store.name.startswith("sample-")
    store.parent.rmdir()


def test_the_second_process_compiles_what_a_build_needs(place: Path) -> None:
    """Kernels are compiled for the types of their arguments, which must be those of a build and a question."""
    import cocite
    from cocite.kernels.build import near_duplicates
    from cocite.kernels.codec import lists, look_up
    from cocite.kernels.related import best_first, blend, likeness, neighbourhood
    from cocite.kernels.words import word_vectors

    loops = [near_duplicates.sketch_lists, near_duplicates.unite_alike]
    loops += [look_up.find_key, lists.read_one, neighbourhood.read_parents, neighbourhood.add_windows]
    loops += [neighbourhood.group, neighbourhood.read_children, neighbourhood.representatives, word_vectors.cosines]
    loops += [best_first.best_first, blend.add_together, word_vectors.pages_with]
    loops += [likeness.read_around, likeness.alike_pages, likeness.add_shared, likeness.read_other_parents]
    many = [Link(f"https://{name}.example/") for name in "bcdefghijklmno"]
    make(place / "web.cocite", [Page("https://a.example/", links=many), Page("https://z.example/", links=many)])
    assert len(cocite.open(place / "web.cocite").related("b.example"))
    needed = [set(loop.signatures) for loop in loops]
    compile_answers()
    for loop, types in zip(loops, needed, strict=True):
        assert not types or set(loop.signatures) == types, loop  # none: words, of which this web has none


def test_the_second_process_ends_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SecondProcess, "command", [sys.executable, "-c", "import time; time.sleep(60)"])
    monkeypatch.setattr("cocite.warm.os.cpu_count", lambda: 2)
    with SecondProcess() as second:
        second.start()
        process = second.process
        second.start()
        assert process is second.process is not None
        assert process.poll() is None
    assert process.poll() is not None


def test_waiting_for_the_second_process(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    ready = place / "ready"
    monkeypatch.setattr(SecondProcess, "command", ["sh", "-c", f"sleep 0.3; touch {ready}; echo ready; exec sleep 60"])
    monkeypatch.setattr("cocite.warm.os.cpu_count", lambda: 2)
    with SecondProcess() as second:
        second.wait()  # nothing runs, nothing to wait for
        second.start()
        second.wait()
        assert ready.exists()


def test_a_demo_in_the_browser(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`demo --open` serves the sample on a free port, and opens it."""
    import cocite.http.run

    opened: list[str] = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(cocite.http.run, "serve", lambda settings, listening: listening.close() or 0)
    lists = [Page("https://a.example/", links=[Link("https://b.example/")])]
    monkeypatch.setattr(module, "build_sample", lambda store, _: (make(store, lists).path, 1.0))
    ran = run("demo", "b.example", "--open")
    assert ran.code == 0 and "Serving " in ran.err and "Try next" not in ran.out
    assert opened[0].startswith("http://127.0.0.1:")


def test_commands_can_be_pasted(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    """After `make demo` the program isn't on the path: its commands name the file."""
    program = place / ".venv" / "bin" / "cocite"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(place)
    monkeypatch.setattr("sys.argv", [str(program)])
    assert module.program() == ".venv/bin/cocite"
    monkeypatch.setenv("PATH", str(program.parent))
    assert module.program() == "cocite"
