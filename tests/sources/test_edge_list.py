"""Edge lists of every shape."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cocite.errors import BadSource
from cocite.sources import compressed
from cocite.sources.edges import edge_list
from cocite.sources.edges.edge_list import addresses, read_edge_list
from cocite.sources.edges.layout import layout
from cocite.sources.kinds import ReadOptions, detect_kind
from cocite.sources.records import SCHEMA, ReadReport
from tests.pages.guess import guess

DATA = Path(__file__).parents[3] / "shared" / "data"


def edges(path: Path, report: ReadReport | None = None) -> list[tuple]:
    """(source, target) or, where there is a weight, (source, target, weight), in the order of the records."""
    found = []
    for batch in read_edge_list(path, report or ReadReport()):
        assert batch.schema == SCHEMA
        for row in batch.to_pylist():
            assert row["partial"] is True
            for link in row["links"]:
                weight = () if link["weight"] is None else (link["weight"],)
                found.append((row["url"], link["url"], *weight))
    return found


def names(*pairs: tuple[str, str]) -> list[tuple[str, str]]:
    return [(f"name:{source}", f"name:{target}") for source, target in pairs]


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        "1\t2\n1\t3\n2\t3\n",
        "1,2\r\n1,3\r\n2,3",
        "1;2\n1;3\n2;3\n",
        "1|2\n1|3\n2|3\n",
        "1 2\n1 3\n2 3\n",
        "# Directed graph\n# FromNodeId\tToNodeId\n1 2\n1\t3\n   2    3   \n",
        "% asym unweighted\n1 2\n1 3\n# a remark in between\n2 3\n",
        "source\ttarget\n1\t2\n1\t3\n2\t3\n",
        "From Node,To Node\n1,2\n1,3\n2,3\n",
        "\ufeffa,b\n1,2\n1,3\n2,3\n",
        "id,neighbour\n1,2\n1,3\n2,3\n",
        "target\tnote\tsource\n2\tx\t1\n3\ty\t1\n3\tz\t2\n",
        '"src","dst"\n"1","2"\n"1","3"\n"2","3"\n',
        "\n\n1\t2\n\n1\t3\n\n\n2\t3\n\n",
    ],
)
def test_one_graph_in_many_shapes(tmp_path: Path, content: str) -> None:
    report = ReadReport()
    path = write(tmp_path / "x", content)
    assert edges(path, report) == names(("1", "2"), ("1", "3"), ("2", "3"))
    assert not report.skipped
    assert report.read["bytes"] == path.stat().st_size


def test_rows_of_one_source_that_follow_each_other_are_one_record(tmp_path: Path) -> None:
    path = write(tmp_path / "x.tsv", "1\t2\n1\t3\n2\t1\n1\t4\n")
    (batch,) = read_edge_list(path, ReadReport())
    assert batch.column("url").to_pylist() == ["name:1", "name:2", "name:1"]
    assert [len(links) for links in batch.column("links").to_pylist()] == [2, 1, 1]


@pytest.mark.parametrize(
    ("content", "first"),
    [
        ("a b\nb c\nc a\n", ("a", "b")),  # letters among letters: an edge
        ("a b\nParis London\n", ("Paris", "London")),
        ("source target\ntarget sink\n", ("source", "target")),  # the name comes again: an edge
        ("Paris London\nRome Oslo\n", ("Paris", "London")),
        ("page\tlink\nhttp://a.org/\thttp://b.org/\n", None),
    ],
)
def test_headers_are_detected(tmp_path: Path, content: str, first: tuple[str, str] | None) -> None:
    found = edges(write(tmp_path / "x", content))
    assert found[0] == (names(first)[0] if first else ("http://a.org/", "http://b.org/"))


def test_weights_are_probabilities_and_other_numbers_are_reported(tmp_path: Path) -> None:
    report = ReadReport()
    path = write(tmp_path / "x.tsv", "1\t2\t0.5\n1\t3\t1\n2\t3\t7\n2\t4\t-1\n2\t5\t1e-3\n")
    assert edges(path, report) == [
        ("name:1", "name:2", 0.5),
        ("name:1", "name:3", 1.0),
        ("name:2", "name:3"),
        ("name:2", "name:4"),
        ("name:2", "name:5", pytest.approx(0.001)),
    ]
    assert (report.skipped, report.read["weight outside (0, 1], read as 1"]) == ({}, 2)
    report = ReadReport()
    named = write(tmp_path / "x.csv", "weight,to,from\n0.25,B,A\nx,C,A\n,D,A\n")
    assert edges(named, report) == [("name:A", "name:B", 0.25), ("name:A", "name:C"), ("name:A", "name:D")]
    assert (report.skipped, report.read["weight outside (0, 1], read as 1"]) == ({}, 1)
    labelled = write(tmp_path / "y.tsv", "source\ttarget\tyear\n1\t2\t1999\n")
    assert edges(labelled) == names(("1", "2"))


def test_bad_rows_are_counted_and_uneven_ones_used(tmp_path: Path) -> None:
    report = ReadReport()
    path = write(tmp_path / "x.tsv", "p1\tp2\np1\tp3\tmore\nalone\n\np4\t\n \tp5\np6\tp7\n")
    assert edges(path, report) == names(("p1", "p2"), ("p6", "p7"), ("p1", "p3"))
    assert report.skipped == {"row with fewer than two columns": 1, "row with an empty source or target": 2}
    assert report.example["row with fewer than two columns"] == "alone"


def test_quotation_marks(tmp_path: Path) -> None:
    report = ReadReport()
    path = write(tmp_path / "x.csv", 'from,to\n"Acme, Inc",B\n"say ""hi""",C\nD,"E"\n')
    assert edges(path, report) == names(("Acme, Inc", "B"), ('say "hi"', "C"), ("D", "E"))
    stray = write(tmp_path / "y.csv", "from,to\nA,B\n" + '"C,D\n' + "E,F\n" * 20)
    assert names(("A", "B"))[0] in edges(stray, report)
    assert edges(stray).count(("name:E", "name:F")) == 20
    marks = write(tmp_path / "z.tsv", 'p"q\tr\n"s\tt\n')
    assert edges(marks) == names(('p"q', "r"), ('"s', "t"))


