"""Known addresses close to an unknown one: suggestions for a misspelled address.

In this order: spellings that are one edit away (a letter too many, too few, wrong, or two exchanged, in the host if the
store does not know it, else in the last part of the path), the same name under other suffixes (`lufthansa.de`,
`lufthansa` → `lufthansa.com`), shorter addresses of the same path, and the most cited pages beside them.

Spellings are looked up by their fingerprints, all at once: some 2,000 in 4 ms, however large the store is.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from cocite.errors import BadAddress
from cocite.graph.names import PageNames, PageRange, encode_key, packed
from cocite.kernels.addresses.hashes import hash_keys
from cocite.pages import address as rules
from cocite.pages.key import host
from cocite.pages.site import domain

IN_HOST = "abcdefghijklmnopqrstuvwxyz0123456789-."
IN_PATH = IN_HOST + "_~"
IN_NAME = IN_PATH + "ABCDEFGHIJKLMNOPQRSTUVWXYZ ,'"
EDITED_CHARACTERS = range(4, 33)  # shorter texts are one edit away from too many others, longer have too many spellings
MAX_PREFIX_CHARACTERS = 160
MAX_SHORTER_ADDRESSES = 12
WINDOW_PAGES = 4096  # pages around an address among which the most cited are looked for
MAX_BUCKET_PAGES = 32  # pages read of a bucket of fingerprints: it has about four, and only a damaged store has more
COMMON_SUFFIXES = (
    "com", "org", "net", "edu", "gov", "io", "co", "info", "de", "uk", "co.uk", "org.uk", "ac.uk", "fr", "it", "es",
    "nl", "be", "ch", "at", "se", "no", "dk", "fi", "pl", "cz", "pt", "gr", "ie", "eu", "ru", "ua", "tr", "br",
    "com.br", "ar", "com.ar", "mx", "com.mx", "jp", "co.jp", "cn", "com.cn", "kr", "co.kr", "in", "co.in", "au",
    "com.au", "nz", "co.nz", "za", "co.za", "ca", "us", "me", "tv", "ai", "app", "dev",
)  # fmt: skip
"""Common ends of hosts, those of the most pages first."""


def nearest(names: PageNames, address: str, limit: int = 5) -> list[str]:
    """Known addresses close to an unknown one, the likeliest first."""
    try:
        canonical = rules.parse_query(address).canonical
    except BadAddress:
        return []
    found: dict[int, None] = {}
    for page in candidates(names, canonical, limit):
        found.setdefault(names.alias_target(page))
        if len(found) >= limit:
            break
    return [names.address(page) for page in found]


def candidates(names: PageNames, canonical: str, limit: int) -> Iterator[int]:
    """Pages that the user may mean, the likeliest first; some of them repeatedly."""
    if canonical.startswith("name:"):
        name = canonical[5:]
        yield from find_all(names, ("name:" + text for text in edits(name, IN_NAME)))
        yield from find_all(names, ("name:" + text for text in {name.lower(), name.upper(), name.title()}))
        if re.fullmatch(r"[A-Za-z0-9-]+", name):
            yield from find_all(names, (f"{name.lower()}.{suffix}" for suffix in COMMON_SUFFIXES))
        return
    place = host(canonical)
    path = canonical[len(place) :]
    if not names.pages_below(place):
        others = [*edits(place, IN_HOST), *other_suffixes(place)]
        if 0 < len(path) <= MAX_PREFIX_CHARACTERS:
            yield from find_all(names, (other + path for other in others))
        yield from find_all(names, others)
        return
    cut = max(canonical.rfind(mark) for mark in "/?#&=") + 1
    if len(place) < cut <= MAX_PREFIX_CHARACTERS:
        yield from find_all(names, (canonical[:cut] + text for text in edits(canonical[cut:], IN_PATH)))
    shorter = chopped(canonical)
    yield from (page for text in shorter if (page := names.find_canonical(text)) >= 0)
    for text in shorter or [canonical]:
        yield from most_cited(names, names.pages_below(text), canonical, limit)


def edits(text: str, alphabet: str) -> Iterator[str]:
    """Every text that is one insertion, deletion, replacement or exchange of neighbours away."""
    if len(text) not in EDITED_CHARACTERS:
        return
    for i in range(len(text) + 1):
        before, after = text[:i], text[i:]
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in alphabet if letter != after[0])
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        yield from (before + letter + after for letter in alphabet)


def other_suffixes(place: str) -> Iterator[str]:
    """The same host under other suffixes."""
    name, _, suffix = domain(place).partition(".")
    if suffix and not suffix[-1].isdigit():  # else it is an IP address
        yield from (f"{name}.{other}" for other in COMMON_SUFFIXES if other != suffix)


def chopped(canonical: str) -> list[str]:
    """Shorter addresses of the same path, the longest first, the host last."""
    shorter = list(islice(rules.chop(canonical), MAX_SHORTER_ADDRESSES))
    return list(dict.fromkeys([*shorter, re.split("[/?#]", canonical)[0]])) if shorter else []


def most_cited(names: PageNames, every: PageRange, query: str, limit: int) -> list[int]:
    """The pages of a range with the most in-links; if it has very many, of those near the query."""
    under, new = (every, list[int]()) if isinstance(every, range) else (every.base, every.new[:WINDOW_PAGES])
    if len(under) > WINDOW_PAGES:
        first = names.pages_before(encode_key(query)) - WINDOW_PAGES // 2
        first = max(under.start, min(first, under.stop - WINDOW_PAGES))
        under = range(first, first + WINDOW_PAGES)
    pages = np.array([*filter(names.exists, under), *new], np.int64)
    degrees = names.arrays["in.degree"][pages].astype(np.int64)
    best: list[int] = pages[np.lexsort((names.address_keys(pages), -degrees))[:limit]].tolist()
    return best


def find_all(names: PageNames, spellings: Iterable[str]) -> list[int]:
    """The pages of those canonical addresses that the store has, the most cited first."""
    keys = [encode_key(text) for text in dict.fromkeys(spellings) if text.strip("./")]
    if not keys or not names.arrays.pages:
        return []
    fingerprints = np.zeros(len(keys), np.uint64)
    hash_keys(*packed(keys), fingerprints)
    index, last = names.index, names.arrays.base.pages - 1
    shift = np.uint64(64 - (len(index.start) - 1).bit_length() + 1)
    bucket = (fingerprints >> shift).astype(np.int64)
    at, stop = index.start[bucket].astype(np.int64), np.minimum(index.start[bucket + 1], len(index.page))
    hits: set[int] = set()
    for _ in range(MAX_BUCKET_PAGES):
        left = np.flatnonzero(at < stop)
        there = np.minimum(index.page[at[left]], last)
        hits.update(left[index.fingerprint[there] == fingerprints[left]].tolist())
        at[left] += 1
    hits.update(names.hits_among_new(fingerprints))
    pages = {page for hit in hits if (page := names.find_key(keys[hit])) >= 0}
    degrees = names.arrays["in.degree"]
    chosen = np.array(sorted(pages), np.int64)
    found: list[int] = chosen[np.lexsort((names.address_keys(chosen), -degrees[chosen].astype(np.int64)))].tolist()
    return found
