"""The names of a build in the order of their keys, sorted in memory by all threads."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cocite.graph.build.names import NAME_COLUMNS, text_buffers
from cocite.graph.build.scratch import ScratchSpace, Workers
from cocite.kernels.build.sort_texts import WORD_BYTES, SortedRows, Texts, sort_texts, sort_words

BYTES_PER_NAME = 48  # beside those of its columns
SORTED_PARTS = 64  # parts that threads sort; a larger one is cut by its next eight bytes
MIN_TASK_NAMES = 1 << 12


class Names(NamedTuple):
    """Names as columns; keys are in `texts`."""

    texts: Texts
    order: NDArray[np.uint16]
    tag: NDArray[np.uint64]
    shown: pa.Array


def memory_to_sort(scratch: ScratchSpace) -> int:
    """The bytes that `sorted_in_memory` takes."""
    rows, size = scratch.table_size(".names")
    return size + rows * BYTES_PER_NAME


def sorted_in_memory(scratch: ScratchSpace, workers: Workers, batch_names: int) -> Iterator[pa.RecordBatch]:
    """The first name of each page, in the order of keys, then of spellings: rows of NAME_COLUMNS."""
    names = load_names(scratch, workers)
    chosen = sorted_rows(names.texts, workers)
    data, start, _ = names.texts
    buffers = [None, pa.py_buffer(start), pa.py_buffer(data)]
    keys = pa.Array.from_buffers(pa.large_binary(), len(start) - 1, buffers)

    def batch(first: int) -> pa.RecordBatch:
        rows = chosen[first : first + batch_names]
        places = pa.array(rows)
        columns = [keys.take(places).cast(pa.binary()), names.order[rows], names.tag[rows], names.shown.take(places)]
        return pa.RecordBatch.from_arrays(columns, schema=NAME_COLUMNS)

    return workers.in_order(batch, range(0, len(chosen), batch_names))


def load_names(scratch: ScratchSpace, workers: Workers) -> Names:
    """All names of a build."""
    rows, size = scratch.table_size(".names")
    data, start = np.empty(size + WORD_BYTES, np.uint8), np.zeros(rows + 1, np.int64)
    order, tag, shown = np.empty(rows, np.uint16), np.empty(rows, np.uint64), list[pa.Array]()
    at = end = 0
    for table in workers.in_order(scratch.load_table, scratch.names(".names")):
        for batch in table.to_batches() if table is not None else ():
            keys, offsets = text_buffers(batch.column("key"))
            some = slice(at, at + len(batch))
            order[some], tag[some] = batch.column("order").to_numpy(), batch.column("tag").to_numpy()
            shown.append(batch.column("shown"))
            start[at + 1 : at + len(batch) + 1] = offsets[1:] - offsets[0] + end
            more = int(offsets[-1] - offsets[0])
            data[end : end + more] = keys[offsets[0] : offsets[-1]]
            at, end = at + len(batch), end + more
    texts = pa.chunked_array(shown, pa.string()).combine_chunks()
    return Names(Texts(data, start, ranks_of(order, texts)), order, tag, texts)


def ranks_of(order: NDArray[np.uint16], shown: pa.Array) -> NDArray[np.uint64]:
    """Numbers that order the spellings of a page: by order, then by the text that is shown."""
    ranks = order.astype(np.uint64) << np.uint64(32)
    with_text = np.flatnonzero(shown.is_valid().to_numpy(zero_copy_only=False))
    by_text = pc.sort_indices(shown.take(pa.array(with_text))).to_numpy()
    ranks[with_text[by_text]] |= np.arange(len(with_text), dtype=np.uint64)
    return ranks


def sorted_rows(texts: Texts, workers: Workers) -> NDArray[np.uint32]:
    """The rows of texts in their order; of equal ones that of lowest rank only."""
    count = len(texts.start) - 1
    rows = SortedRows(np.arange(count, dtype=np.uint32), np.zeros(count, np.uint64), np.ones(count, np.bool_))
    longest, limit = int(np.diff(texts.start).max(initial=0)), max(MIN_TASK_NAMES, count // SORTED_PARTS)
    tasks, waiting = list[tuple[int, int, int]](), [(0, count, 0)]
    while waiting:
        low, high, depth = waiting.pop()
        sort_words(texts, rows, low, high, depth)
        words = rows.word[low:high]
        borders = np.concatenate([[low], np.flatnonzero(words[1:] != words[:-1]) + low + 1, [high]])
        begin = low
        for run in np.flatnonzero(np.diff(borders) > limit).tolist():
            start, stop = borders[run : run + 2].tolist()
            if rows.word[start] & np.uint64(0xFF):
                tasks += parts_of(borders, begin, start, limit, depth)
                waiting.append((start, stop, depth + WORD_BYTES))
                begin = stop
        tasks += parts_of(borders, begin, high, limit, depth)

    def work(task: tuple[int, int, int]) -> None:
        sort_texts(texts, rows, *task, longest)

    for _ in workers.in_order(work, tasks):
        pass
    return rows.row[rows.first]


def parts_of(borders: NDArray[np.int64], low: int, high: int, limit: int, depth: int) -> Iterator[tuple[int, int, int]]:
    """[low, high) in parts of about `limit` rows that end at borders."""
    while low < high:
        end = min(high, int(borders[np.searchsorted(borders, low + limit)])) if low + limit < high else high
        yield low, end, depth
        low = end
