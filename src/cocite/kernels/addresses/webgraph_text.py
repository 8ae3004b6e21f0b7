"""Parse the text files of web-graph releases in blocks of complete lines: edges and vertices.

Our own parser, because an invalid line must be counted and skipped: pyarrow's CSV reader fails at the first one. It is
also several times as fast.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from cocite.kernels.jit import inline, kernel

_NEWLINE, _TAB, _SPACE, _CR, _HASH, _DOT, _SLASH, _COLON, _ZERO = (np.uint8(ord(c)) for c in "\n\t \r#./:0")
_HTTPS = np.frombuffer(b"https://", np.uint8)
_NAME = np.frombuffer(b"name:", np.uint8)
MAX_DIGITS = 18  # of a number that fits into 64 bits


@inline
def parse_number(text, at):
    """Return the number at text[at:], or -1, and the position after its digits."""
    value, start = np.int64(0), at
    while at < text.size and text[at] >= _ZERO and text[at] < _ZERO + 10:
        value = value * 10 + np.int64(text[at] - _ZERO)
        at += 1
    if at == start or at - start > MAX_DIGITS:
        return np.int64(-1), at
    return value, at


@inline
def line_end(text, at):
    """Return the position of the next newline. Every block ends with one."""
    while text[at] != _NEWLINE:
        at += 1
    return at


@kernel
def parse_edges(text, sources, targets):
    """Parse lines `from<TAB>to`. Return (number of edges, number of invalid lines, where the first of these begins)."""
    count = invalid = first_invalid = at = 0
    while at < text.size:
        start = at
        source, at = parse_number(text, at)
        gap = at
        while text[at] == _TAB or text[at] == _SPACE:
            at += 1
        target, after = parse_number(text, at)
        follower = text[after]
        if source >= 0 and target >= 0 and at > gap and follower in (_NEWLINE, _CR, _TAB, _SPACE):
            sources[count], targets[count] = source, target
            count += 1
        elif text[start] not in (_NEWLINE, _CR, _HASH):
            if invalid == 0:
                first_invalid = start
            invalid += 1
        at = line_end(text, after) + 1
    return count, invalid, first_invalid


@inline
def copy_bytes(text, start, stop, out, at):
    """Copy text[start:stop] to out[at:]. Return the position after it."""
    for i in range(start, stop):
        out[at] = text[i]
        at += 1
    return at


@inline
def put_address(text, start, stop, reverse, out, at):
    """Write the address of a vertex: com.example.blog is https://blog.example.com/ with `reverse`, else name:…"""
    is_name = True
    for i in range(start, stop):
        is_name &= text[i] != _SLASH and text[i] != _COLON
    if not is_name:
        return copy_bytes(text, start, stop, out, at)
    if not reverse:
        at = copy_bytes(_NAME, 0, _NAME.size, out, at)
        return copy_bytes(text, start, stop, out, at)
    at = copy_bytes(_HTTPS, 0, _HTTPS.size, out, at)
    label_stop = stop
    for i in range(stop - 1, start - 2, -1):
        if i < start or text[i] == _DOT:
            at = copy_bytes(text, i + 1, label_stop, out, at)
            out[at] = _DOT if i >= start else _SLASH
            at += 1
            label_stop = i
    return at


@kernel
def parse_vertices(text, numbered, number, numbers, out, ends):
    """Parse lines `number<TAB>name[<TAB>…]`, or one name per line, numbered from `number` on.

    Addresses go one after another into `out`, their ends into `ends`, their numbers into `numbers`. Return (number of
    vertices, number of lines without a valid name, where the first of these begins, number after the last). A name has
    no control characters, and no blanks if its number is on the same line.
    """
    count = invalid = first_invalid = at = end = 0
    lowest = _SPACE + 1 if numbered else _SPACE + 0
    while at < text.size:
        start = at
        fits = True
        if numbered:
            number, at = parse_number(text, at)
            fits = number >= 0 and text[at] == _TAB
            at += fits
        name = at
        while text[at] >= lowest and text[at] != np.uint8(127):
            at += 1
        stop = at
        if text[at] == _CR:
            at += 1
        fits = fits and stop > name and (text[at] == _NEWLINE or text[at] == _TAB)
        if fits:
            end = put_address(text, name, stop, numbered, out, end)
            numbers[count], ends[count] = number, end
            count += 1
        elif not numbered or text[start] not in (_NEWLINE, _CR, _HASH):
            if invalid == 0:
                first_invalid = start
            invalid += 1
        number += 1
        at = line_end(text, at) + 1
    return count, invalid, first_invalid, number
