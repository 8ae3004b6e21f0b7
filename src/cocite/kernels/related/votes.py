"""How much the lists of every page count, by the rules of a question, for what is made ahead of questions."""

import numpy as np

from cocite.kernels.codec.link_codec import DAMAGED
from cocite.kernels.hash_tables import add_members, new_set, number_of
from cocite.kernels.jit import kernel
from cocite.kernels.related.blend import sum_of
from cocite.kernels.related.likeness import weigh_parents
from cocite.kernels.related.neighbourhood import choose_parents, read_parents, representatives

MAX_PARENTS = 2000
MAX_PARENT_LINKS = 2000  # around the link to the page


@kernel
def weigh_listings(web, pages, starts, sources, weights, votes):
    """Set for each page the weights of the lists sources[starts[i]:starts[i + 1]], and how many of its in-links count.

    A copy has 0, and so have lists that aren't read, of a page with more than MAX_PARENTS. All in-links count of a page
    without lists. Returns 0 or DAMAGED.
    """
    excluded = web.counted.excluded
    for i in range(len(pages)):
        page, low, high = np.int64(pages[i]), starts[i], starts[i + 1]
        weights[low:high] = 1.0
        votes[i] = web.into.degree[page]
        if votes[i] < 2 or low == high:
            continue
        state, some = choose_parents(web.into, web.choice, excluded, page, MAX_PARENTS)
        near, names = web.near, np.empty(len(some), np.uint32)
        few = len(some) < web.chance.sample
        if few and representatives(near.page, near.representative, some, names) == 0 and state >= 0:
            continue  # nothing shows what is chance, and there are no copies
        count, parents = read_parents(web.counted.out, some, page, MAX_PARENTS, MAX_PARENT_LINKS, excluded, True)
        if min(state, count) < 0:
            return np.int64(DAMAGED)
        found, _ = weigh_parents(web, parents, np.ones(count), count)
        index = new_set(count)
        add_members(index, np.int64(0), parents.pages)
        votes[i] = np.uint32(np.ceil(sum_of(found) / max(1, count) * votes[i]))
        for k in range(low, high):
            number = number_of(index.table, sources[k])
            weights[k] = found[number] if number >= 0 else 0.0
    return np.int64(0)
