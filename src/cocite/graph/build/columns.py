"""Arrow columns of page records as NumPy arrays; invalid values become unknown ones."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cocite.graph.arrays import BOILERPLATE, REL
from cocite.kernels.codec.attributes import MAX_BLOCK, pack_all


def flatten_lists(lists: pa.Array | None, count: int) -> tuple[NDArray[np.int64], pa.Array]:
    """(number of items per row, all items in one array)."""
    if lists is None or pa.types.is_null(lists.type):
        return np.zeros(count, np.int64), pa.array([], pa.string())
    sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return sizes, lists.flatten()


def struct_field(links: pa.Array, name: str) -> pa.Array | None:
    """A field of all links, None where no link has it; links may be bare addresses."""
    if not pa.types.is_struct(links.type):
        return None
    index = links.type.get_field_index(name)
    return None if index < 0 else present(links.field(index))


def present(values: pa.Array | None) -> pa.Array | None:
    """None instead of a column of nulls or of empty texts."""
    if values is None or values.null_count == len(values):
        return None
    if (
        pa.types.is_string(values.type)
        and values.buffers()[2] is not None
        and not pc.max(pc.binary_length(values)).as_py()
    ):
        return None
    return values


def text_buffers(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of all texts and where each starts; nulls are empty."""
    if texts.type not in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        texts = texts.cast(pa.large_string())
    if texts.null_count:
        texts = pc.fill_null(texts, pa.scalar("" if "string" in str(texts.type) else b"", texts.type))
    width = np.int32 if texts.type in (pa.string(), pa.binary()) else np.int64
    _, offset_buffer, data_buffer = texts.buffers()
    if offset_buffer is None or len(texts) == 0:
        return np.zeros(0, np.uint8), np.zeros(len(texts) + 1, np.int64)
    offsets = np.frombuffer(offset_buffer, width)[texts.offset : texts.offset + len(texts) + 1]
    data = np.frombuffer(data_buffer, np.uint8) if data_buffer is not None else np.zeros(0, np.uint8)
    return data, offsets.astype(np.int64)


def read_booleans(values: pa.Array | None, count: int) -> NDArray[np.bool_]:
    """True where the column says so."""
    if values is None or values.null_count == count:
        return np.zeros(count, np.bool_)
    flags: NDArray[np.bool_] = pc.fill_null(values, False).to_numpy(zero_copy_only=False)
    return flags


def read_numbers(values: pa.Array | None, count: int, most: int) -> NDArray[np.int64]:
    """Whole numbers in 0 to `most`; everything else is 0."""
    if values is None or values.null_count == count:
        return np.zeros(count, np.int64)
    numbers = pc.fill_null(values, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.where((numbers >= 0) & (numbers <= most), numbers, 0)


def read_languages(values: pa.Array | None, count: int) -> NDArray[np.uint32]:
    """Language codes as the number of their first two or three letters."""
    if values is None or values.null_count == count:
        return np.zeros(count, np.uint32)
    encoded = pc.dictionary_encode(pc.fill_null(values, ""))
    codes = np.array([language_number(text) for text in encoded.dictionary.to_pylist()] or [0], np.uint32)
    languages: NDArray[np.uint32] = codes[encoded.indices.to_numpy(zero_copy_only=False)]
    return languages


def language_number(text: str) -> int:
    """`en-GB` → the bytes of `en` as a number; 0 if it isn't a language code."""
    code = text.replace("_", "-").split("-")[0].strip().lower()
    return int.from_bytes(code.encode(), "little") if code.isascii() and code.isalpha() and 2 <= len(code) <= 3 else 0


def read_attributes(
    blocks: pa.Array | None, rel: pa.Array | None, boilerplate: pa.Array | None, count: int
) -> NDArray[np.uint32]:
    """The packed attribute of every link."""
    numbers, flags = np.zeros(count, np.uint32), np.zeros(count, np.uint32)
    if blocks is not None:
        given = pc.fill_null(blocks, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        numbers = (np.clip(given, -1, MAX_BLOCK) + 1).astype(np.uint32)
    if rel is not None:
        encoded = pc.dictionary_encode(pc.fill_null(rel, ""))
        known = [sum(REL.get(w, 0) for w in set(text.lower().split())) for text in encoded.dictionary.to_pylist()]
        flags |= np.array(known or [0], np.uint32)[encoded.indices.to_numpy(zero_copy_only=False)]
    if boilerplate is not None:
        flags |= read_booleans(boilerplate, count) * np.uint32(BOILERPLATE)
    return pack_all(numbers, flags)


def read_weights(values: pa.Array | None, count: int) -> tuple[NDArray[np.float32], int]:
    """(weights, how many were unusable); empty where every weight is 1."""
    if values is None:
        return np.zeros(0, np.float32), 0
    weights = pc.fill_null(values, 1.0).to_numpy(zero_copy_only=False).astype(np.float32)
    bad = ~((weights > 0) & (weights <= 1))
    weights = np.where(bad, np.float32(1), weights)
    return (weights if (weights != 1).any() else np.zeros(0, np.float32)), int(bad.sum())


def parse_date(text: str) -> int:
    """Seconds since 1970 of an ISO date or time, or of a 14-digit archive timestamp; 0 if it is neither."""
    text = text.strip()
    try:
        if text.isdigit() and len(text) == 14:
            moment = datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        else:
            moment = datetime.fromisoformat(text)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return min(max(int(moment.timestamp()), 0), 0xFFFFFFFF)
    except (ValueError, OverflowError):
        return 0


def one_line(texts: pa.Array, longest: int) -> pa.Array:
    """Texts without line breaks and other control characters, cut to a length, nulls empty."""
    texts = pc.fill_null(texts.cast(pa.string()), "")
    if pc.any(pc.match_substring_regex(texts, r"[\x00-\x1f]")).as_py():
        texts = pc.replace_substring_regex(texts, r" *[\x00-\x1f][\x00-\x20]*", " ")
    if (pc.max(pc.binary_length(texts)).as_py() or 0) > longest:
        texts = pc.utf8_slice_codeunits(texts, 0, longest)
    return texts


def join_lines(texts: pa.Array, counts: NDArray[np.int64]) -> pa.Array:
    """One text per row: its items as lines; a row of empty items only is null."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    lists = pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), texts)
    joined = pc.binary_join(lists, "\n")
    return pc.if_else(pc.match_substring_regex(joined, r"[^\n]"), joined, None)
