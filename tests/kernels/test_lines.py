"""Picking lines against split and join."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.kernels.addresses.lines import pick_lines
from tests.kernels.test_name_codec import joined

texts = st.lists(st.sampled_from([b"", b"a", b"bc", "名".encode()]), max_size=6).map(b"\n".join)
picks = st.lists(st.sampled_from([0, 1, 2, 3, 4, 5, 6, 0xFFFFFFFF]), unique=True, max_size=8)


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
