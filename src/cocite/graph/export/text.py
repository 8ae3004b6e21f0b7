"""A store as an edge list, as GraphML, as GEXF, and as a SciPy matrix on disk: all written as the links are read."""

from __future__ import annotations

import gzip
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import zstandard
from numpy.typing import NDArray

from cocite.graph.all_addresses import addresses, mapped_addresses
from cocite.graph.arrays import BOILERPLATE, NOFOLLOW
from cocite.graph.generation import Progress
from cocite.graph.store import Graph

CHUNK_PAGES = 1 << 13
STDOUT = Path("-")
TAB, COMMA, QUOTE, LINE_END, NOTHING = (pa.scalar(text, pa.large_string()) for text in ("\t", ",", '"', "\n", ""))
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside `path` that takes its place at the end, and is gone if anything went wrong."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A file for writing, compressed as its name says; `-` is standard output."""
    with ExitStack() as stack:
        if path == STDOUT:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
            return
        file: Any = stack.enter_context(stack.enter_context(replacing(path)).open("wb"))
        if path.suffix == ".gz":
            file = stack.enter_context(gzip.GzipFile("", "wb", 5, file, mtime=0))
        elif path.suffix == ".zst":
            file = stack.enter_context(zstandard.ZstdCompressor(level=6).stream_writer(file, closefd=False))
        yield file


# Edge list


def write_edges(graph: Graph, path: Path, progress: Progress) -> int:
    """`source<TAB>target` on every line, in page order, with the weight as a third column if any link has one."""
    return write_rows(graph, path, progress, TAB)


def write_csv(graph: Graph, path: Path, progress: Progress) -> int:
    """The same with commas, every address in quotation marks (it may hold commas), under a header."""
    return write_rows(graph, path, progress, COMMA)


def write_rows(graph: Graph, path: Path, progress: Progress, mark: pa.Scalar) -> int:
    """A line for every link."""
    weights, done = graph.array("out.weight"), 0
    room = None if path == STDOUT else path
    with mapped_addresses(graph, room, progress) as known, opened(path) as out:
        if mark is COMMA:
            out.write(b"source,target,weight\n" if len(weights) else b"source,target\n")
        for first, starts, links in graph.iter_links(CHUNK_PAGES):
            degrees, total = np.diff(starts), len(links.targets)
            ends = np.repeat(np.arange(first, first + len(degrees)), degrees), links.targets.astype(np.int64)
            source, target = (known.take(pa.array(pages)) for pages in ends)
            parts = [source, mark, target] if mark is TAB else [quoted(source), mark, quoted(target)]
            if len(weights):
                parts += [mark, pc.cast(pa.array(weights[done : done + total]), pa.large_string())]
            text = pc.binary_join_element_wise(*parts, LINE_END, NOTHING)  # its buffer is the lines, one after another
            out.write(joined(text))
            done += total
            progress("writing links", total, graph.links)
    return done


def quoted(texts: pa.Array) -> pa.Array:
    """Texts in quotation marks, those within doubled."""
    return pc.binary_join_element_wise(QUOTE, pc.replace_substring(texts, '"', '""'), QUOTE, NOTHING)


def joined(texts: pa.Array) -> memoryview | bytes:
    """All bytes of an array of texts, without copying them."""
    if not len(texts):
        return b""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return memoryview(data)[int(ends[0]) : int(ends[-1])]


# XML


def xml(text: str) -> str:
    """Text for XML: escaped, without the characters that XML cannot hold."""
    return escape(_NOT_XML.sub("", text))


def attribute(text: str) -> str:
    """A quoted attribute for XML."""
    return quoteattr(_NOT_XML.sub("", text))


