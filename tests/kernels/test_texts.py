"""Runs of hosts; picking lines against split and join."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.kernels.addresses.texts import mark_hosts, pick_lines
from cocite.pages.key import key
from tests.kernels.test_name_codec import joined

texts = st.lists(st.sampled_from([b"", b"a", b"bc", "名".encode()]), max_size=6).map(b"\n".join)
picks = st.lists(st.sampled_from([0, 1, 2, 3, 4, 5, 6, 0xFFFFFFFF]), unique=True, max_size=8)


def test_hosts_and_the_first_letter_of_paths() -> None:
    names = [
        ("10.0.0.1/a", "10.0.0.1", "a"), ("[::1]:80/b/c", "[::1]", "b"), ("example.com", "example.com", ""),
        ("example.com?q", "example.com", "q"), ("example.com/~ann", "example.com", "~"),
        ("example.com:8080", "example.com", ""), ("example.com:8080/~ann", "example.com", "~"),
        ("blog.example.com/x", "blog.example.com", "x"), ("localhost:3000/y", "localhost", "y"),
        ("name:12", "name:12", ""), ("name:a)b/c", "name:a)b/c", ""),
    ]  # fmt: skip
    data, offsets = joined([key(name).encode() for name, _, _ in names])
    first, lengths, initials = (
        np.zeros(len(names), np.bool_),
        np.zeros(len(names), np.int64),
        np.zeros(len(names), np.uint8),
    )
    mark_hosts(data, offsets, first, lengths, initials)
    hosts = [host for _, host, _ in names]
    assert first.tolist() == [host != before for host, before in zip(hosts, ["", *hosts], strict=False)]
    assert [chr(initial) if initial else "" for initial in initials] == [letter for _, _, letter in names]


@given(st.lists(st.tuples(texts, picks), max_size=8), st.randoms(use_true_random=False))
def test_lines_are_picked(rows: list[tuple[bytes, list[int]]], random: object) -> None:
    data, offsets = joined([text for text, _ in rows])
    order = list(range(len(rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    positions = np.array([p for row in order for p in rows[row][1]], np.uint32)
    starts = np.cumsum([0, *(len(rows[row][1]) for row in order)])
    out, ends = np.zeros(len(data) + len(positions) + len(rows) + 1, np.uint8), np.zeros(len(rows), np.int64)
    used = pick_lines(data, offsets, np.array(order, np.int64), positions, starts, out, ends)
    begins = [0, *ends.tolist()]
    found = [out[begin:end].tobytes() for begin, end in zip(begins, ends.tolist(), strict=False)]
    wanted = []
    for row in order:
        lines = rows[row][0].split(b"\n")
        picked = [lines[p] if p < len(lines) else b"" for p in rows[row][1]]
        while picked and not picked[-1]:
            picked.pop()
        wanted.append(b"\n".join(picked))
    assert found == wanted
    assert used == sum(map(len, wanted))
