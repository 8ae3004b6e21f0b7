"""Links of which a sample stands in for long lists: sets of links, and Kleinberg's extension."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.build.parents import StoredParents, row_of, sample_parents
from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.codec.lists import Lists, prefetch, read_grown, read_list
from cocite.kernels.hash_tables import NumberedSet, add_member
from cocite.kernels.jit import inline, kernel, lean_inline


class SampledLists(NamedTuple):
    """Lists, the samples of long ones that the store keeps, and the fingerprints of all pages, which draw others."""

    lists: Lists
    sample: StoredParents
    fingerprints: NDArray[np.uint64]


class Extension(NamedTuple):
    """Pages in the order in which they are found, and the index of the page from which each was reached."""

    found: NumberedSet
    origin: NDArray[np.int64]


@lean_inline
def stored_sample(sampled, page):
    """The bounds in `sample.parent` of the sample of a page; an empty one if there is none."""
    row = row_of(sampled.sample, page)
    return (row, row + np.int64(sampled.sample.size)) if row >= 0 else (np.int64(0), np.int64(0))


@inline
def read_sample(sampled, seed, page, most, few):
    """Read the links of a page, of more than `most` those with the smallest hashes. Returns how many, or DAMAGED."""
    lists, fingerprints = sampled.lists, sampled.fingerprints
    degree = np.int64(lists.degree[page])
    if degree <= most:
        return read_list(lists, page, few, few[:0])
    start, stop = stored_sample(sampled, page)
    if most <= stop - start < degree:
        few[:most] = sampled.sample.parent[start : start + most]
        for k in range(most):
            if few[k] >= len(fingerprints):
                return np.int64(DAMAGED)
        return np.int64(most)
    count, links = read_grown(lists, page, few)
    if count < 0:
        return count
    return sample_parents(links[:count], fingerprints[page], fingerprints, seed, most, few)


@kernel
def read_sets(sampled, seed, pages, most, sets):
    """Read the links of each page, ascending and without itself, as rows of `sets`; `most`, of the smallest hashes."""
    few, at = np.empty(most, np.uint32), np.int64(0)
    sets.starts[0] = 0
    for i in range(len(pages)):
        prefetch(sampled.lists, pages, i)
        count = read_sample(sampled, seed, np.int64(pages[i]), most, few)
        if count < 0:
            return np.int64(DAMAGED)
        ordered = np.sort(few[:count])
        for k in range(count):
            if ordered[k] != pages[i] and (k == 0 or ordered[k] != ordered[k - 1]):
                sets.columns[at] = ordered[k]
                at += 1
        sets.starts[i + 1] = at
    return np.int64(0)


@kernel
def sample_rows(rows, owners, fingerprints, seed, most, sets):
    """Of rows with more than `most` columns keep those that `read_sets` keeps; row i is of page owners[i]."""
    few, at = np.empty(most, np.uint32), np.int64(0)
    sets.starts[0] = 0
    for i in range(len(owners)):
        columns = rows.columns[rows.starts[i] : rows.starts[i + 1]]
        if len(columns) > most:
            sample_parents(columns, fingerprints[owners[i]], fingerprints, seed, most, few)
            columns = np.sort(few)
        sets.columns[at : at + len(columns)] = columns
        at += len(columns)
        sets.starts[i + 1] = at


@kernel
def extend(out, into, seed, pages, most, extension, count):
    """Kleinberg's extension: all children, and the `most` parents with the smallest hashes. Returns how many pages."""
    links, few = np.empty(1024, np.uint32), np.empty(max(1, most), np.uint32)
    for i in range(len(pages)):
        page = np.int64(pages[i])
        prefetch(out, pages, i)
        children, links = read_grown(out, page, links)
        parents = read_sample(into, seed, page, most, few) if most > 0 else np.int64(0)
        if children < 0 or parents < 0:
            return np.int64(DAMAGED)
        for k in range(children + parents):
            if add_member(extension.found, count, links[k] if k < children else few[k - children]) == count:
                extension.origin[count] = i
                count += 1
    return count
