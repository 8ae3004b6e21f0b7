"""Decode web pages, by the encoding that the server or the page names, or by their bytes."""

import codecs
import re

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META = re.compile(rb"<meta[^>]+?charset\s*=\s*[\"']?\s*([a-z0-9_:.-]+)", re.IGNORECASE)
_XML = re.compile(rb"<\?xml[^>]+?encoding\s*=\s*[\"']([a-z0-9_:.-]+)", re.IGNORECASE)
_DECLARATION_BYTES = 4096
_MAX_ERRORS = 3


def decode(content: bytes, hint: str | None = None) -> str:
    """Decode by byte order mark, or by the server's `hint`, or by the page's own declaration, or by detection.

    This never fails. A page that is declared UTF-8 but has many errors is decoded by detection.
    """
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace")
    named = _codec(hint) or _declared(content[:_DECLARATION_BYTES])
    if named:
        text = _decode(content, named)
        if named != "utf-8" or text.count("\ufffd") <= max(_MAX_ERRORS, len(text) // 1000):
            return text
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        from resiliparse.parse.encoding import detect_encoding

        return _decode(content, str(detect_encoding(content)).lower())


def _codec(label: str | None) -> str | None:
    """Return the codec that browsers use for the name of an encoding: `latin1` is windows-1252 on the web."""
    if not label:
        return None
    from resiliparse.parse.encoding import map_encoding_to_html5

    name: str | None = map_encoding_to_html5(label.strip(" \t\"'"), False)
    return name.lower() if name else None


def _declared(start: bytes) -> str | None:
    """Return the encoding in `<meta charset>` or the XML declaration. It can't be UTF-16 if it was readable."""
    match = _META.search(start) or _XML.match(start)
    encoding = _codec(match[1].decode("ascii")) if match else None
    return "utf-8" if encoding is not None and encoding.startswith("utf-16") else encoding


def _decode(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding, "replace")
    except (LookupError, UnicodeError):  # a codec that Python lacks, or one that can't replace
        return content.decode("windows-1252", "replace")
