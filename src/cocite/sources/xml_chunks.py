"""Parse XML of strangers in chunks, in bounded memory: expat keeps a tag until it ends, however long it is."""

from collections.abc import Iterator
from typing import Any, BinaryIO
from xml.parsers import expat

CHUNK_BYTES = 64 << 10
XML_ERRORS = (expat.ExpatError, LookupError, ValueError)
"""What damaged XML raises; the last two are for unknown encodings."""


def parse_chunks(parser: Any, stream: BinaryIO, max_tag_bytes: int) -> Iterator[None]:
    """Feed a stream to a parser of expat. Yields after each chunk, so that what it found can be taken.

    Raises one of XML_ERRORS, also for a tag that is longer than `max_tag_bytes`.
    """
    fed = 0
    while chunk := stream.read(CHUNK_BYTES):
        parser.Parse(chunk, False)
        fed += len(chunk)
        if fed - parser.CurrentByteIndex > max_tag_bytes:
            raise expat.ExpatError(f"tag longer than {max_tag_bytes >> 20} MiB")
        yield
    parser.Parse(b"", True)
    yield  # expat 2.6 may leave the last elements until here
