"""Page records as JSON Lines and Parquet."""

from __future__ import annotations

import datetime
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cocite.errors import BadSource
from cocite.sources.arrow_batches import to_schema
from cocite.sources.open_source import open_source
from cocite.sources.page_records import page_from_json, read_jsonl, read_parquet, write_jsonl, write_parquet
from cocite.sources.records import SCHEMA, Link, Page, ReadReport, batch, batches

AWESOME = Path(__file__).parents[3] / "shared" / "data" / "awesome" / "pages.jsonl.gz"

LIST = Page(
    "https://example.org/list",
    title="Newspapers",
    text="Papers of record",
    links=[
        Link("https://www.nytimes.com/", "NYT", 0, "of New York", "nofollow ugc", 0.5, True),
        Link("https://www.lemonde.fr/"),
    ],
    headings=["Dailies"],
    status=200,
    canonical="https://example.org/",
    captured="2024-05-06T07:08:09",
    lang="en",
    noindex=True,
)
ALIAS = Page("http://example.org/old", redirect="https://example.org/list", status=301)


def jsonl(*lines: object) -> io.BytesIO:
    return io.BytesIO(b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines))


def read(*lines: object) -> tuple[list[Page], ReadReport]:
    report = ReadReport()
    return list(read_jsonl(jsonl(*lines), report)), report


# JSON Lines


def test_every_field_is_read() -> None:
    record = {
        "url": "https://example.org/list",
        "title": "Newspapers",
        "text": "Papers of record",
        "links": [
            {"url": "https://www.nytimes.com/", "text": "NYT", "block": 0, "context": "of New York"}
            | {"rel": "nofollow ugc", "weight": 0.5, "boilerplate": True},
            "https://www.lemonde.fr/",
        ],
        "headings": ["Dailies"],
        "status": 200,
        "canonical": "https://example.org/",
        "captured": "2024-05-06T07:08:09",
        "lang": "en",
        "noindex": True,
        "unknown": {"field": [1]},
    }
    pages, report = read(record, {"url": " http://x.org/ "}, b"", b"  ")
    assert pages == [LIST, Page("http://x.org/")]
    assert not report.skipped


def test_unusable_records_are_counted_by_reason() -> None:
    pages, report = read(
        {"title": "no address"},
        {"url": 5},
        {"url": "  "},
        [1],
        "text",
        b'{"url": "https://cut.example/',
        b"[" * 100_000,
        b'{"url": "https://big.example/", "status": ' + b"9" * 5000 + b"}",
        {"url": "https://ok.example/"},
    )
    assert [page.url for page in pages] == ["https://ok.example/"]
    assert report.skipped == {"record without url": 3, "record that is not an object": 2, "line that is not JSON": 3}
    assert report.example["record without url"].startswith("line 1: ")


def test_a_field_of_the_wrong_type_is_counted_and_its_record_kept() -> None:
    pages, report = read(
        {
            "url": "https://a.example/",
            "title": ["no"],
            "status": "200",
            "headings": ["A", 7],
            "captured": 20240101,
            "noindex": "yes",
            "lang": None,
            "links": [
                {"url": "https://b.example/", "block": -1, "weight": 2, "text": 3, "rel": None},
                {"url": "https://c.example/", "block": True, "weight": float("nan"), "boilerplate": 1},
                {"text": "no address"},
                "",
                17,
            ],
        },
        {"url": "https://b.example/", "links": "https://a.example/", "status": True},
    )
    assert pages == [
        Page(
            "https://a.example/",
            status=200,
            headings=["A", ""],
            links=[Link("https://b.example/"), Link("https://c.example/")],
        ),
        Page("https://b.example/"),
    ]
    assert report.skipped == {
        "field 'title' of the wrong type": 1,
        "field 'captured' of the wrong type": 1,
        "field 'noindex' of the wrong type": 1,
        "field 'links' of the wrong type": 1,
        "field 'status' of the wrong type": 1,
        "link field 'block' of the wrong type or out of range": 2,
        "link field 'weight' of the wrong type or out of range": 2,
        "link field 'text' of the wrong type or out of range": 1,
        "link field 'boilerplate' of the wrong type or out of range": 1,
        "link without url": 3,
        "heading of the wrong type": 1,
    }
    assert report.example["heading of the wrong type"] == "7"


