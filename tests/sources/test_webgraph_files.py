"""Which files make up a graph."""

from __future__ import annotations

import errno
import gzip
from pathlib import Path

import pytest

from cocite.errors import BadSource
from cocite.sources.kinds import detect_kind
from cocite.sources.webgraphs.files import Release, find_release, parts_of


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")


def test_a_text_release_from_any_of_its_files(tmp_path: Path) -> None:
    put(tmp_path, "cc-domain-vertices.txt.gz", "cc-domain-edges.txt.gz", "cc-domain-ranks.txt.gz")
    whole = Release(None, [tmp_path / "cc-domain-vertices.txt.gz"], [tmp_path / "cc-domain-edges.txt.gz"])
    for name in ("", "cc-domain-vertices.txt.gz", "cc-domain-edges.txt.gz"):
        assert find_release(tmp_path / name) == whole


def test_a_graph_from_any_of_its_files(tmp_path: Path) -> None:
    put(tmp_path, "cc.graph", "cc.properties", "cc.offsets", "cc-t.graph", "cc-t.properties", "cc-vertices.txt.gz")
    whole = Release(tmp_path / "cc", [tmp_path / "cc-vertices.txt.gz"], [])
    for name in ("", "cc", "cc.graph", "cc.properties", "cc.offsets", "cc-t.graph", "cc-t", "cc-vertices.txt.gz"):
        assert find_release(tmp_path / name) == whole


def test_a_reversed_graph_alone_is_a_graph(tmp_path: Path) -> None:
    put(tmp_path, "cc-t.graph", "cc-t.properties")
    assert find_release(tmp_path / "cc-t.graph").base == find_release(tmp_path).base == tmp_path / "cc-t"


def test_a_graph_is_read_rather_than_its_text(tmp_path: Path) -> None:
    put(tmp_path, "cc.graph", "cc.properties", "cc-vertices.txt", "cc-edges.txt")
    whole = Release(tmp_path / "cc", [tmp_path / "cc-vertices.txt"], [])
    for name in ("", "cc-vertices.txt", "cc-edges.txt"):
        assert find_release(tmp_path / name) == whole
    (tmp_path / "cc.properties").unlink()
    assert find_release(tmp_path / "cc-edges.txt") == Release(
        None, [tmp_path / "cc-vertices.txt"], [tmp_path / "cc-edges.txt"]
    )


def test_addresses_of_a_graph_one_a_line(tmp_path: Path) -> None:
    put(tmp_path, "cnr-2000.graph", "cnr-2000.properties", "cnr-2000.urls.gz")
    assert find_release(tmp_path / "cnr-2000").vertices == [tmp_path / "cnr-2000.urls.gz"]


def test_a_release_split_into_folders(tmp_path: Path) -> None:
    parts = [f"{kind}/part-0000{i}.txt.gz" for kind in ("vertices", "edges") for i in (1, 0)]
    put(tmp_path, *parts, "vertices/_SUCCESS", "edges/.part-00000.crc", "edges/readme")
    whole = Release(
        None,
        [tmp_path / "vertices" / f"part-0000{i}.txt.gz" for i in (0, 1)],
        [tmp_path / "edges" / f"part-0000{i}.txt.gz" for i in (0, 1)],
    )
    for name in ("", "vertices", "edges", "edges/part-00001.txt.gz"):
        assert find_release(tmp_path / name) == whole


def test_a_folder_may_be_called_edges(tmp_path: Path) -> None:
    put(tmp_path, "my-edges/a.graph", "my-edges/a.properties")
    assert find_release(tmp_path / "my-edges").base == tmp_path / "my-edges" / "a"


def listing(path: Path, *lines: str) -> None:
    path.write_bytes(gzip.compress("\n".join(lines).encode()))


def test_a_release_split_as_listed(tmp_path: Path) -> None:
    put(tmp_path, "vertices/part-0.gz", "part-9.gz", "part-8.gz")
    listing(tmp_path / "cc-host-vertices.paths.gz", "projects/hyperlinkgraph/cc/host/vertices/part-0.gz")
    listing(tmp_path / "cc-host-edges.paths.gz", "projects/cc/host/edges/part-9.gz", "projects/cc/host/edges/part-8.gz")
    whole = Release(None, [tmp_path / "vertices" / "part-0.gz"], [tmp_path / "part-9.gz", tmp_path / "part-8.gz"])
    assert find_release(tmp_path / "cc-host-edges.paths.gz") == whole
    assert find_release(tmp_path / "cc-host-vertices.paths.gz") == whole


def test_listings_do_not_lead_elsewhere(tmp_path: Path) -> None:
    put(tmp_path, "secret", "here/other")
    for line in ("../secret", str(tmp_path / "secret"), "../../..//secret", "..", "/"):
        listing(tmp_path / "here" / "edges.paths.gz", line)
        with pytest.raises(BadSource, match="missing: download it"):
            parts_of(tmp_path / "here" / "edges.paths.gz")
    listing(tmp_path / "here" / "edges.paths.gz", "")
    with pytest.raises(BadSource, match="lists no file"):
        parts_of(tmp_path / "here" / "edges.paths.gz")


def test_missing_and_superfluous_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="no complete web graph"):
        find_release(tmp_path)
    for name in ("nothing", "nothing.graph", "no/folder/x.properties"):
        with pytest.raises(BadSource, match=r"nothing\.graph does not exist|x\.graph does not exist"):
            find_release(tmp_path / name)
    put(tmp_path, "a-vertices.txt", "page.html")
    with pytest.raises(BadSource, match=r"No edges beside .*: put the file a-edges\.txt there"):
        find_release(tmp_path / "a-vertices.txt")
    with pytest.raises(BadSource, match="not part of a web graph"):
        find_release(tmp_path / "page.html")
    put(tmp_path, "a-edges.txt", "b-edges.txt", "b-vertices.txt")
    with pytest.raises(BadSource, match=r"several graphs \(a, b\)"):
        find_release(tmp_path)
    (tmp_path / "vertices").mkdir()
    with pytest.raises(BadSource, match="is empty"):
        parts_of(tmp_path / "vertices")


def test_a_file_is_of_no_other_kind_while_its_folder_cannot_be_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cc-vertices.txt").write_text("0\texample.a\n1\texample.b\n")
    (tmp_path / "cc-edges.txt").write_text("0\t1\n")
    assert detect_kind(tmp_path / "cc-vertices.txt") == "webgraph"

    def failing(path: Path) -> None:
        raise OSError(errno.EIO, "Input/output error", str(path))

    monkeypatch.setattr(Path, "iterdir", failing)
    with pytest.raises(BadSource, match="Cannot open"):
        detect_kind(tmp_path / "cc-vertices.txt")
