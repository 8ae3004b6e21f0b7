"""The kernel behind canonical.py: keys of plain addresses, byte by byte.

An address is plain if the rules of `pages/rules.py` change only what this kernel does itself: scheme, `www.`, one
trailing slash, a fragment, escapes, an index name, the case of user names. Python does everything else, and everything
doubtful. Python takes 15 µs for an address of a link list, this kernel 0.2 µs. Mispredicted branches cost most, so dots
and slashes are found by arithmetic on classes of bytes; positions are unsigned, since signed ones cost a comparison
with 0 at every access. All of it is one file, because Numba renews a cached kernel only if its own file changes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocite.kernels.jit import lean_inline, lean_kernel
from cocite.pages.key import APART, BARE, HTTP, SLASH, WWW
from cocite.pages.rules import MAX_ADDRESS

# Classes of bytes, above the byte that represents it in a key
IN_HOST, IN_PATH, IN_QUERY = 0x100, 0x200, 0x400  # may be there as it is; . and ( in paths are checked
CAPITAL, UNESCAPED = 0x800, 0x1000  # a capital letter; a byte whose escape is decoded
IS_DOT = 0x2000
_LOST = 0x10000  # beside classes and flags: not plain after all
_OPAQUE = 0x20000  # beside flags: a name, not an address

NOT_KEYED = 0xFE  # flag of an address that is not plain; no spelling has it
HASH_START, HASH_FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # FNV-1a, for short names
HEAD_BYTES = 4  # every prefix rule has at least as many, and no more are compared
HEAD_MARK = np.uint64(1)  # distinguishes the hash of a name's head from that of a whole name
ONLY_SOME = 255  # hosts where case counts for some paths are left to Python

_0, _1, _2, _3, _4 = (np.uintp(n) for n in range(5))
_PERCENT, _AND, _SLASH, _DOT, _EQUALS, _QUESTION, _HASH, _BANG, _COLON, _OPEN = (np.uint8(c) for c in b"%&/.=?#!:(")
_HTTP, _NAME, _HOST, _WWW, _IDN = (
    np.uint32(int.from_bytes(mark, "little")) for mark in (b"http", b"name", b"host", b"www.", b"xn--")
)


class AddressRules(NamedTuple):
    """The rules of `pages/rules.py` as arrays: arguments of the loop, since compiled code on disk outlives changes."""

    classes: NDArray[np.int64]  # of each byte
    names: NDArray[np.uint64]  # hash tables of (hash, note): names in queries, and hosts whose paths have no case
    hosts: NDArray[np.uint64]
    endings: NDArray[np.uint8]  # index names, each behind its length


class PlainKeys(NamedTuple):
    """What the loop writes: keys one after another, where each ends, and the flags of each address."""

    data: NDArray[np.uint8]
    ends: NDArray[np.int64]
    flags: NDArray[np.uint8]


@lean_kernel
def key_plain(data, offsets, rules, dots, keyed):
    """Key all plain addresses, one after another. Marks the others, and returns how many. `dots` is scratch of 66."""
    out, ends, flags = keyed
    left = 0
    at = _0
    for i in range(offsets.size - 1):
        start, stop = np.uintp(offsets[i]), np.uintp(offsets[i + 1])
        flag, start = _begin(data, start, stop)
        if flag == _OPAQUE:
            end, flag = _write_name(data, start, stop, out, at)
        elif flag != _LOST:
            count = _find_dots(data, start, stop, rules.classes, dots)
            end, www = _write_host(data, dots, count, out, at)
            if www != _LOST:
                end, flag = _write_rest(data, dots, count, stop, flag | www, rules, out, end)
            else:
                flag = _LOST
        if flag & _LOST:
            flags[i] = NOT_KEYED
            left += 1
        else:
            flags[i] = flag
            at = end
        ends[i + 1] = at
    return left


@lean_inline
def _begin(data, start, stop):
    """What the address is, the first flags of its spelling, _OPAQUE or _LOST, and where its host or name begins."""
    if stop - start < np.uintp(6) or stop - start > np.uintp(MAX_ADDRESS):
        return _LOST, start
    mark = _four(data, start)
    start += _4
    if mark == _HTTP and stop - start > _4:
        secure = data[start] == 115  # s
        start += np.uintp(secure)
        if data[start] != _COLON or data[start + _1] != _SLASH or data[start + _2] != _SLASH:
            return _LOST, start
        return HTTP - secure, start + _3
    if data[start] != _COLON or (mark != _HOST and mark != _NAME):
        return _LOST, start
    return BARE if mark == _HOST else _OPAQUE, start + _1


@lean_inline
def _find_dots(data, start, stop, classes, dots):
    """The number of dots of the host, and their places; one before and one after it are added. 0 if it isn't plain."""
    i = start
    count = _1
    dots[0] = start - _1
    longest = min(stop, start + np.uintp(63))
    while i < longest:
        kind = classes[data[i]]
        if not kind & IN_HOST:
            break
        dots[count] = i
        count += np.uintp((kind & IS_DOT) >> 13)
        i += _1
    dots[count] = i
    last = dots[count - _1] + _1
    if last == i or data[last] < 97:  # 1.2.3.4
        return _0
    if i < stop and data[i] != _SLASH and data[i] != _QUESTION and data[i] != _HASH:
        return _0
    return count - _1