def write_graphml(graph: Graph, path: Path, progress: Progress) -> int:
    """GraphML: pages with url, title and site; links with block, boilerplate, nofollow and weight."""
    weighted = len(graph.array("out.weight")) > 0
    keys = [("url", "node", "string"), ("title", "node", "string"), ("site", "node", "int"), ("block", "edge", "int")]
    keys += [("boilerplate", "edge", "boolean"), ("nofollow", "edge", "boolean")]
    keys += [("weight", "edge", "double")] if weighted else []
    with opened(path) as out:
        out.write(b'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for name, of, kind in keys:
            out.write(f'<key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>\n'.encode())
        out.write(b'<graph edgedefault="directed">\n')
        for page, url, title, site in nodes(graph, progress):
            data = f'<data key="url">{xml(url)}</data><data key="site">{site}</data>'
            data += f'<data key="title">{xml(title)}</data>' if title else ""
            out.write(f'<node id="n{page}">{data}</node>\n'.encode())
        for source, target, block, flags, weight in edges(graph, progress):
            data = f'<data key="block">{block}</data>' if block >= 0 else ""
            data += '<data key="boilerplate">true</data>' if flags & BOILERPLATE else ""
            data += '<data key="nofollow">true</data>' if flags & NOFOLLOW else ""
            data += f'<data key="weight">{weight:.9g}</data>' if weighted else ""
            out.write(f'<edge source="n{source}" target="n{target}">{data}</edge>\n'.encode())
        out.write(b"</graph>\n</graphml>\n")
    return graph.links


def write_gexf(graph: Graph, path: Path, progress: Progress) -> int:
    """GEXF 1.3, as Gephi reads it: a page's label is its title or address; links have block and weight."""
    with opened(path) as out:
        out.write(
            b'<?xml version="1.0" encoding="UTF-8"?>\n<gexf xmlns="http://gexf.net/1.3" version="1.3">\n'
            b'<graph defaultedgetype="directed">\n<attributes class="node">\n'
            b'<attribute id="0" title="url" type="string"/>\n<attribute id="1" title="site" type="integer"/>\n'
            b'</attributes>\n<attributes class="edge">\n<attribute id="0" title="block" type="integer"/>\n'
            b"</attributes>\n<nodes>\n"
        )
        for page, url, title, site in nodes(graph, progress):
            values = f'<attvalue for="0" value={attribute(url)}/><attvalue for="1" value="{site}"/>'
            label = attribute(title or url)
            out.write(f'<node id="{page}" label={label}><attvalues>{values}</attvalues></node>\n'.encode())
        out.write(b"</nodes>\n<edges>\n")
        for number, (source, target, block, _, weight) in enumerate(edges(graph, progress)):
            head = f'<edge id="{number}" source="{source}" target="{target}" weight="{weight:.9g}"'
            values = f'<attvalues><attvalue for="0" value="{block}"/></attvalues>' if block >= 0 else ""
            out.write(f"{head}>{values}</edge>\n".encode() if values else f"{head}/>\n".encode())
        out.write(b"</edges>\n</graph>\n</gexf>\n")
    return graph.links


def nodes(graph: Graph, progress: Progress) -> Iterator[tuple[int, str, str, int]]:
    """(page, address, title, site) of every page."""
    sites = graph.units("site")
    for first in range(0, graph.pages, CHUNK_PAGES):
        count = min(CHUNK_PAGES, graph.pages - first)
        for page, url in enumerate(addresses(graph, first, count), first):
            yield page, url, graph.title(page), int(sites[page])
        progress("writing pages", count, graph.pages)


def edges(graph: Graph, progress: Progress) -> Iterator[tuple[int, int, int, int, float]]:
    """(source, target, block, flags, weight) of every link; an unknown block is -1."""
    weights, done = graph.array("out.weight"), 0
    for first, starts, links in graph.iter_links(CHUNK_PAGES):
        total = len(links.targets)
        sources = np.repeat(np.arange(first, first + len(starts) - 1), np.diff(starts)).tolist()
        weight = weights[done : done + total].tolist() if len(weights) else [1.0] * total
        yield from zip(
            sources, links.targets.tolist(), links.blocks.tolist(), links.flags.tolist(), weight, strict=True
        )
        done += total
        progress("writing links", total, graph.links)


# SciPy


def rows(graph: Graph) -> Iterator[tuple[NDArray[np.uint32], NDArray[Any]]]:
    """Targets and weights of all links, those of one page with ascending targets, as SciPy likes them."""
    weights, done = graph.array("out.weight"), 0
    for _, starts, links in graph.iter_links(CHUNK_PAGES):
        total = len(links.targets)
        order = np.lexsort((links.targets, np.repeat(np.arange(len(starts) - 1), np.diff(starts))))
        yield links.targets[order], weights[done : done + total][order] if len(weights) else np.ones(total, np.int8)
        done += total


def write_npz(graph: Graph, path: Path, progress: Progress) -> int:
    """The links as `scipy.sparse.load_npz` reads them (CSR, row = source), and beside it the address of each row."""
    index = np.dtype(np.int32 if max(graph.pages, graph.links) < 2**31 else np.int64)
    value = np.dtype(np.float32 if len(graph.array("out.weight")) else np.int8)
    starts_of_rows = np.append(0, np.cumsum(graph.out_degree, dtype=np.int64)).astype(index)
    small = {"indptr": starts_of_rows, "shape": np.array([graph.pages] * 2), "format": np.array(b"csr")}
    small["_is_array"] = np.array(True)
    with (
        opened(rows_of(path)) as names,
        replacing(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        for first in range(0, graph.pages, CHUNK_PAGES):
            texts = addresses(graph, first, min(CHUNK_PAGES, graph.pages - first))
            names.write("".join(f"{text}\n" for text in texts).encode())
            progress("reading names", min(CHUNK_PAGES, graph.pages - first), graph.pages)
        for name, array in small.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array)  # type: ignore[no-untyped-call, arg-type, unused-ignore]
        with archive.open("indices.npy", "w", force_zip64=True) as file:
            write_header(file, index, graph.links)
            for targets, _ in rows(graph):
                file.write(targets.astype(index).tobytes())
                progress("writing links", len(targets), graph.links)
        with archive.open("data.npy", "w", force_zip64=True) as file:
            write_header(file, value, graph.links)
            for _, own in rows(graph):
                file.write(own.astype(value).tobytes())
    return graph.links


def rows_of(path: Path) -> Path:
    """The file of a matrix's addresses, a line for each row."""
    return path.with_name(path.name.removesuffix(".npz") + ".pages.txt.gz")


def write_header(file: IO[bytes], dtype: np.dtype[Any], length: int) -> None:
    """What stands before the values of a one-dimensional array in a .npy file."""
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (length,)}
    np.lib.format.write_array_header_1_0(file, header)  # type: ignore[no-untyped-call, unused-ignore]
