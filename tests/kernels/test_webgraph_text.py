"""Lines of text, parsed in blocks."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cocite.kernels.addresses.webgraph_text import parse_edges, parse_vertices


def edges_of(text: bytes) -> tuple[list[tuple[int, int]], int, int]:
    sources, targets = np.empty(len(text) // 4 + 1, np.int64), np.empty(len(text) // 4 + 1, np.int64)
    count, bad, where = parse_edges(np.frombuffer(text, np.uint8), sources, targets)
    return list(zip(sources[:count].tolist(), targets[:count].tolist(), strict=True)), bad, where


def vertices_of(text: bytes, numbered: bool = True, number: int = 0) -> tuple[dict[int, str], int, int, int]:
    numbers, ends = np.empty(len(text), np.int64), np.empty(len(text), np.int64)
    out = np.empty(10 * len(text) + 10, np.uint8)
    count, bad, where, number = parse_vertices(np.frombuffer(text, np.uint8), numbered, number, numbers, out, ends)
    names = [out[a:b].tobytes().decode() for a, b in zip([0, *ends[: max(count - 1, 0)]], ends[:count], strict=False)]
    return dict(zip(numbers[:count].tolist(), names, strict=True)), bad, where, number


def test_edges() -> None:
    assert edges_of(b"0\t1\n12 \t 345\r\n7\t8\t0.5\n") == ([(0, 1), (12, 345), (7, 8)], 0, 0)
    assert edges_of(b"# comment\n\n\r\n999999999999999999\t0\n") == ([(999999999999999999, 0)], 0, 0)


def test_invalid_lines_are_counted() -> None:
    text = b"0\t1\nnode\t5\n5\nx\n5\tx\n-1\t2\n1\t2x\n1234567890123456789\t0\n3\t4\n"
    assert edges_of(text) == ([(0, 1), (3, 4)], 7, 4)


@given(st.lists(st.tuples(st.integers(0, 10**18 - 1), st.integers(0, 10**18 - 1))))
@settings(max_examples=50, deadline=None)
def test_edges_come_back(edges: list[tuple[int, int]]) -> None:
    text = b"".join(b"%d\t%d\n" % edge for edge in edges)
    assert edges_of(text) == (edges, 0, 0)


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"\t") + b"\n"), max_size=30))
@settings(max_examples=100, deadline=None)
def test_any_lines_are_edges_counted_or_blank(lines: list[bytes]) -> None:
    edges, bad, _ = edges_of(b"".join(lines))
    blank = sum(line[:1] in (b"\n", b"\r", b"#") for line in lines)
    assert len(edges) + bad + blank == len(lines)
    vertices, bad, _, _ = vertices_of(b"".join(lines).decode("latin-1").encode("ascii", "replace"), numbered=False)
    assert len(vertices) + bad == len(lines)


def test_reversed_hosts_become_addresses() -> None:
    text = b"0\tcom.example\n1\tcom.example.blog\t17\n5\tuk.co.bbc.news\r\n6\tcom\n7\thttps://a.example/b?c\n# end\n\n"
    expected = {
        0: "https://example.com/",
        1: "https://blog.example.com/",
        5: "https://news.bbc.co.uk/",
        6: "https://com/",
        7: "https://a.example/b?c",
    }
    assert vertices_of(text)[:3] == (expected, 0, 0)


def test_vertices_without_a_usable_name_are_counted() -> None:
    assert vertices_of(b"0\tok\n1\t\n2\n\tcom.x\nx\tcom.x\n3\ta b\n4\ta\x01b\n5\ta\n")[:3] == (
        {0: "https://ok/", 5: "https://a/"},
        6,
        5,
    )


def test_one_name_a_line() -> None:
    text = b"http://a.example/\nAda Lovelace\n\nhttp://b.example/\n"
    expected = {10: "http://a.example/", 11: "name:Ada Lovelace", 13: "http://b.example/"}
    assert vertices_of(text, numbered=False, number=10) == (expected, 1, 31, 14)
