"""Which links would the writer of a note add next? Held-out links of vaults judge methods and simple rivals.

    python -m research.held_out_links [FOLDER] [--only wikispeedia]... [--queries 1000] [-m METHOD]...

Wikispeedia's articles and Debian's documentation (`research/doc_sites.py`) are written as notes in Markdown, with
[[wiki links]] where the authors linked. From each note with at least five links a tenth, at least one, is taken out
with its words, chosen by hash. Right are the notes that these led to. Candidates are all notes that the note doesn't
link to. recall@10 is the part of these among the first ten. Differences from `auto` are tested by Wilcoxon's signed
ranks over notes, corrected by Holm's method.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from resiliparse.parse.html import DOMNode

from bench.tables import show
from cocite.evaluate.significance import compare, holm
from cocite.graph.build.passes import BuildOptions, build
from cocite.related.methods import method
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from cocite.web import Web
from cocite.words.search import renew_search
from research import datasets, rivals
from research.doc_sites import SITES, DocSite, fetch, target
from research.see_also import DOCS, LINE_TAGS

DATA = Path(__file__).parents[2] / "shared" / "data"
BASE = "https://notes.example/"
NAMES = ("wikispeedia", *SITES)
METHODS = ("auto", "auto(words=0, context=0, names=0)", *rivals.RIVALS)
MIN_LINKS, PART, FOUND = 5, 10, 10
Note = tuple[list[str], list[str]]
"""Pieces of text, each followed by the note that is linked there."""


class NoteWriter:
    """A page of HTML as pieces of text, and links between them."""

    def __init__(self, page: str) -> None:
        self.page, self.texts, self.links = page, [""], list[str]()

    def walk(self, node: DOMNode) -> None:
        """Add a node and all below it."""
        if node.tag in ("script", "style", "head"):
            return
        if node.tag == "#text":
            self.texts[-1] += re.sub(r"\s+", " ", node.text).translate(PLAIN)
        elif found := re.fullmatch(r"h([1-6])", node.tag or ""):
            self.texts[-1] += f"\n\n{'#' * int(found[1])} {' '.join(node.text.split()).translate(PLAIN)}\n\n"
        elif node.tag == "a" and (there := note_name(target(node, self.page))) and there != note_name(self.page):
            self.links.append(f"{there}|{' '.join(node.text.split()).translate(PLAIN)}")
            self.texts.append("")
        else:
            for child in node.child_nodes:
                self.walk(child)
            if node.tag in LINE_TAGS:
                self.texts[-1] += "\n\n"


PLAIN = str.maketrans(dict.fromkeys("[]{}<>|*_`#\\", " "))


def note_name(path: str) -> str:
    """The name of a page as a note."""
    return re.sub(r"[^\w.-]+", "-", path.removesuffix(".html"))


def notes_of_site(site: DocSite, folder: Path) -> dict[str, Note]:
    """The pages of a documentation site."""
    found: dict[str, Note] = {}
    for path in site.pages(folder):
        page = path.relative_to(folder).as_posix()
        writer = NoteWriter(page)
        writer.walk(site.content(path).body)
        found[note_name(page)] = writer.texts, writer.links
    return found


def notes_of_wikispeedia(folder: Path) -> dict[str, Note]:
    """Articles: the beginning of the text, and all links after it."""
    source = datasets.wikispeedia(folder).source
    assert isinstance(source, datasets.Held)
    pages = source.pages
    names = [note_name(page.url.removeprefix(datasets.WIKI)) for page in pages]
    found: dict[str, Note] = {}
    for name, page in zip(names, pages, strict=True):
        links = [note_name(link.url.removeprefix(datasets.WIKI)) for link in page.links]
        found[name] = [page.text.translate(PLAIN) + "\n\n", *([" "] * len(links))], links
    return found


def chosen(note: str, links: Sequence[str]) -> set[str]:
    """The notes whose links are left out of a note."""
    there = sorted({link.partition("|")[0] for link in links})
    if len(there) < MIN_LINKS:
        return set()
    by_hash = sorted(there, key=lambda each: hashlib.blake2b(f"{note} {each}".encode(), digest_size=8).digest())
    return set(by_hash[: max(1, len(there) // PART)])


def write_vault(notes: Mapping[str, Note], folder: Path) -> dict[str, set[str]]:
    """Write notes without some links; returns the notes that these led to."""
    left: dict[str, set[str]] = {}
    for name, (texts, links) in notes.items():
        known = [link for link in links if link.partition("|")[0] in notes]
        out = left[name] = chosen(name, known)
        pieces = [texts[0]]
        for link, text in zip(links, texts[1:], strict=True):
            there = link.partition("|")[0]
            pieces.append("" if there in out else f"[[{link}]]" if there in notes else link.partition("|")[2])
            pieces.append(text)
        (folder / f"{name}.md").write_text("".join(pieces), "utf-8")
    return {name: out for name, out in left.items() if out}


def answers(web: Web, call: str, pages: Sequence[int]) -> Iterator[list[int]]:
    """The first pages for each page that it doesn't link to."""
    known = [{page, *web.graph.links_from(page).targets.tolist()} for page in pages]
    depth = FOUND + max(map(len, known))
    if call in rivals.RIVALS:
        ranked: Iterator[list[int]] = rivals.best(web, call, pages, depth)
    else:
        asked = method(call)
        ranked = ([page for page, _ in asked.relate(web, [each]).ranked(web.graph.in_degree, depth)] for each in pages)
    for its, found in zip(known, ranked, strict=True):
        yield [page for page in found if page not in its][:FOUND]