def test_a_broken_line_is_named_once() -> None:
    _, report = read({"url": "https://a.example/"}, b'{"url": oh}', b"[" * 100_000, b'{"status": ' + b"9" * 5000 + b"}")
    assert report.skipped == {"line that is not JSON": 3}
    assert report.example == {"line that is not JSON": "line 2, character 9: Expecting value"}


def test_strange_bytes_become_text_that_arrow_can_hold() -> None:
    pages, report = read(
        b'\xef\xbb\xbf{"url": "https://a.example/", '
        b'"title": "half \\ud83d pair \\uD83D\\uDE00 low \\ude00 kept \\\\ud83d"}',
        b'{"url": "https://b.example/", "title": "caf\xe9\\u0000"}',
    )
    assert [page.title for page in pages] == ["half \ufffd pair \U0001f600 low \ufffd kept \\ud83d", "caf\ufffd\0"]
    assert report.skipped == {"line with bytes that are not UTF-8 (replaced)": 1}
    assert batch(pages).column("title").to_pylist() == [page.title for page in pages]


def test_strict_stops_at_the_first_bad_record() -> None:
    with pytest.raises(BadSource, match=r"record without url.*--strict"):
        list(read_jsonl(jsonl({"url": "https://a.example/"}, {}), ReadReport(strict=True)))


def test_a_source_without_records_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(b"\n")
    report = ReadReport()
    assert list(read_jsonl(path, report)) == []
    assert report.skipped == {"source without records": 1}
    assert report.example == {"source without records": "empty.jsonl"}


@pytest.mark.parametrize("name", ["pages.jsonl", "pages.jsonl.gz", "pages.jsonl.zst"])
def test_written_json_lines_are_read_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert write_jsonl([LIST, ALIAS], path) == 2
    assert list(read_jsonl(path, ReadReport())) == [LIST, ALIAS]
    first = path.read_bytes()
    write_jsonl([LIST, ALIAS], path)
    assert path.read_bytes() == first


def test_a_writer_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    def failing():
        yield LIST
        raise RuntimeError("killed")

    for name, write in (
        ("a.jsonl", write_jsonl),
        ("a.parquet", lambda pages, path: write_parquet(batches(pages), path)),
    ):
        path = tmp_path / name
        path.write_bytes(b"old")
        with pytest.raises(RuntimeError):
            write(failing(), path)
        assert path.read_bytes() == b"old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.jsonl", "a.parquet"]


def test_the_awesome_lists_are_read() -> None:
    if not AWESOME.exists():
        pytest.skip("the awesome lists are not beside the checkout")
    report = ReadReport()
    pages = list(read_jsonl(AWESOME, report))
    assert (len(pages), sum(len(page.links) for page in pages)) == (793, 232_654)
    assert not report.skipped
    assert all(link.block is not None and link.block < len(page.headings) for page in pages for link in page.links)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
addresses = texts.map(lambda text: "https://x.example/" + text).map(str.strip)
links = st.builds(
    Link,
    addresses,
    texts,
    st.none() | st.integers(0, 2**31 - 1),
    texts,
    texts,
    st.floats(0, 1, exclude_min=True, width=32),
    st.booleans(),
)
pages = st.builds(
    Page,
    addresses,
    texts,
    texts,
    st.lists(links, max_size=4),
    st.lists(texts, max_size=3),
    st.none() | st.integers(0, 999),
    texts,
    texts,
    texts,
    texts,
    st.booleans(),
    st.booleans(),
)


@given(st.lists(pages, max_size=5))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_round_trips(tmp_path: Path, written: list[Page]) -> None:
    write_jsonl(written, tmp_path / "x.jsonl")
    assert list(read_jsonl(tmp_path / "x.jsonl", ReadReport())) == written
    write_parquet(batches(written), tmp_path / "x.parquet")
    got = [row for found in read_parquet(tmp_path / "x.parquet", ReadReport()) for row in found.to_pylist()]
    assert got == (batch(written).to_pylist() if written else [])


