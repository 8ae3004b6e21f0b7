"""Runs of keys and of hosts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocite.kernels.addresses.names import mark_changes, mark_hosts
from cocite.pages.key import key
from tests.kernels.test_name_codec import joined


@given(st.lists(st.sampled_from([b"a", b"ab", b"b", b"ba"]), max_size=12), st.sampled_from([b"", b"a", b"ab"]))
def test_changes(texts: list[bytes], before: bytes) -> None:
    data, offsets = joined(texts)
    first = np.zeros(len(texts), np.bool_)
    mark_changes(data, offsets, np.frombuffer(before, np.uint8), first)
    assert first.tolist() == [text != previous for text, previous in zip(texts, [before, *texts], strict=False)]


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
