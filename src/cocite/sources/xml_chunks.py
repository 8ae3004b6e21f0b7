"""Parse XML of strangers in bounded memory.

Entity declarations are refused: with them, a small file can fill the memory. expat keeps a tag until it ends, however
long it is, so files are parsed in chunks.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from xml.parsers import expat

from cocite.errors import BadSource
from cocite.sources.compressed import open_bytes
from cocite.sources.records import ReadReport

CHUNK_BYTES = 64 << 10
XML_ERRORS = (expat.ExpatError, LookupError, ValueError)
"""What damaged XML raises; the last two are for unknown encodings."""
DAMAGED_XML = "damaged XML: read up to the damage"
Item = TypeVar("Item")


def new_parser(
    name: str,
    without: str,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None] | None = None,
    characters: Callable[[str], None] | None = None,
    namespaces: str | None = None,
) -> Any:
    """Return a parser of expat that calls functions. `without` says whose files don't need entities."""

    def refuse(*_: object) -> None:
        raise BadSource(f"{name} declares XML entities, which {without} need: remove its <!DOCTYPE …>")

    parser = expat.ParserCreate(namespace_separator=namespaces)
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.EntityDeclHandler = characters, refuse
    return parser


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


def xml_items(path: Path, parser: Any, found: list[Item], report: ReadReport, max_tag_bytes: int) -> Iterator[Item]:
    """Yield the items that a parser puts into a list, up to damage, which is counted."""
    with open_bytes(path, report) as stream:
        try:
            for _ in parse_chunks(parser, stream, max_tag_bytes):
                yield from found
                found.clear()
        except XML_ERRORS as error:
            yield from found
            report.skip(DAMAGED_XML, f"{path.name}: {error}")
