"""cocite similarity, and related --history."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import LIST, LONELY, NEWS, OTHER, run


def test_similarity(store: Path) -> None:
    ran = run("similarity", NEWS, LIST, "-i", store, "-m", "cocitation(unit=none)")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[0].endswith(f"  {NEWS} – {LIST} by cocitation")
    found = json.loads(run("similarity", NEWS, LIST, "-i", store, "-m", "cocitation", "--json").out)
    assert found["pages"] == [NEWS, LIST]
    assert found["score"] == 1
    assert found["error"] is None


def test_nothing_in_common_and_unknown_pages(store: Path) -> None:
    ran = run("similarity", NEWS, LONELY, "-i", store, "-m", "cocitation")
    assert ran.code == 1
    assert "finds nothing" in ran.err
    assert run("similarity", NEWS, "https://nowhere.example/", "-i", store).code == 3


def test_history(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "history.tsv"
    file.write_text(f"{NEWS}\t2\n{OTHER}\nhttps://nowhere.example/\t5\n")
    ran = run("related", "--history", file, "-i", store, "-m", "cocitation", "--json")
    assert ran.code == 0, ran.err
    assert "Not in this store: 1 page of" in ran.err
    found = json.loads(ran.out)
    assert found["query"] == [NEWS, OTHER]
    assert not {NEWS, OTHER} & {answer["url"] for answer in found["answers"]}
    file.write_text("https://nowhere.example/\nhttps://neither.example/\n")
    assert run("related", "--history", file, "-i", store).code == 3
    file.write_text(f"{NEWS}\tmuch\n")
    ran = run("related", "--history", file, "-i", store)
    assert ran.code == 2
    assert "line 1 of" in ran.err
    assert run("related", "--history", tmp_path / "none", "-i", store).code == 2
