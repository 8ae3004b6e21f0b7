"""Related pages of a wiki, judged by the "See also" sections of its authors (Schwarzer et al. 2016).

    python -m research.see_also [--only python-docs]... [--dump FILE] [-m METHOD]...

Three documentation sites of Debian's packages (`research/doc_sites.py`) are written as MediaWiki dumps: a page is an
article, a heading a section, and what authors put under "See also" is such a section. The dumps are read as any other,
with these links out of the store and as judgements. `--dump` evaluates a dump of your own, such as Simple English
Wikipedia's. Differences from `auto` are tested as in `research/quality.py`.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote
from xml.sax.saxutils import escape

from resiliparse.parse.html import DOMNode

from bench.tables import show
from cocite.evaluate import measures
from cocite.evaluate.evaluation import Evaluation, ask_methods, in_store
from cocite.evaluate.judgements import Run, read_judgements
from cocite.related.methods import method
from cocite.sources.records import ReadReport
from cocite.web import Web
from research import rivals
from research.datasets import some_queries
from research.doc_sites import SITES, DocSite, fetch, target
from research.quality import details, tests

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "bench" / "data" / "docs"
NAMES = ("python-docs", "postgresql-docs", "git-docs")
METHODS = ("auto", "proximity", "cocitation", "companion", "tfidf")
LINE_TAGS = {"p", "li", "tr", "pre", "dt", "dd", "div", "h1", "h2", "h3", "h4", "h5", "h6"}
HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
<siteinfo><base>{base}Main_Page</base><case>case-sensitive</case></siteinfo>
"""
PAGE = """<page><title>{title}</title><ns>0</ns><revision><model>wikitext</model><text>{text}</text></revision></page>
"""
MARKS = str.maketrans({mark: f"&#{ord(mark)};" for mark in "[]{}<>&'="})


class Wikitext:
    """A page of HTML as wikitext. What has the class `seealso` comes last, as a section of its own."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.pieces: list[str] = []
        self.related: list[str] = []

    def walk(self, node: DOMNode) -> None:
        """Write a node and all below it."""
        if node.tag in ("script", "style", "head"):
            return
        if node.tag == "#text":
            self.pieces.append(re.sub(r"\s+", " ", node.text).translate(MARKS))
        elif "seealso" in (node.class_name or ""):
            self.related += [link for each in node.query_selector_all("a") if (link := self.link(each))]
        elif found := re.fullmatch(r"h([1-6])", node.tag or ""):
            marks = "=" * int(found[1])
            self.pieces.append(f"\n{marks} {' '.join(node.text.split()).translate(MARKS)} {marks}\n")
        elif node.tag == "a" and (link := self.link(node)):
            self.pieces.append(link)
        else:
            if node.tag in LINE_TAGS:
                self.pieces.append("\n")
            for child in node.child_nodes:
                self.walk(child)

    def link(self, node: DOMNode) -> str:
        """A link to another page of the site; empty if it isn't one."""
        there = unquote(target(node, self.page)).removesuffix(".html")
        text = " ".join(node.text.split()).translate(MARKS).replace("|", "&#124;")
        return f"[[{there}|{text or there}]]" if there and there != self.page.removesuffix(".html") else ""

    def text(self) -> str:
        """The wikitext."""
        related = "".join(f"* {link}\n" for link in self.related)
        return "".join(self.pieces) + (f"\n== See also ==\n{related}" if related else "")


def write_dump(site: DocSite, folder: Path, path: Path) -> None:
    """A documentation site as a dump."""
    with path.open("w", encoding="utf-8") as file:
        file.write(HEAD.format(base=site.base))
        for page in site.pages(folder):
            name = page.relative_to(folder).as_posix()
            wiki = Wikitext(name)
            wiki.walk(site.content(page).body)
            text = "".join(mark for mark in wiki.text() if mark.isprintable() or mark == "\n")
            file.write(PAGE.format(title=escape(name.removesuffix(".html")), text=escape(text)))
        file.write("</mediawiki>\n")


def evaluate(dump: Path, work: Path, methods: Sequence[str], queries: int) -> Evaluation:
    """Build a store of a dump without its "See also" links, and ask methods for them."""
    from cocite.operations.store.build import Build

    judged = work / "see-also.tsv"
    store = Build(sources=(str(dump),), output=str(work / "wiki.cocite"), see_also=str(judged)).do(lambda *_: None)
    web = Web(store.built.path)
    found, numbers = in_store(web.graph, some_queries(read_judgements(judged, ReadReport()), queries), ReadReport())
    own = [method(call) for call in methods if call not in rivals.RIVALS]
    runs = list(ask_methods(web, own, numbers))
    for call in methods:
        if call in rivals.RIVALS:
            best = rivals.best(web, call, list(numbers.values()), measures.DEPTH)
            pages = {query: [*map(web.graph.canonical, each)] for query, each in zip(numbers, best, strict=True)}
            runs.append(Run(call, pages, dict.fromkeys(pages, 0.0)))
    print(f"{web.graph.pages:,} pages, {len(web.graph.links):,} links, {len(found):,} queries")
    return Evaluation(found, runs)


def dumps(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Path]]:
    """The dumps to evaluate, each with its name."""
    for path in options.dump or ():
        yield path.name, path
    for name in options.only or (() if options.dump else NAMES):
        path = folder / f"{name}.xml"
        write_dump(SITES[name], fetch(SITES[name], options.docs), path)
        yield name, path


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for every wiki."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=NAMES)
    parser.add_argument("--dump", action="append", type=Path)
    parser.add_argument("-m", "--method", dest="methods", action="append", help=f"default: {', '.join(METHODS)}")
    parser.add_argument("--queries", type=int, default=2000, help="chosen by hash; 0 is all")
    parser.add_argument("--docs", type=Path, default=DOCS)
    options = parser.parse_args(arguments)
    head = (
        "method",
        "P@10",
        "MAP@10",
        "nDCG@10",
        "answered",
        "ms",
        "MAP, more than auto (95 %)",
        "better : worse",
        "p",
    )
    with tempfile.TemporaryDirectory(prefix="cocite-dumps-") as folder:
        for name, dump in dumps(options, Path(folder)):
            with tempfile.TemporaryDirectory(prefix="cocite-see-also-") as work:
                found = evaluate(dump, Path(work), options.methods or METHODS, options.queries)
            against = tests(found, str(method("auto")))
            show(f"{name}, {len(found.queries):,} queries", head, list(details(found, against)))


if __name__ == "__main__":
    main()
