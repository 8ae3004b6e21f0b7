"""Addresses and titles of the generated web: each a pure function of the seed and the page's number.

A site has a name, a scheme, a habit of `www.`, sections two to four levels deep, and one of five ways to lay out its
pages: dated news, a blog, a shop with numbered items, documents by subject, a forum with numbered threads; one page in
eight is outside the layout.
Dates and numbers grow with the order of writing; sections, subjects and words don't. So the order of addresses agrees
with the order of writing only within a section of a dated or numbered site.

No two pages share an address, whatever spelling rules may merge: the letters before the first hyphen of a site's name
end in a code that no other site has. A section's address ends in a word that no other section of the site ends in; a
page's title ends in words that no other page of the site ends in, or its address in a number that no other has. Only
below a single word, a date or a number, or before `.html`, are there pages, and never sections.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import int64, uint64

from cocite.kernels.jit import inline, kernel
from web_model import (
    ANCHORS,
    PAGE_NAMES,
    SITE_NAMES,
    SITE_STYLES,
    below,
    draw,
    front_pages,
    permuted,
    site_of,
    stream,
    unit,
)

Array = npt.NDArray[Any]

# The first words are the most used; 512 of them make a word worth nine bits of a page's code.
WORDS = """
new world year time guide people city best free home day work how to why what from with for the and first last next
great water music school house food game market state public health history local national open story week night team
student report review summer winter spring autumn travel island river mountain garden forest ocean coast valley
village street bridge station harbour airport railway museum gallery theatre festival concert opera film camera
picture paint colour light shadow window door kitchen bread cheese coffee tea wine beer apple orange lemon pepper salt
sugar chicken fish soup salad cake recipe dinner lunch breakfast restaurant hotel room table chair lamp carpet mirror
clock engine car bicycle train plane ship boat road traffic driver journey ticket map tour holiday beach camp climb
run swim football cricket tennis rugby golf hockey league season match goal score player coach club champion record
medal race horse dog cat bird eagle lion tiger bear wolf fox rabbit mouse snake insect bee butterfly flower rose tree
leaf grass seed farm farmer field harvest weather rain snow storm wind cloud sun moon star planet space rocket
satellite science physics chemistry biology medicine doctor nurse hospital patient vaccine virus heart brain sleep
diet exercise fitness yoga running walking research study result theory method model data number figure chart theorem
proof equation computer software hardware network server browser website program code language compiler library
database index query search machine learning robot sensor battery energy power solar electric nuclear oil gas coal
climate carbon policy law court judge lawyer police trial election vote party minister president parliament senate
council mayor government budget tax trade bank money price cost credit loan interest stock bond share investor fund
economy growth inflation business company office manager worker union wage pension insurance product design style
fashion dress shoe jacket watch gold silver copper iron steel glass stone wood paper plastic cotton wool leather
factory tool hammer repair build building tower castle palace church temple cathedral monument statue painter sculptor
poet writer author novel poem essay letter diary journal magazine newspaper editor press radio television channel
video audio podcast series episode actor actress director producer scene stage dance ballet singer band album song
guitar piano violin drum orchestra choir melody rhythm jazz rock folk classic modern ancient medieval empire king
queen prince princess knight soldier army navy peace battle victory treaty border country nation region province
capital town county district square park lake pond stream waterfall desert jungle cave cliff volcano earthquake flood
fire rescue safety warning danger accident injury help support charity volunteer donate gift present birthday wedding
family mother father sister brother child baby parent grandmother friend neighbour community society culture tradition
hope love fear announcement appointment architecture collection comparison conference construction conversation
development environment examination experience experiment explanation exploration generation imagination information
instrument introduction investigation laboratory legislation manufacture mathematics measurement neighbourhood
observation opportunity organisation partnership performance philosophy photography population presentation production
professional programme protection psychology publication recommendation relationship renovation replacement
representation reservation responsibility satisfaction scholarship settlement subscription technology temperature
transformation translation transportation understanding university vegetable
"""
SECTIONS = """
news sport politics business culture science travel health opinion events projects guide articles archive products shop
help forum topics reviews people press research library blog docs stories features regions catalogue notes community
"""
# A name's share is the number of times it appears here.
DOMAINS = """
com com com com com com com com com com com com com org org org org net net de de co.uk info io fr nl edu it jp ch
"""
NEWS, BLOG, SHOP, DOCUMENTS, FORUM, OUTSIDE = range(6)
LAYOUTS = np.array(
    [NEWS, NEWS, NEWS, BLOG, BLOG, BLOG, BLOG, SHOP, SHOP, DOCUMENTS, DOCUMENTS, DOCUMENTS, FORUM, FORUM]
)
BRANCHES = 8  # sections of the first level, at most
CATEGORIES = 12  # subjects into which a shop or a collection of documents is divided
SPACE, HYPHEN, DOT, SLASH, NOUGHT, UNDERSCORE, TO_CAPITAL = 32, 45, 46, 47, 48, 95, 32
LONGEST = 512  # bytes; more than any address or title takes


def table(text: str) -> tuple[Array, Array]:
    """Words as bytes and offsets, which compiled loops can hold as constants."""
    words = text.split()
    return np.frombuffer("".join(words).encode(), np.uint8), np.cumsum([0, *map(len, words)])


WORD_BYTES, WORD_ENDS = table(WORDS)
SECTION_BYTES, SECTION_ENDS = table(SECTIONS)
DOMAIN_BYTES, DOMAIN_ENDS = table(DOMAINS)
CONSONANTS, VOWELS = np.frombuffer(b"bcdfghjklmnpqrstvwxz", np.uint8), np.frombuffer(b"aeiou", np.uint8)


@inline
def put(out: Any, at: Any, text: Any) -> Any:
    """Write bytes; the new end."""
    for k in range(len(text)):
        out[at + k] = text[k]
    return at + len(text)


@inline
def put_from(out: Any, at: Any, texts: Any, ends: Any, index: Any) -> Any:
    """Write one text of a table."""
    for k in range(ends[index], ends[index + 1]):
        out[at] = texts[k]
        at += 1
    return at


@inline
def put_word(out: Any, at: Any, index: Any, capital: Any) -> Any:
    """Write a word, with a capital if asked."""
    end = put_from(out, at, WORD_BYTES, WORD_ENDS, index)
    if capital:
        out[at] -= TO_CAPITAL
    return end


@inline
def put_number(out: Any, at: Any, number: Any, least_digits: Any) -> Any:
    """Write a number, padded with zeros."""
    digits, rest = 1, number // 10
    while rest > 0 or digits < least_digits:
        digits += 1
        rest //= 10
    for k in range(digits):
        out[at + digits - 1 - k] = NOUGHT + number % 10
        number //= 10
    return at + digits


@inline
def common_word(bits: Any) -> Any:
    """A word as texts use them: by a Zipf law."""
    return min(int64(513.0 ** unit(bits)), 512) - 1


@inline
def put_name(out: Any, at: Any, key: Any, site: Any, sites: Any) -> Any:
    """Write a site's name: perhaps a word, a code that no other site has, perhaps a hyphen and a word."""
    bits = draw(key, site)
    if bits & uint64(3):
        at = put_word(out, at, below(draw(bits, 1), 512), False)
    syllables, names = 3, 1_000_000
    while names < 2 * sites:
        syllables, names = syllables + 1, names * 100
    code = permuted(site, names, key)
    for _ in range(syllables):
        out[at], out[at + 1] = CONSONANTS[code % 100 // 5], VOWELS[code % 5]
        at, code = at + 2, code // 100
    if bits & uint64(28) == 0:
        out[at] = HYPHEN
        at = put_word(out, at + 1, below(draw(bits, 2), 512), False)
    return at


@inline
def put_host(out: Any, at: Any, key: Any, site: Any, sites: Any, habits: Any) -> Any:
    """Write scheme and host."""
    at = put(out, at, b"https://") if habits & uint64(3) else put(out, at, b"http://")
    if habits & uint64(4):
        at = put(out, at, b"www.")
    at = put_name(out, at, key, site, sites)
    out[at] = DOT
    return put_from(out, at + 1, DOMAIN_BYTES, DOMAIN_ENDS, below(draw(habits, 1), len(DOMAIN_ENDS) - 1))


@inline
def put_branch(out: Any, at: Any, habits: Any, number: Any) -> Any:
    """Write one of the names, all different, of a site's sections of the first level."""
    index = uint64(number % BRANCHES) * ((habits >> uint64(16)) | uint64(1)) + (habits >> uint64(8))
    return put_from(out, at, SECTION_BYTES, SECTION_ENDS, int64(index & uint64(31)))


@inline
def put_section(out: Any, at: Any, habits: Any, number: Any, deeper: Any, gap: Any) -> Any:
    """Write the path of a section, such as guide/energy or press/trade-union/gallery: each ends in a word of its own.

    The words are those of the second half, which are nouns.
    """
    at = put_branch(out, at, habits, number)
    bits = draw(habits, 64 + number)
    words = 1 + below(bits, 6)
    step = (habits >> uint64(32)) | uint64(1)
    for k in range(words):
        out[at] = gap if k & 1 else deeper
        word = draw(bits, k) if k < words - 1 else (habits >> uint64(24)) + uint64(number) * step
        at = put_word(out, at + 1, int64((word & uint64(255)) | uint64(256)), False)
    return at


@inline
def put_title(
    out: Any, at: Any, bits: Any, code_key: Any, local: Any, size: Any, extra: Any, gap: Any, capitals: Any, most: Any
) -> Any:
    """Write up to `most` words of a page's title: common ones, then those that spell the page's code."""
    coded = 2 if size <= 1 << 18 else 4
    code = permuted(local, int64(1) << (9 * coded), code_key)
    for k in range(min(extra + coded, most)):
        if k > 0:
            out[at] = gap
            at += 1
        if k < extra:
            at = put_word(out, at, common_word(draw(bits, 16 + k)), capitals)
        else:
            at = put_word(out, at, code & 511, capitals)
            code >>= 9
    return at


@inline
def put_date(out: Any, at: Any, habits: Any, bits: Any, local: Any, size: Any, with_day: Any) -> Any:
    """Write year, month and perhaps day of a page: a site begins between 2003 and 2018 and goes on to 2025."""
    begin = 1100 + below(draw(habits, 2), 5500)  # days since 1 March 2000
    day = begin + (9000 - begin) * local // size + below(draw(bits, 1), 5)
    years = (4 * day + 3) // 1461
    of_year = day - 1461 * years // 4
    month = (5 * of_year + 2) // 153
    out[at] = SLASH
    at = put_number(out, at + 1, 2000 + years + (month >= 10), 4)
    out[at] = SLASH
    at = put_number(out, at + 1, month + 3 if month < 10 else month - 9, 2)
    if with_day:
        out[at] = SLASH
        at = put_number(out, at + 1, of_year - (153 * month + 2) // 5 + 1, 2)
    out[at] = SLASH
    return at + 1


@inline
def title_words(layout: Any, bits: Any) -> Any:
    """How many common words a title has beside its code."""
    return below(draw(bits, 2), 4) + (layout == BLOG)


@inline
def put_path(out: Any, at: Any, habits: Any, bits: Any, local: Any, size: Any) -> Any:
    """Write the path of a page that is not a front page, as its site lays pages out."""
    layout = LAYOUTS[below(draw(habits, 3), len(LAYOUTS))]
    if bits & uint64(7) == 0:
        layout = OUTSIDE
    number = 1000 + below(draw(habits, 4), 90_000) + 3 * local + below(draw(bits, 3), 3)
    extra = title_words(layout, bits)
    gap, capitals = HYPHEN, False
    if layout != BLOG:
        out[at] = SLASH
        at = put_branch(out, at + 1, habits, 1 + below(draw(bits, 4), max(1, front_pages(size) - 1)))
    if layout in (NEWS, BLOG):
        at = put_date(out, at, habits, bits, local, size, layout == NEWS)
    else:
        out[at] = SLASH
        at += 1
    if layout in (SHOP, DOCUMENTS):
        at = put_word(out, at, below(draw(habits, 32 + below(draw(bits, 5), CATEGORIES)), 512), False)
        if layout == SHOP:
            return put_number(out, put(out, at, b"/item.php?id="), number, 1)
        out[at] = SLASH
        at += 1
        if habits & uint64(8):
            gap, capitals = UNDERSCORE, True
    if layout == FORUM:
        at = put_number(out, at, number, 1)
        out[at] = HYPHEN
        at += 1
    at = put_title(out, at, bits, habits, local, size, extra, gap, capitals, 99)
    if layout == NEWS:
        out[at] = HYPHEN
        at = put_number(out, at + 1, number, 1)
    if layout in (NEWS, OUTSIDE):
        return put(out, at, b".html")
    if layout in (BLOG, FORUM) or habits & uint64(16):
        at = put(out, at, b"/")
    return at


@inline
def room(out: Any, at: Any) -> Any:
    """The buffer, or a copy half as large again where another text might not fit."""
    if at + LONGEST <= len(out):
        return out
    larger = np.empty(len(out) + len(out) // 2 + LONGEST, np.uint8)
    for k in range(at):  # a slice would take three seconds to compile
        larger[k] = out[k]
    return larger


@kernel
def addresses(world: Any, pages: Array) -> tuple[Array, Array]:
    """The addresses of pages: their bytes, and where each begins and ends."""
    styles, names = stream(world.seed, SITE_STYLES), stream(world.seed, SITE_NAMES)
    page_names = stream(world.seed, PAGE_NAMES)
    out = np.empty(len(pages) * 72 + LONGEST, np.uint8)
    ends = np.zeros(len(pages) + 1, np.int32)
    at = int64(0)
    for i in range(len(pages)):
        out = room(out, at)
        site = site_of(world.starts, pages[i])
        local, size = pages[i] - world.starts[site], world.starts[site + 1] - world.starts[site]
        habits = draw(styles, site)
        at = put_host(out, at, names, site, len(world.starts) - 1, habits)
        if local >= front_pages(size):
            at = put_path(out, at, habits, draw(page_names, pages[i]), local, size)
        else:
            out[at] = SLASH
            at += 1
            if local > 0:
                at = put_section(out, at, habits, local, SLASH, HYPHEN)
                if habits & uint64(32):
                    at = put(out, at, b"/")
        ends[i + 1] = at
    return out[:at], ends


@kernel
def titles(world: Any, pages: Array, sources: Array) -> tuple[Array, Array]:
    """The titles of pages; with `sources`, the pages that link there, the texts of those links.

    The text of a link has some words of the page's title, from the first on; one in ten is "read more".
    """
    styles, names = stream(world.seed, SITE_STYLES), stream(world.seed, SITE_NAMES)
    page_names, anchors = stream(world.seed, PAGE_NAMES), stream(world.seed, ANCHORS)
    out = np.empty(len(pages) * 32 + LONGEST, np.uint8)
    ends = np.zeros(len(pages) + 1, np.int32)
    at = int64(0)
    for i in range(len(pages)):
        out = room(out, at)
        site = site_of(world.starts, pages[i])
        local, size = pages[i] - world.starts[site], world.starts[site + 1] - world.starts[site]
        habits, bits, most = draw(styles, site), draw(page_names, pages[i]), int64(99)
        if len(sources) > 0:
            most = below(draw(draw(anchors, sources[i]), pages[i]), 10)
        if most == 0:
            at = put(out, at, b"read more")
        elif local == 0:
            at = put_name(out, at, names, site, len(world.starts) - 1)
        elif local < front_pages(size):
            at = put_section(out, at, habits, local, SPACE, SPACE)
        else:
            at = put_title(out, at, bits, habits, local, size, 2 + below(draw(bits, 2), 4), SPACE, True, most)
        ends[i + 1] = at
    return out[:at], ends