def test_bytes_that_are_not_utf_8_are_replaced(tmp_path: Path) -> None:
    report = ReadReport()
    assert edges(write(tmp_path / "x.tsv", b"caf\xe9\tok\nfine\tb\xff\n"), report) == names(
        ("caf\ufffd", "ok"), ("fine", "b\ufffd")
    )
    assert report.skipped == {"part of an edge list with bytes that are not UTF-8 (replaced)": 1}


def test_hashtags_are_not_comments(tmp_path: Path) -> None:
    assert edges(write(tmp_path / "x", "#cats\t#dogs\n#dogs\t#birds\n")) == names(
        ("#cats", "#dogs"), ("#dogs", "#birds")
    )


def test_blocks_and_lines_longer_than_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(compressed, "MAX_ROW", 1 << 12)
    monkeypatch.setattr(edge_list, "head", lambda path: path.read_bytes()[:2000])
    rows = [(str(i // 3), str(i)) for i in range(3000)]
    content = "".join(f"{source}\t{target}\n" for source, target in rows)
    assert edges(write(tmp_path / "x", content)) == names(*rows)
    report = ReadReport()
    long = content[:2000].rpartition("\n")[0] + "\n" + "x" * 30_000 + "\ty\n" + "7\t8\n" + "z" * 5000 + "\ty"
    found = edges(write(tmp_path / "y", long), report)
    assert found[-1] == ("name:7", "name:8")
    assert found[:-1] == names(*rows)[: len(found) - 1]
    assert sum(report.skipped.values()) == 2


def test_names_become_addresses() -> None:
    given = [
        "https://a.org/x",
        "nytimes.com",
        "www.bbc.co.uk/news?x=1",
        "readme.nosuchsuffix",
        "NYTimes.com",
        "10.0.0.1",
        "mailto:x@y.org",
        "name:Ada",
        "Ada Lovelace",
        "42",
        "a.com b.com",
    ]
    assert addresses(pa.array(given)).to_pylist() == [
        "https://a.org/x",
        "host:nytimes.com",
        "host:www.bbc.co.uk/news?x=1",
        "name:readme.nosuchsuffix",
        "name:NYTimes.com",
        "name:10.0.0.1",
        "name:mailto:x@y.org",
        "name:Ada",
        "name:Ada Lovelace",
        "name:42",
        "name:a.com b.com",
    ]


@given(st.lists(st.text(alphabet="a.-/:com_1N ?é", min_size=1, max_size=12), min_size=1, max_size=6))
def test_columns_are_named_as_single_names_are(given: list[str]) -> None:
    assert addresses(pa.array(given)).to_pylist() == [guess(name) for name in given]


@pytest.mark.parametrize(
    "table",
    [
        {"source": [1, 1, 2], "target": [2, 3, 3]},
        {"weight": [0.5, 0.5, 0.5], "dst": ["2", "3", "3"], "src": ["1", "1", "2"]},
        {"x": pa.array(["1", "1", "2"]).dictionary_encode(), "y": pa.array(["2", "3", "3"], pa.large_string())},
        {"a": [1.0, 1.0, 2.0], "b": [2, 3, 3], "links": [[1], [2], [3]]},
    ],
    ids=["integers", "named", "dictionary", "floats"],
)
def test_parquet(tmp_path: Path, table: dict) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table(table), path)
    assert [edge[:2] for edge in edges(path)] == names(("1", "2"), ("1", "3"), ("2", "3"))
    with_gaps = pa.table({"source": ["1", None], "target": ["2", "3"]})
    pq.write_table(with_gaps, path)
    report = ReadReport()
    assert edges(path, report) == names(("1", "2"))
    assert report.skipped == {"row with an empty source or target": 1}
    pq.write_table(pa.table({"source": [1]}), path)
    with pytest.raises(BadSource, match="fewer than two columns"):
        edges(path)


def test_other_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="a single column: separate"):
        edges(write(tmp_path / "x", "hello\nworld\n"))
    with pytest.raises(BadSource, match="no links"):
        edges(write(tmp_path / "x", "# only remarks\n"))
    with pytest.raises(BadSource, match="different numbers of columns"):
        layout(b"Prose has lines\nof very different length, as you see here\nand no columns\n", strict=True)
    report = ReadReport()
    assert edges(write(tmp_path / "x", "\n\n"), report) == []
    assert edges(write(tmp_path / "x", "source,target\n"), report) == []
    assert report.skipped == {"source without records": 2}


@pytest.mark.parametrize(
    ("name", "records", "links"),
    [
        ("polblogs/links.tsv", 1067, 19_090),
        ("webkb/links.tsv", 1584, 1608),
        ("citations/cora.edges.tsv", 1925, 5278),
        ("citations/citeseer.edges.tsv", 2104, 4552),
        ("wikispeedia/links.tsv.gz", 4587, 119_882),
    ],
)
def test_real_edge_lists(name: str, records: int, links: int) -> None:
    if not DATA.exists():
        pytest.skip("the shared data are not beside the checkout")
    report = ReadReport()
    found = list(read_edge_list(DATA / name, report))
    assert sum(batch.num_rows for batch in found) == records
    assert sum(len(batch.column("links").values) for batch in found) == links
    assert not report.skipped


fields = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], exclude_characters="\"'#%,;|"), min_size=2
)