@given(st.binary(max_size=200) | st.text(alphabet='{}[]",:\\u0dlinksurl 1eE.-tfn', max_size=200).map(str.encode))
def test_no_line_breaks_the_reader(line: bytes) -> None:
    page = page_from_json(line, 1, ReadReport())
    assert page is None or batch([page]).num_rows == 1


# Parquet


def parquet(path: Path, **columns: object) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def rows(path: Path, report: ReadReport | None = None, **options: bool) -> list[dict]:
    return [row for found in read_parquet(path, report or ReadReport(), **options) for row in found.to_pylist()]


def test_columns_come_in_any_order_and_missing_ones_are_null(tmp_path: Path) -> None:
    path = parquet(
        tmp_path / "x.parquet",
        links=pa.array(
            [[{"text": "B", "url": "https://b.example/"}], None],
            pa.list_(pa.struct({"text": pa.string(), "url": pa.string()}.items())),
        ),
        url=["https://a.example/", "https://c.example/"],
        other=[1, 2],
    )
    found = list(read_parquet(path, ReadReport()))
    assert [batch.schema for batch in found] == [SCHEMA]
    first, second = found[0].to_pylist()
    assert first["links"] == [dict.fromkeys(link_fields(), None) | {"url": "https://b.example/", "text": "B"}]
    assert first["title"] is None
    assert second["links"] == []


def link_fields() -> list[str]:
    return [field.name for field in SCHEMA.field("links").type.value_type]


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.string()),
        pa.large_list(pa.large_string()),
        pa.list_(pa.string_view()),
        pa.list_(pa.dictionary(pa.int8(), pa.string())),
        pa.list_(pa.binary()),
        pa.list_(pa.string(), 2),
        pa.list_view(pa.string()),
    ],
    ids=str,
)
def test_lists_of_bare_addresses_of_every_type(kind: pa.DataType) -> None:
    data = [["https://b.example/", "https://c.example/"], None]
    if pa.types.is_dictionary(kind.value_type):
        flat = pa.array(data[0]).dictionary_encode().cast(kind.value_type)
        column = pa.ListArray.from_arrays(pa.array([0, 2, 2], pa.int32()), flat)
    else:
        column = pa.array(data, kind)
    given = pa.RecordBatch.from_arrays(
        [pa.array(["https://a.example/", "https://d.example/"]), column], ["url", "links"]
    )
    made = to_schema(given, ReadReport())
    assert [[link["url"] for link in row["links"]] for row in made.to_pylist()] == [data[0], []]


def test_dictionary_encoded_addresses_stay_so(tmp_path: Path) -> None:
    texts = pa.array(["https://a.example/", "https://b.example/"])
    url = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), texts)
    target = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], pa.int32()), texts)
    links = pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), pa.StructArray.from_arrays([target], ["url"]))
    path = parquet(tmp_path / "x.parquet", url=url, links=links)
    (found,) = read_parquet(path, ReadReport())
    encoded = pa.dictionary(pa.int32(), pa.string())
    assert found.schema.field("url").type == encoded
    assert found.schema.field("links").type.value_type.field("url").type == encoded
    assert [[link["url"] for link in row["links"]] for row in found.to_pylist()] == [
        [texts[1].as_py()],
        texts.to_pylist(),
    ]
    again = tmp_path / "plain.parquet"
    assert write_parquet([found], again) == 2
    assert pq.read_schema(again).remove_metadata() == SCHEMA


