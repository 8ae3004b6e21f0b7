"""Fuzz one target with atheris, guided by what of our code is reached.

    python -m tests.fuzz.run TARGET [--seconds 60] [--found FOLDER]

Begins with the kept cases and small examples of the form. What fails is written to FOLDER; put it into
tests/fuzz/cases/TARGET when it is mended, and it is tried in every test run.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import pkgutil
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.sources.bvgraph_writer import write_graph

CASES = Path(__file__).parent / "cases"
MAX_BYTES = 4096


def parquet(**columns: object) -> bytes:
    """A table of one row as a file."""
    file = io.BytesIO()
    pq.write_table(pa.table({name: [value] for name, value in columns.items()}), file)
    return file.getvalue()


def wat(names: list[str]) -> bytes:
    """A WAT file of one page with links."""
    links = [{"path": "A@/href", "url": f"https://{name}.example/", "text": name, "rel": "nofollow"} for name in names]
    head = {"Title": "t", "Link": [{"url": "/c", "rel": "canonical"}], "Metas": [{"name": "robots", "content": "none"}]}
    message = {"Response-Message": {"Status": "200"}, "HTML-Metadata": {"Head": head, "Links": links}}
    about = {"WARC-Type": "response", "WARC-Target-URI": "https://a.example/p", "WARC-Date": "2020-01-01T00:00:00Z"}
    envelope = {"WARC-Header-Metadata": about, "Payload-Metadata": {"HTTP-Response-Metadata": message}}
    body = json.dumps({"Envelope": envelope}).encode()
    return b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (len(body), body)


def bvgraph(lists: list[list[int]]) -> bytes:
    """The bits of a graph behind its numbers of nodes and of fours of arcs."""
    with tempfile.TemporaryDirectory() as folder:
        write_graph(lists, Path(folder) / "web", offsets=False)
        bits = (Path(folder) / "web.graph").read_bytes()
    return bytes([len(lists), sum(map(len, lists)) // 4]) + bits


SEEDS: dict[str, tuple[bytes, ...]] = {
    "url": (b"https://www.Example.com:443/a/../b/index.html?utm_source=x&id=1#top", "http://bücher.example/ä%C3%A4".encode()),
    "html": (b"<title>t</title><base href=/x/><h2>h</h2><ul><li><a href=a rel=nofollow>a</a><nav><a href=//b>",),
    "warc": (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/\r\n"
        b"Content-Type: application/http; msgtype=response\r\nContent-Length: 92\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>t</title><a href=https://b.example/>b</a>\r\n\r\n",
    ),
    "wat": (wat(["a", "b"]), b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: 2\r\n\r\n{}\r\n\r\n"),
    "opml": (b'<opml><head><title>t</title></head><body><outline text="f"><outline htmlUrl="https://a.example/"/></outline>',),
    "bookmarks": (b"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><H3>f</H3><DL><DT><A HREF='https://a.example/'>a</A></DL>",),
    "markdown": (b"# T\n\n## s\n* [a](https://a.example/ 't') and <https://b.example>\n\n[r]: https://c.example\n[r]\n",),
    "records": (b'{"url": "https://a.example/", "links": [{"url": "//b.example", "block": 0}], "headings": ["h"]}\n',),
    "parquet": (parquet(url="https://a.example/", links=[{"url": "//b.example", "block": 0}], headings=["h"]),),
    "edges": (b"https://a.example/\thttps://b.example/\n1\t2\n", b"from,to\na.example,b.example\n"),
    "bvgraph": (bvgraph([[1, 2, 3, 4, 5], [0, 2, 3, 4, 5], [7], [], [0, 1, 2, 3, 6], [4], [5, 7], [6]]),),
    "store": (bytes(range(20)), bytes([7, 0, 0, 0, 255] * 6)),
}  # fmt: skip


def main() -> None:
    """Fuzz until the time is over or something fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=sorted(SEEDS))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"))
    options = parser.parse_args()
    import atheris  # only here: the development environment doesn't include it

    import cocite.kernels

    for module in pkgutil.iter_modules(
        cocite.kernels.__path__
    ):  # as they are: Numba cannot compile what is instrumented
        importlib.import_module(f"cocite.kernels.{module.name}")
    with atheris.instrument_imports(include=["cocite"]):
        from tests.fuzz.targets import TARGETS
    options.found.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(SEEDS[options.target]):
            (Path(corpus) / f"seed{number}").write_bytes(seed)
            TARGETS[options.target](seed)  # loops are compiled before the clock counts
        kept = CASES / options.target
        flags = [
            f"-max_total_time={options.seconds}",
            f"-max_len={MAX_BYTES}",
            "-timeout=20",
            "-rss_limit_mb=4096",
        ]
        flags += [
            f"-artifact_prefix={options.found}/{options.target}-",
            corpus,
            *([str(kept)] if kept.is_dir() else []),
        ]
        atheris.Setup([sys.argv[0], *flags], TARGETS[options.target])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
