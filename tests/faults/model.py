"""A small web with everything that is kept of one: what it holds, and what it would hold after each job.

Sites have a word each that no other has, so that a search tells whose texts an index was made of. Whoever makes it or
works with it does so within `long_lists`: else none of its lists would be long.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from cocite.errors import BadStore
from cocite.graph.arrays import TYPE_OF
from cocite.graph.changes.layers import LayeredArrays
from cocite.graph.check import check
from cocite.graph.clicks import open_clicks
from cocite.graph.store import Graph
from cocite.related.ranks import rank
from cocite.words.keywords import KEYWORDS
from cocite.words.relevance import RELEVANCE
from cocite.words.search import SEARCH
from cocite.words.vectors import VECTORS
from tests.faults.dying import command, finished, fork, in_child

SITES, ADDED, LINKS = 30, 4, 6
REMOVED, DEAD = 3, 4
GONE = "https://gone.example/"
"""Removed before all trials, and in the files of more pages all the same."""
LAYERED = {
    "url": "https://layer.example/", "title": "Of a layer", "text": "This was added.", "captured": "2026-01-02",
    "links": [{"url": f"https://site{n}.example/", "text": "a site", "block": at} for at, n in enumerate((1, 2, 1))],
}  # fmt: skip
"""A page that is not in the base, with a link in two sections."""
OF_LAYERS = {"fact.page", "record.page", "out.page", "in.page", "out.start", "in.start", "repeat.start", "name.before"}
OF_HISTORY = {name for name in TYPE_OF if name.startswith("history.")}
"""Only stores that keep all captures have these: `with_archive` makes one."""
NOT_STORED = {"best.first", "sample.first", "out.far", "in.far", "repeat.far"}
NOT_STORED |= {"out.base", "out.offset", "in.base", "in.offset", "repeat.page", "repeat.target", "repeat.attribute"}
"""Only stores of thousands of pages have the third to fifth, and only older formats the others."""
RELS = ("", "nofollow", "ugc sponsored", "me")
STALE, ABSENT = "stale", "absent"
LOADED = (
    "pandas", "pyarrow.dataset", "rich.progress", "tantivy", "cocite.results.ask", "cocite.graph.build.maintain",
    "cocite.sources.html.page", "cocite.sources.open_source", "cocite.operations.store.build", "cocite.graph.clicks",
    "cocite.cli.progress", "cocite.words.vectors",
)  # fmt: skip
for _name in LOADED:
    import_module(_name)  # before processes are forked: else each of hundreds would take seconds for it


def store(place: Path) -> Path:
    """The store of a trial."""
    return place / "web.cocite"


def empty(place: Path) -> Path:
    """Where nothing has been built yet."""
    return place / "empty"


def unindexed(place: Path) -> Path:
    """Where a store is that has everything but a search index."""
    return place / "unindexed"


def other(place: Path) -> Path:
    """Where a store of other pages is, which has nothing beside it."""
    return place / "other"


def word(site: int) -> str:
    """What only the pages of one site say."""
    return "topic" + "".join("abcdefghij"[int(digit)] for digit in f"{site:02d}")


def with_store(place: Path) -> None:
    """A store with something in every array, a layer, a rank, clicks, search; files of more pages and more clicks."""
    for name, first in (("old", 0), ("new", ADDED)):
        lines = [json.dumps(record) for record in records(first)]
        (place / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
        clicks = [f"https://site{n}.example/\thttps://site{n * n % SITES}.example/\t{n + first}\n" for n in range(9)]
        (place / f"{name}-clicks.tsv").write_text("".join(clicks))
    judged = [f"https://site{n}.example/\thttps://site{n + 1}.example/\n" for n in range(9)]
    (place / "judged.tsv").write_text("".join(judged))
    (place / "site").mkdir()
    for n in range(6):
        links = "".join(f'<a href="page{(n + k) % 6}.html">{word(n + k)}</a>' for k in (1, 2))
        html = f"<title>About {word(n)}</title><main><p>{word(n % 3)} {links}</main>"
        (place / "site" / f"page{n}.html").write_text(html)
    (place / "layer.jsonl").write_text(json.dumps(LAYERED) + "\n")
    other(place).mkdir()
    for work in (
        command("build", place / "new.jsonl", "-o", store(other(place)), "-q"),
        command("build", place / "old.jsonl", "-o", store(place), "-q"),
        command("remove", GONE, "-i", store(place), "-q"),
        command("compact", "-i", store(place), "-q"),
        command("add", place / "layer.jsonl", "-i", store(place), "-q"),
        command("rank", "-i", store(place), "-q"),
        command("clicks", place / "old-clicks.tsv", "-i", store(place), "-q"),
        command("keywords", "--make", "-i", store(place), "-q"),
    ):
        code = finished(fork(work))
        assert code == 0, code
    everything(place)  # loops are loaded here, and not again in each process
    content = in_child(lambda: look(place))
    assert [name for name, value in content.items() if not value or value in (STALE, ABSENT)] == ["hits"]
    assert not (none := empty_arrays(store(place))), f"what is empty is neither written half nor changed: {none}"
    empty(place).mkdir()
    shutil.copytree(store(place), store(unindexed(place)))
    side = store(unindexed(place)) / "side"
    (side / "search.json").unlink()
    shutil.rmtree(next(side.glob("search-*")))
    with_archive(place)


def empty_arrays(path: Path) -> set[str]:
    """The arrays of FORMAT.md that are empty, or absent: of the base, and of its layers if it has any."""
    arrays = Graph(path).arrays
    layers = arrays.layers if isinstance(arrays, LayeredArrays) else []
    empty = {name for name in {*TYPE_OF} - OF_LAYERS - OF_HISTORY - NOT_STORED if not len(arrays.base[name])}
    return empty | {name for name in OF_LAYERS if layers and not any(len(layer[name]) for layer in layers)}


def archive(place: Path) -> Path:
    """Where a store is that keeps all captures."""
    return place / "archive"


def captures(year: int) -> Iterator[dict[str, Any]]:
    """Captures of a year of a few pages, whose links and texts change."""
    for n in range(6):
        targets = [f"https://then{(n * k + year) % 9}.example/" for k in range(1, 5)]
        yield {
            "url": f"https://list{n}.example/", "title": f"List of {year}", "captured": f"{year}-0{1 + n}-03",
            "text": f"{word(n)} in {year}", "headings": ["A"], "links": [{"url": url, "text": "x"} for url in targets],
        }  # fmt: skip


def write_lines(file: Path, records: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> None:
    """Page records, one a line."""
    file.write_text("".join(json.dumps(record) + "\n" for record in records))


def with_archive(place: Path) -> None:
    """A store of captures of two years, and a file with those of a third."""
    archive(place).mkdir()
    write_lines(place / "captures.jsonl", [*captures(2019), *captures(2021)])
    write_lines(place / "more-captures.jsonl", captures(2020))
    done = finished(fork(command("build", place / "captures.jsonl", "--history", "-o", store(archive(place)), "-q")))
    assert done == 0, done


def records(first: int) -> Iterator[dict[str, Any]]:
    """Pages from a site on; those that were there before have other links, texts and dates."""
    for n in range(first, SITES + first):
        links = [
            {"url": f"https://site{(n * 7 + k * k + first) % SITES}.example/page{k}", "text": f"link of {word(n)}",
             "block": k // 3, "context": f"more of {word(n)}", "rel": RELS[k % 4], "weight": 1 - k / (10 + first)}
            for k in range(1, LINKS)
        ]  # fmt: skip
        links += [{"url": f"https://site{(n + k) % (SITES + first)}.example/", "block": 2} for k in range(1, LINKS)]
        links.append({**links[0], "block": 1})  # which the page has in its first block, too
        links += [{"url": GONE}, {"url": f"https://github.com/Topic{n % 5}/Pages", "boilerplate": True}]
        yield {
            "url": f"https://site{n}.example/", "title": f"All about {word(n)}", "links": links, "lang": "en",
            "headings": ["First", "Second", "Third"], "text": f"A page of {word(n)}, made from {word(first)} on. " * 4,
            "captured": f"2026-{1 + first:02d}-{1 + n % 28:02d}", "status": 404 if n == DEAD else 200,
            "noindex": n % 10 == 8,
        }  # fmt: skip
    for n in range(3):
        urls = [f"https://site{k}.example/" for k in range(n // 2, 12)]
        yield {"url": f"https://copy{n}.example/", "title": "A copy", "links": urls}
    for n in range(2):
        yield {"url": f"https://moved{n}.example/", "redirect": f"https://site{n + 5}.example/"}
    proper = "https://other.example/proper"  # on the same site: else it is not believed
    yield {"url": "https://other.example/", "canonical": proper, "links": ["https://site1.example/"]}
    yield {"url": GONE, "title": "Gone", "links": ["https://site2.example/"]}


def look(place: Path) -> dict[str, Any]:
    """Everything that a whole store holds, which is checked: pages and links, and what is kept beside them."""
    if not (store(place) / "CURRENT").exists():
        return {"content": ABSENT}
    return {**everything(place), "search": kept(lambda: searched(Graph(store(place))))}


def everything(place: Path) -> dict[str, Any]:
    """All but the search, which leaves threads behind in the process that asks."""
    faults = check(store(place))
    if faults:
        raise AssertionError(f"check: {faults[0]}")
    graph = Graph(store(place))
    names = names_of(graph)
    return {
        "id": graph.manifest["id"],  # the same as another's with the same content, however it came about
        "content": content(graph, names),
        "clicks": kept(lambda: clicked(graph, names)),
        "pagerank": kept(lambda: ranked(graph, "pagerank")),
        "hits": kept(lambda: ranked(graph, "hits")),
        "vectors": kept(lambda: words_of_pages(graph, names)),
        "keywords": kept(lambda: keywords_of_pages(graph, names)),
    }


def names_of(graph: Graph) -> list[str]:
    """The addresses of all pages."""
    return [graph.address(page) for page in range(graph.pages)]


def content(graph: Graph, names: list[str]) -> list[Any]:
    """What a store says of links, of these and what pages have again, of pages, and which were removed for good."""
    links, pages = [], []
    for page, name in enumerate(names):
        found = graph.links_from(page)
        of_links = (found.blocks, found.flags, graph.weights_from(page))
        texts = zip(graph.anchors(page), graph.contexts(page), strict=True)
        listed = zip(found.targets.tolist(), *(part.tolist() for part in of_links), texts, strict=True)
        links += [[name, names[to], *more] for to, *more in listed]
        of = graph.facts
        facts = (graph.title, graph.text, graph.headings, of.language, of.status, of.captured, of.fetched, of.noindex)
        others = (graph.alias_target, of.representative)
        pages.append([name, *(fact(page) for fact in facts), *(names[other(page)] for other in others)])
    again = []
    for _, starts, both, _, _ in graph.links.iter_all(64):
        again.append([starts.tolist(), [names[to] for to in both.targets], both.blocks.tolist(), both.flags.tolist()])
    removed = [[fingerprint, digest.hex()] for fingerprint, digest in graph.removed.entries]
    return [links, again, pages, removed]


def kept(read: Callable[[], Any]) -> Any:
    """What is kept; or that nothing is, or of an older generation, in the words of the error."""
    try:
        return read()
    except BadStore as error:
        if any(words in str(error) for words in ("was made before the store was changed", "is of other keywords")):
            return STALE
        if "has no" in str(error):
            return ABSENT
        raise


def searched(graph: Graph) -> dict[str, list[str]]:
    """The pages that a search finds for each site's word."""
    search = SEARCH.open(graph)
    wanted = [word(n) for n in range(SITES + ADDED)]
    hits = [search.search(each, 100).hits for each in wanted]
    return {each: sorted(graph.address(page) for page, _ in found) for each, found in zip(wanted, hits, strict=True)}


def words_of_pages(graph: Graph, names: list[str]) -> dict[str, list[str]]:
    """The words that are kept of each page, heaviest first."""
    vectors = VECTORS.open(graph)
    return {name: [vectors.words[number] for number in vectors.of(page)[0].tolist()] for page, name in enumerate(names)}


def keywords_of_pages(graph: Graph, names: list[str]) -> dict[str, Any]:
    """The keywords of each page, and how often two of all stand on one page."""
    keywords = KEYWORDS.open(graph)
    both = RELEVANCE.open(graph, keywords).both
    words = {
        name: sorted(keywords.words[number] for number, _ in keywords.ordered(page)) for page, name in enumerate(names)
    }
    return {**words, "both": [part.tolist() for part in both]}


def ranked(graph: Graph, name: str) -> list[float] | str:
    """The rank of every page."""
    found = rank(name).kept(graph)
    return ABSENT if found is None else [round(float(value), 12) for value in found.values]


def clicked(graph: Graph, names: list[str]) -> list[list[Any]]:
    """All clicks."""
    clicks = open_clicks(graph)
    return [
        [name, names[to], steps]
        for page, name in enumerate(names)
        for to, steps, _ in zip(*(part.tolist() for part in clicks.after(page)), strict=True)
    ]