@lean_inline
def _write_host(data, dots, count, out, at):
    """The labels reversed, and `)`: where it ends, and WWW if that was dropped, or _LOST."""
    if count == _0:
        return at, _LOST
    www = 0
    if count > _1 and _four(data, dots[0] + _1) == _WWW:
        if dots[2] - dots[1] == _4 and _four(data, dots[1] + _1) == _WWW:
            return at, _LOST
        www = WWW
    first = np.uintp(www > 0)
    while True:
        label, end = dots[count] + _1, dots[count + _1]
        if end == label or (end - label >= _4 and _four(data, label) == _IDN):
            return at, _LOST
        at = _copy(data, label, end, out, at)
        if count == first:
            break
        out[at] = 44  # ,
        at += _1
        count -= _1
    out[at] = 41  # )
    return at + _1, www


@lean_inline
def _write_name(data, start, stop, out, at):
    """An opaque name in ASCII."""
    length = stop - start
    digits = length <= np.uintp(40) and (data[start] != 48 or length == _1)
    for i in range(start, stop):
        byte = data[i]
        if byte == 0 or byte > 127:
            return at, _LOST
        digits &= 48 <= byte <= 57
    out[at] = 3 if digits else 4
    at += _1
    if digits:
        out[at] = np.uintp(32) + length
        at += _1
    return _copy(data, start, stop, out, at), BARE


@lean_inline
def _copy(data, start, stop, out, at):
    for i in range(start, stop):
        out[at] = data[i]
        at += _1
    return at


@lean_inline
def _write_rest(data, dots, count, stop, flags, rules, out, at):
    """What follows the host: where the key ends, and the flags of the spelling, or _LOST."""
    path, i = at, dots[count + _1]
    i, at, seen = _write_path(data, i, stop, rules.classes, out, at)
    if seen & CAPITAL:
        host = dots[1 if flags & WWW else 0] + _1
        notes = _note(rules.hosts, _hash(data, host, dots[count + _1]))
        if notes:
            seen |= _lower_names(notes, out, path, at)
    query = i < stop and data[i] == _QUESTION
    if at == path:
        if i < stop or not flags & BARE:
            flags |= SLASH  # browsers write it, so it is part of what is shown
    else:
        slash = out[at - _1] == 3
        at -= np.uintp(slash)
        flags |= SLASH * slash
        if at > path and out[at - _1] == 3:
            return at, _LOST
        if seen & IS_DOT and not query:
            at, ending = _take_off_index(out, path, at, rules.endings)
            if ending and slash:
                return at, _LOST
            flags |= ending
    if query:
        i, at, more = _write_query(data, i + _1, stop, rules.classes, rules.names, out, at)
        seen |= more
    if i < stop and (data[i] != _HASH or not _fragment_means_nothing(data, i + _1, stop)):
        return at, _LOST
    if (seen | flags) & _LOST:
        return at, _LOST
    if not seen & APART:
        return at, flags
    return at, _LOST if data[dots[count + _1]] != _SLASH else APART  # so that what is shown is what was given


@lean_inline
def _write_path(data, i, stop, classes, out, at):
    """The path up to `?`, `#` or the end: where it ends in both, and the classes seen, with APART or _LOST."""
    seen = spelling = 0
    ahead = at - i
    while i < stop:
        while i + _4 <= stop:  # four at a time: a sixth of all time less
            one, two = classes[data[i]], classes[data[i + _1]]
            three, four = classes[data[i + _2]], classes[data[i + _3]]
            if not one & two & three & four & IN_PATH:
                break
            seen |= one | two | three | four
            out[i + ahead], out[i + ahead + _1] = one, two
            out[i + ahead + _2], out[i + ahead + _3] = three, four
            i += _4
        if i == stop:
            break
        byte = data[i]
        kind = classes[byte]
        if kind & IN_PATH:
            seen |= kind
            out[i + ahead] = kind
        elif byte == _DOT or byte == _OPEN:  # noqa: SIM109 - compiled
            if out[i + ahead - _1] == 3:  # perhaps a dot segment, or a session of ASP.NET: /(S(…))/
                return i, i + ahead, _LOST
            seen |= kind
            out[i + ahead] = byte
        elif byte == _PERCENT:
            at, more = _write_escape(data, i, stop, classes, out, i + ahead)
            if more & _LOST:
                return i, at, _LOST
            spelling |= more
            i += _2
            ahead = at - i
        else:
            break
        i += _1
    return i, i + ahead, (seen & (CAPITAL | IS_DOT)) | spelling


