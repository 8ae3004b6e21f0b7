"""The links of a store as files: lines of text, Parquet, a sparse matrix of SciPy, GraphML and GEXF."""

import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cocite.graph.arrays import BOILERPLATE, NOFOLLOW
from cocite.graph.generation import Progress, no_progress
from cocite.graph.names import addresses, mapped_addresses
from cocite.graph.store import Graph
from cocite.sources.page_records import compressing
from cocite.system import replacing

CHUNK_PAGES = 1 << 13
STDOUT = Path("-")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LINK_COLUMNS = {"source": "i8", "target": "i8", "block": "i4", "boilerplate": "?", "nofollow": "?", "weight": "f4"}
LinkRows = dict[str, NDArray[Any]]  # columns of links in page order; an unknown block is -1, a weight is 1 by default


def link_chunks(
    graph: Graph, progress: Progress = no_progress, pages: Iterable[int] | None = None
) -> Iterator[LinkRows]:
    """The links out of all pages, or of some, chunk by chunk."""
    lists = ((page, graph.links_from(page)) for page in pages or ())
    single = ((page, np.array([0, len(links.targets)]), links) for page, links in lists)
    for first, starts, (targets, blocks, flags) in graph.iter_links(CHUNK_PAGES) if pages is None else single:
        sources, some = np.repeat(np.arange(first, first + len(starts) - 1), np.diff(starts)), len(targets)
        weight = graph.links.weights_of(first, starts) if graph.links.weighted else np.ones(some)
        columns = sources, targets, blocks, (flags & BOILERPLATE) > 0, (flags & NOFOLLOW) > 0, weight
        yield {name: values.astype(dtype) for values, (name, dtype) in zip(columns, LINK_COLUMNS.items(), strict=True)}
        progress("writing links", some, len(graph.links))


@contextmanager
def open_output(path: Path) -> Iterator[IO[bytes]]:
    """A file for writing, compressed if its name says so; `-` is standard output."""
    if path == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with ExitStack() as stack:
        file = stack.enter_context(stack.enter_context(replacing(path)).open("wb"))
        yield stack.enter_context(compressing(file, path.suffix, gzip_level=5, zstd_level=6))


def write_lines(graph: Graph, path: Path, progress: Progress, *, delimiter: str) -> int:
    """Write a line per link: source, target, and the weight if any link has one.

    With commas there is a header, and addresses are quoted, since they may contain commas.
    """
    mark, quote, line_end, nothing = (pa.scalar(text, pa.large_string()) for text in (delimiter, '"', "\n", ""))
    weighted = graph.links.weighted
    with mapped_addresses(graph.names, None if path == STDOUT else path, progress) as known, open_output(path) as out:
        if delimiter == ",":
            out.write(b"source,target,weight\n" if weighted else b"source,target\n")
        for links in link_chunks(graph, progress):
            ends = [known.take(pa.array(links[end])) for end in ("source", "target")]
            if delimiter == ",":
                doubled = (pc.replace_substring(texts, '"', '""') for texts in ends)
                ends = [pc.binary_join_element_wise(quote, texts, quote, nothing) for texts in doubled]
            more = [mark, pc.cast(pa.array(links["weight"]), pa.large_string())] if weighted else []
            lines = pc.binary_join_element_wise(ends[0], mark, ends[1], *more, line_end, nothing)
            if len(lines):  # they follow each other in one buffer
                _, offsets, data = lines.buffers()
                out.write(memoryview(data)[: int(np.frombuffer(offsets, np.int64)[len(lines)])])
    return len(graph.links)


def write_parquet(graph: Graph, path: Path, progress: Progress) -> int:
    """Write a row per link: source, target, position on the page, block, marks, and the weight if any link has one."""
    import pyarrow.parquet as pq

    types = {"source": pa.string(), "target": pa.string(), "position": pa.int32(), "block": pa.int32()}
    types |= {"boilerplate": pa.bool_(), "nofollow": pa.bool_()}
    schema = pa.schema(types | ({"weight": pa.float32()} if graph.links.weighted else {}))
    with (
        mapped_addresses(graph.names, path, progress) as known,
        replacing(path) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd") as writer,
    ):
        for links in link_chunks(graph, progress):
            first = np.searchsorted(links["source"], links["source"])  # of the page's links
            columns = links | {"position": (np.arange(len(first)) - first).astype(np.int32)}
            columns |= {end: known.take(pa.array(links[end])).cast(pa.string()) for end in ("source", "target")}
            columns["block"] = pa.array(links["block"], mask=links["block"] < 0)
            writer.write_table(pa.table({name: columns[name] for name in schema.names}, schema))
    return len(graph.links)


def csr_layout(graph: Graph) -> tuple[NDArray[Any], np.dtype[Any]]:
    """The row starts of a matrix, whose type is that of its columns, too; and the type of its values."""
    index = np.int32 if max(graph.pages, len(graph.links)) < 2**31 else np.int64
    value = np.float32 if graph.links.weighted else np.int8
    return np.append(0, np.cumsum(graph.out_degree, dtype=np.int64)).astype(index), np.dtype(value)


def csr_chunks(graph: Graph, progress: Progress = no_progress) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """(columns, values), chunk by chunk. Columns ascend in each row, as SciPy's algorithms prefer."""
    for links in link_chunks(graph, progress):
        order = np.lexsort((links["target"], links["source"]))
        yield links["target"][order], links["weight"][order]