def test_columns_of_wrong_types_are_counted(tmp_path: Path) -> None:
    report = ReadReport()
    path = parquet(
        tmp_path / "x.parquet",
        url=["https://a.example/", None, "", "https://d.example/"],
        title=[1, 2, 3, 4],
        status=[200.0, None, float("nan"), 1e12],
        captured=pa.array([datetime.datetime(2024, 5, 6, 7, 8, 9)] * 4, pa.timestamp("us", "UTC")),
        lang=pa.array([b"en", b"d\xe9", None, b""]),
        noindex=[1, 0, 0, None],
        headings=pa.array([["A", None], [], None, ["B"]]),
        links=pa.array(
            [
                [{"url": "https://b.example/", "weight": 7.0, "block": 3}, {"url": None, "weight": 0.5, "block": -1}],
                [],
                None,
                [None, {"url": "https://c.example/", "weight": 0.25, "block": None}],
            ]
        ),
    )
    first, last = rows(path, report)
    assert (first["title"], first["status"], first["noindex"], first["headings"]) == (None, 200, True, ["A", ""])
    assert first["captured"] == "2024-05-06T07:08:09"
    assert [(link["url"], link["weight"], link["block"]) for link in first["links"]] == [
        ("https://b.example/", None, 3)
    ]
    assert [(link["url"], link["weight"], link["block"]) for link in last["links"]] == [
        ("https://c.example/", 0.25, None)
    ]
    assert (last["status"], last["lang"]) == (None, "")
    assert report.skipped == {
        "field 'title' of the wrong type": 4,
        "link field 'block' out of range": 1,
        "link field 'weight' out of range": 1,
        "link without url": 2,
        "record without url": 2,
    }


def test_invalid_utf_8_is_replaced(tmp_path: Path) -> None:
    bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"https://a.example/\xff"]).buffers())
    path = parquet(tmp_path / "x.parquet", url=bad, title=bad)
    (row,) = rows(path)
    assert row["url"] == row["title"] == "https://a.example/\ufffd"


def test_texts_are_read_only_on_demand(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    write_parquet(batches([LIST]), path)
    assert rows(path)[0]["text"] == "Papers of record"
    assert rows(path, text=False)[0]["text"] is None


def test_a_folder_of_part_files_is_one_source(tmp_path: Path) -> None:
    for name, url in (("part-1", "https://b.example/"), ("part-0", "https://a.example/"), ("_metadata", "no")):
        parquet(tmp_path / f"{name}.parquet", url=[url])
    (tmp_path / "day=2").mkdir()
    parquet(tmp_path / "day=2" / "part-0.parquet", url=["https://c.example/"])
    (tmp_path / "part-2.parquet").write_bytes(b"PAR1 cut")
    report = ReadReport()
    read = open_source(str(tmp_path), report, kind="records").records()
    assert [row["url"][8] for batch in read for row in batch.to_pylist()] == ["a", "b", "c"]
    assert report.skipped == {"file that can't be read": 1}


def test_an_empty_column_of_the_wrong_type_is_not_counted(tmp_path: Path) -> None:
    nothing = pa.array([None], pa.int32())
    link = pa.struct([("url", pa.string()), ("rel", pa.int32())])
    links = pa.array([[{"url": "https://b.example/", "rel": None}]], pa.list_(link))
    report = ReadReport()
    (found,) = rows(parquet(tmp_path / "x.parquet", url=["https://a.example/"], redirect=nothing, links=links), report)
    assert (found["redirect"], found["links"][0]["rel"]) == (None, None)
    assert not report.skipped


def test_heavy_rows_come_in_small_batches(tmp_path: Path) -> None:
    row = [{"url": f"https://example.org/{i}"} for i in range(30_000)]
    path = parquet(tmp_path / "x.parquet", url=[f"https://{i}.example/" for i in range(40)], links=[row] * 40)
    report = ReadReport()
    sizes = [found.num_rows for found in read_parquet(path, report)]
    assert sum(sizes) == 40
    assert max(sizes) <= 8
    assert report.read["bytes"] == pytest.approx(path.stat().st_size, abs=len(sizes))


def test_other_parquet_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1" + bytes(50) + b"PAR1")
    with pytest.raises(BadSource, match="incomplete or damaged Parquet file"):
        rows(path)
    with pytest.raises(BadSource, match=r"has no column url \(columns: a, b\)"):
        rows(parquet(path, a=[1], b=[2]))
    report = ReadReport()
    assert rows(parquet(path, url=pa.array([], pa.string())), report) == []
    assert report.skipped == {"source without records": 1}


def test_damage_within_a_parquet_file_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    table = pa.table({"url": [f"https://example.org/{i * 7919}" for i in range(20_000)]})
    pq.write_table(table, path, row_group_size=5_000, compression="zstd", write_page_checksum=True)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 400] = b"\xff" * 400
    path.write_bytes(content)
    report = ReadReport()
    assert len(rows(path, report)) == 15_000
    assert report.skipped == {"damaged row group of a Parquet file": 1}