@lean_inline
def _write_escape(data, i, stop, classes, out, at):
    """An escape in its one spelling: its last byte's place, and what it brings (APART if its spelling changes)."""
    if i + _2 >= stop:
        return at, _LOST
    high, low = _digit(data[i + _1]), _digit(data[i + _2])
    value = np.uint8(high * 16 + low)
    if high > 15 or low > 15 or value == _DOT or (value == _OPEN and out[at - _1] == 3):
        return at, _LOST
    if classes[value] & UNESCAPED:
        out[at] = value
        return at, APART | (classes[value] & CAPITAL)
    out[at] = _PERCENT
    out[at + _1] = high + (48 if high < 10 else 55)
    out[at + _2] = low + (48 if low < 10 else 55)
    same = out[at + _1] == data[i + _1] and out[at + _2] == data[i + _2]
    return at + _2, 0 if same else APART


@lean_inline
def _digit(byte):
    """The value of a hexadecimal digit; more than 15 for another byte."""
    if 48 <= byte <= 57:
        return byte - 48
    letter = byte | 32
    return letter - 87 if 97 <= letter <= 102 else 99


@lean_inline
def _lower_names(count, out, path, at):
    """Write a path's first parts small, where the host's user names have no case; escapes keep their capitals."""
    if count == ONLY_SOME:
        return _LOST
    changed = 0
    slashes = 0
    i = path
    while i < at:
        byte = out[i]
        if byte == 3:
            slashes += 1
            if slashes > count:
                break
        elif byte == _PERCENT:
            i += _2
        elif 65 <= byte <= 90:
            out[i] = byte + 32
            changed = APART
        i += _1
    return changed


@lean_inline
def _take_off_index(out, path, at, endings):
    """Take off one of INDEX_ENDINGS: where the path ends then, and the flag; _LOST if others like it are there."""
    number, length = _index(out, path, at, endings)
    if number == 0 or number == _LOST:
        return at, number
    at -= length
    if at > path and (out[at - _1] == 3 or _index(out, path, at, endings)[0]):
        return at, _LOST
    return at, number << 4


@lean_inline
def _index(out, path, at, endings):
    """Which of INDEX_ENDINGS a path has, and its length; for a name like them the number is _LOST, for others 0."""
    length = _1
    while at - length > path and out[at - length] != 3 and length < np.uintp(14):
        length += _1
    start = at - length
    if length < np.uintp(10) or at == path or out[start] != 3:
        return 0, length
    first = out[start + _1] | 32
    dot = start + np.uintp(6 if first == 105 else 8)  # of index. or default.
    if (first != 105 and first != 100) or out[dot] != _DOT:
        return 0, length
    for number in range(1, endings.shape[0]):
        if endings[number, 0] == length:
            i = _1
            while i < length and out[start + i] == endings[number, i]:
                i += _1
            if i == length:
                return number, length
    return _LOST, length


@lean_inline
def _write_query(data, i, stop, classes, names, out, at):
    """The query up to `#` or the end, as `_write_path`; _LOST if a rule knows a name in it, or a parameter is empty."""
    seen = 0
    out[at] = 2
    at += _1
    while True:
        begin = i
        state = HASH_START
        while i < stop and classes[data[i]] & IN_QUERY and data[i] != _EQUALS:
            byte = data[i]
            out[at] = byte
            state = (state ^ np.uint64(byte | 32 if classes[byte] & CAPITAL else byte)) * HASH_FACTOR
            at += _1
            i += _1
            if i - begin == np.uintp(HEAD_BYTES) and _note(names, state ^ HEAD_MARK):
                return i, at, _LOST
        if _note(names, state):
            return i, at, _LOST
        in_value = i < stop and data[i] == _EQUALS
        while i < stop:
            byte = data[i]
            if classes[byte] & IN_QUERY:
                out[at] = byte
            elif in_value and byte == _PERCENT:
                at, more = _write_escape(data, i, stop, classes, out, at)
                seen |= more
                if more & _LOST:
                    return i, at, _LOST
                i += _2
            else:
                break
            at += _1
            i += _1
        if i == begin:
            return i, at, _LOST
        if i == stop or data[i] != _AND:
            return i, at, seen
        out[at] = _AND
        at += _1
        i += _1


@lean_inline
def _fragment_means_nothing(data, i, stop):
    """Whether a fragment names a place on the page, not a page (`#!…`)."""
    if i < stop and data[i] == _BANG:
        return False
    while i < stop:
        if data[i] < 33 or data[i] > 126:
            return False
        i += _1
    return True


@lean_inline
def _four(data, at):
    """Four bytes as one number, little-endian."""
    low = np.uint32(data[at]) | np.uint32(data[at + _1]) << np.uint32(8)
    return low | np.uint32(data[at + _2]) << np.uint32(16) | np.uint32(data[at + _3]) << np.uint32(24)


@lean_inline
def _hash(data, start, stop):
    state = HASH_START
    for i in range(start, stop):
        state = (state ^ np.uint64(data[i])) * HASH_FACTOR
    return state


@lean_inline
def _note(table, value):
    """The note of a hash in an open-addressing table with rows of hash and note; 0 if there is none."""
    mask = np.uint64(table.shape[0] - 1)
    slot = (value >> np.uint64(32)) & mask
    while table[slot, 0] != 0:
        if table[slot, 0] == value:
            return table[slot, 1]
        slot = (slot + np.uint64(1)) & mask
    return np.uint64(0)