def evaluate(name: str, notes: Mapping[str, Note], methods: Sequence[str], queries: int) -> None:
    """Print the table of a vault."""
    with tempfile.TemporaryDirectory(prefix="cocite-notes-") as place:
        vault, store = Path(place) / "vault", Path(place) / "notes.cocite"
        (vault / ".obsidian").mkdir(parents=True)
        left, report = write_vault(notes, vault), ReadReport()
        build([open_source(str(vault), report, base=BASE)], store, report, BuildOptions())
        renew_search(store, True)
        web = Web(store)
        some = sorted(left, key=lambda each: hashlib.blake2b(each.encode(), digest_size=8).digest())[: queries or None]
        pages = [web.graph.find(f"{BASE}{each}.md") for each in some]
        right = [{web.graph.find(f"{BASE}{there}.md") for there in left[each]} for each in some]
        recalls: dict[str, list[float]] = {}
        ranks: dict[str, float] = {}
        for call in methods:
            found = list(answers(web, call, pages))
            recalls[call] = [len(its & {*each}) / len(its) for its, each in zip(right, found, strict=True)]
            first = (next((1 / at for at, page in enumerate(each, 1) if page in its), 0.0)
                     for its, each in zip(right, found, strict=True))  # fmt: skip
            ranks[call] = float(np.mean(list(first)))
        links = f"{web.graph.pages:,} notes, {len(web.graph.links):,} links, {sum(map(len, right)):,} left out"
    against = {call: compare(values, recalls[methods[0]]) for call, values in recalls.items() if call != methods[0]}
    corrected = dict(zip(against, holm([each.signed_rank for each in against.values()]), strict=True))
    rows = []
    for call, values in recalls.items():
        row = [call, f"{np.mean(values):.4f}", f"{ranks[call]:.4f}"]
        if call in against:
            one = against[call]
            row += [f"{one.difference:+.4f} ({one.low:+.4f} to {one.high:+.4f})", f"{one.better} : {one.worse}"]
            row += [f"{corrected[call]:.1g}"]
        rows.append(row + [""] * (6 - len(row)))
    gap = f"recall, more than {methods[0]} (95 %)"
    show(f"{name}: {links} of {len(some):,} notes", ["method", "recall@10", "MRR@10", gap, "better : worse", "p"], rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for every vault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--only", action="append", choices=NAMES)
    parser.add_argument("-m", "--method", dest="methods", action="append", help="the first is what others are beside")
    parser.add_argument("--queries", type=int, default=1000, help="chosen by hash; 0 is all")
    parser.add_argument("--docs", type=Path, default=DOCS)
    options = parser.parse_args(arguments)
    for name in options.only or NAMES:
        if name == "wikispeedia":
            notes = notes_of_wikispeedia(options.folder)
        else:
            notes = notes_of_site(SITES[name], fetch(SITES[name], options.docs))
        evaluate(name, notes, options.methods or METHODS, options.queries)


if __name__ == "__main__":
    main()