def write_npz(graph: Graph, path: Path, progress: Progress) -> int:
    """Write what `scipy.sparse.load_npz` reads (row = source), and beside it a file with the address of each row."""
    starts, value = csr_layout(graph)
    small = {"indptr": starts, "shape": np.array([graph.pages] * 2), "format": np.array(b"csr")}
    with (
        open_output(addresses_file(path)) as names,
        replacing(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        for _, url in _pages(graph, progress, gone=True):  # a line per row
            names.write(f"{url}\n".encode())
        for name, array in {**small, "_is_array": np.array(True)}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array)  # type: ignore[no-untyped-call, arg-type, unused-ignore]
        for part, (name, dtype) in enumerate((("indices", starts.dtype), ("data", value))):
            header = {"descr": dtype.str, "fortran_order": False, "shape": (len(graph.links),)}
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array_header_1_0(file, header)  # type: ignore[no-untyped-call, unused-ignore]
                for chunk in csr_chunks(graph, no_progress if part else progress):
                    file.write(chunk[part].astype(dtype).tobytes())
    return len(graph.links)


def addresses_file(path: Path) -> Path:
    """The file of a matrix's addresses, one line per row."""
    return path.with_name(path.name.removesuffix(".npz") + ".pages.txt.gz")


def _pages(graph: Graph, progress: Progress, gone: bool = False) -> Iterator[tuple[int, str]]:
    """Every page with its address; with `gone`, also those that are no pages any more."""
    for first in range(0, graph.pages, CHUNK_PAGES):
        some = min(CHUNK_PAGES, graph.pages - first)
        found = enumerate(addresses(graph.names, first, some), first)
        yield from (item for item in found if gone or graph.names.exists(item[0]))
        progress("writing pages", some, graph.pages)


def write_xml(
    graph: Graph, path: Path, progress: Progress, *, elements: Callable[[Graph, Progress], Iterator[str]]
) -> int:
    """Write XML: `graphml` or `gexf` elements."""
    with open_output(path) as out:
        out.write(b'<?xml version="1.0" encoding="UTF-8"?>\n')
        out.writelines(_NOT_XML.sub("", element).encode() for element in elements(graph, progress))
    return len(graph.links)


def _rows(graph: Graph, progress: Progress) -> Iterator[tuple[int, int, int, bool, bool, float]]:
    """The columns of every link."""
    for links in link_chunks(graph, progress):
        yield from zip(*(column.tolist() for column in links.values()), strict=True)


def graphml(graph: Graph, progress: Progress) -> Iterator[str]:
    """GraphML: pages with url, title and site; links with block, boilerplate, nofollow and weight."""
    keys = {"url": ("node", "string"), "title": ("node", "string"), "site": ("node", "int"), "block": ("edge", "int")}
    keys |= {"boilerplate": ("edge", "boolean"), "nofollow": ("edge", "boolean")}
    keys |= {"weight": ("edge", "double")} if (weighted := graph.links.weighted) else {}
    sites = graph.units("site")
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for name, (element, kind) in keys.items():
        yield f'<key id="{name}" for="{element}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '<graph edgedefault="directed">\n'
    for page, url in _pages(graph, progress):
        data = f'<data key="url">{escape(url)}</data><data key="site">{sites[page]}</data>'
        data += f'<data key="title">{escape(title)}</data>' if (title := graph.title(page)) else ""
        yield f'<node id="n{page}">{data}</node>\n'
    for source, target, block, boilerplate, nofollow, weight in _rows(graph, progress):
        data = f'<data key="block">{block}</data>' if block >= 0 else ""
        data += '<data key="boilerplate">true</data>' if boilerplate else ""
        data += '<data key="nofollow">true</data>' if nofollow else ""
        data += f'<data key="weight">{weight:.9g}</data>' if weighted else ""
        yield f'<edge source="n{source}" target="n{target}">{data}</edge>\n'
    yield "</graph>\n</graphml>\n"


def gexf(graph: Graph, progress: Progress) -> Iterator[str]:
    """GEXF 1.3, for Gephi: a page's label is its title, or its address; links have block and weight."""
    sites = graph.units("site")
    yield '<gexf xmlns="http://gexf.net/1.3" version="1.3">\n<graph defaultedgetype="directed">\n'
    yield '<attributes class="node">\n<attribute id="0" title="url" type="string"/>\n'
    yield '<attribute id="1" title="site" type="integer"/>\n</attributes>\n<attributes class="edge">\n'
    yield '<attribute id="0" title="block" type="integer"/>\n</attributes>\n<nodes>\n'
    for page, url in _pages(graph, progress):
        values = f'<attvalue for="0" value={quoteattr(url)}/><attvalue for="1" value="{sites[page]}"/>'
        label = quoteattr(graph.title(page) or url)
        yield f'<node id="{page}" label={label}><attvalues>{values}</attvalues></node>\n'
    yield "</nodes>\n<edges>\n"
    for number, (source, target, block, _, _, weight) in enumerate(_rows(graph, progress)):
        values = f'<attvalues><attvalue for="0" value="{block}"/></attvalues>' if block >= 0 else ""
        ends = f'id="{number}" source="{source}" target="{target}"'
        yield f'<edge {ends} weight="{weight:.9g}">{values}</edge>\n'
    yield "</edges>\n</graph>\n</gexf>\n"
