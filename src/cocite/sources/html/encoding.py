"""Bytes of a web page → text, by what the page, its server or its bytes say of their encoding."""

from __future__ import annotations

import codecs
import re

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META = re.compile(rb"<meta[^>]+?charset\s*=\s*[\"']?\s*([a-z0-9_:.-]+)", re.IGNORECASE)
_XML = re.compile(rb"<\?xml[^>]+?encoding\s*=\s*[\"']([a-z0-9_:.-]+)", re.IGNORECASE)
_DECLARED_WITHIN = 4096
_FEW_ERRORS = 3


def decode(content: bytes, hint: str | None = None) -> str:
    """Decode by byte order mark, then the server's word (`hint`), then the page's own, then by looking at the bytes.

    Never fails. A page that calls itself UTF-8 and is not, beyond a few bytes, is decoded by its looks.
    """
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace")
    named = _known(hint) or _declared(content[:_DECLARED_WITHIN])
    if named is None:
        return _by_looks(content)
    text = _decode(content, named)
    if named == "utf-8" and text.count("\ufffd") > max(_FEW_ERRORS, len(text) // 1000):
        return _by_looks(content)
    return text


def _known(label: str | None) -> str | None:
    """The codec that browsers use for an encoding's name: `latin1` means windows-1252 on the web."""
    if not label:
        return None
    from resiliparse.parse.encoding import map_encoding_to_html5

    name: str | None = map_encoding_to_html5(label.strip(" \t\"'"), False)
    return name.lower() if name else None


def _declared(start: bytes) -> str | None:
    """What `<meta charset>` or the XML declaration says; UTF-16 cannot be true where that could be read as ASCII."""
    match = _META.search(start) or _XML.match(start)
    encoding = _known(match[1].decode("ascii")) if match else None
    return "utf-8" if encoding is not None and encoding.startswith("utf-16") else encoding


def _by_looks(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        from resiliparse.parse.encoding import detect_encoding

        return _decode(content, str(detect_encoding(content)).lower())


def _decode(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding, "replace")
    except (LookupError, UnicodeError):  # a codec this Python lacks, or one that cannot replace
        return content.decode("windows-1252", "replace")