@given(st.lists(st.tuples(fields, fields), min_size=1, max_size=12), st.sampled_from("\t,;| "), st.booleans())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_names_are_read_back(tmp_path: Path, rows: list[tuple[str, str]], mark: str, header: bool) -> None:
    lines = [("source", "target")] * header + rows
    path = write(tmp_path / "x.gz", gzip.compress("\n".join(mark.join(row) for row in lines).encode()))
    found = edges(path)
    expected = [(guess(source), guess(target)) for source, target in rows]
    assert found in (expected, expected[1:])  # without a name for its columns, the first row may pass for a header
    assert len(found) == len(rows) or not header


@given(st.binary(max_size=300))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_bytes_break_the_reader(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path / "x.txt", b"a1 b1\n" + content)
    try:
        edges(path)
    except BadSource as error:
        assert "\n" not in str(error)


def test_a_long_list_is_read_in_bounded_batches(tmp_path: Path) -> None:
    numbers = np.arange(100_000)
    path = tmp_path / "x.tsv"
    path.write_text("".join(f"{n // 10}\t{n * 7919 % 100_000}\n" for n in numbers.tolist()))
    report = ReadReport()
    found = list(read_edge_list(path, report))
    assert sum(len(batch.column("links").values) for batch in found) == 100_000
    assert max(batch.nbytes for batch in found) < 64 << 20


def links_of(path: Path, **options: bool) -> list[tuple[str, str]]:
    found = []
    for batch in read_edge_list(path, ReadReport(), ReadOptions(**options)):
        for row in batch.to_pylist():
            found += [(row["url"].removeprefix("name:"), link["url"].removeprefix("name:")) for link in row["links"]]
    return sorted(found)


def test_undirected_links_count_both_ways(place: Path) -> None:
    """Gephi writes a column Type; --undirected says it of all rows."""
    (place / "gephi.csv").write_text("Source,Target,Type,Id,Weight\n1,2,Undirected,0,1.0\n2,3,Directed,1,1.0\n")
    assert links_of(place / "gephi.csv") == [("1", "2"), ("2", "1"), ("2", "3")]
    (place / "plain.tsv").write_text("1\t2\n2\t3\n")
    assert links_of(place / "plain.tsv", undirected=True) == [("1", "2"), ("2", "1"), ("2", "3"), ("3", "2")]
    pq.write_table(
        pa.table({"source": [1, 2], "target": [2, 3], "type": ["Directed", "undirected"]}), place / "a.parquet"
    )
    assert links_of(place / "a.parquet") == [("1", "2"), ("2", "3"), ("3", "2")]


def test_lines_may_end_with_carriage_returns(place: Path) -> None:
    for text in ("source,target\ra.com,b.com\rb.com,c.com\r", "source,target\ra.com,b.com\rb.com,c.com"):
        (place / "mac.csv").write_bytes(text.encode())
        assert detect_kind(place / "mac.csv") == "edges"
        assert links_of(place / "mac.csv") == [("host:a.com", "host:b.com"), ("host:b.com", "host:c.com")]


def test_a_single_line_is_a_link(place: Path) -> None:
    (place / "one.tsv").write_text("a\tb\n")
    assert links_of(place / "one.tsv") == [("a", "b")]
