"""References (Zotero RDF, CSL-JSON, BibTeX) and works of OpenAlex, in the published formats."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cocite.errors import BadSource
from cocite.sources.kinds import detect_kind
from cocite.sources.open_source import open_source
from cocite.sources.records import ReadReport
from tests.sources.timing import without_collection

A, B, C = "https://doi.org/10.1000/a", "https://b.example/paper", "https://doi.org/10.1000/c"
CSL = [
    {"id": "http://zotero.org/users/1/items/A", "type": "article-journal", "title": "On ä", "abstract": "Words.",
     "container-title": "J", "DOI": "10.1000/a", "URL": "https://a.example/",
     "issued": {"date-parts": [["2019", 3, 7]]}, "keyword": "x, y"},
    {"id": "b", "type": "webpage", "title": "B", "URL": B, "issued": {"date-parts": [[2020]]}, "keyword": "x"},
    {"id": "c", "type": "book", "title": "C", "DOI": "https://doi.org/10.1000/c", "issued": {"literal": "c. 1998"}},
    {"id": "d", "type": "book", "title": "D", "ISBN": "978-3-16-148410-0"},
]  # fmt: skip
BIBTEX = r"""
@string{j = "Journal of "}
@comment{nothing}
@article{a2019,
  title = {On {\"a}},
  abstract = "Words.",
  journal = j # {Things},
  doi = {10.1000/a},
  url = {https://a.example/},
  year = 2019, month = mar,
  date = {2019-03-07},
  keywords = {x, y},
}

@misc{b,
	title = {{B}},
	url = {https://b.example/paper},
	year = {2020},
	keywords = {x}
}
@book{c, title={C}, doi = "10.1000/c", year = "c. 1998"}
@book{d, title = {D}}
"""
RDF = """<rdf:RDF
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:z="http://www.zotero.org/namespaces/export#"
 xmlns:dcterms="http://purl.org/dc/terms/" xmlns:bib="http://purl.org/net/biblio#"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:link="http://purl.org/rss/1.0/modules/link/">
  <bib:Article rdf:about="https://a.example/">
    <z:itemType>journalArticle</z:itemType>
    <dcterms:isPartOf>
      <bib:Journal><dc:title>J</dc:title><dc:identifier>DOI 10.1000/a</dc:identifier></bib:Journal>
    </dcterms:isPartOf>
    <dc:title>On ä</dc:title><dcterms:abstract>Words.</dcterms:abstract><dc:date>2019-03-07</dc:date>
    <dc:subject>y</dc:subject>
    <dc:relation rdf:resource="#item_2"/>
    <link:link rdf:resource="#item_9"/>
  </bib:Article>
  <z:Attachment rdf:about="#item_9"><dc:title>Snapshot</dc:title></z:Attachment>
  <bib:Document rdf:about="#item_2">
    <dc:identifier><dcterms:URI><rdf:value>https://b.example/paper</rdf:value></dcterms:URI></dc:identifier>
    <dc:title>B</dc:title><dc:date>2020</dc:date>
    <dc:relation rdf:resource="https://a.example/"/>
  </bib:Document>
  <bib:Book rdf:about="#item_3"><dc:title>C</dc:title>
    <dc:identifier>DOI 10.1000/c</dc:identifier><dc:date>c. 1998</dc:date></bib:Book>
  <bib:Book rdf:about="urn:isbn:978-3-16-148410-0"><dc:title>D</dc:title></bib:Book>
  <z:Collection rdf:about="#collection_1"><dc:title>x</dc:title>
    <dcterms:hasPart rdf:resource="https://a.example/"/><dcterms:hasPart rdf:resource="#item_2"/>
  </z:Collection>
</rdf:RDF>"""
LIBRARIES = {"library.json": json.dumps(CSL), "library.bib": BIBTEX, "library.rdf": RDF}


def read(path: Path, report: ReadReport | None = None) -> list[dict[str, Any]]:
    batches = open_source(str(path), report or ReadReport(strict=True)).records()
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("name", LIBRARIES)
def test_references(tmp_path: Path, name: str) -> None:
    path, report = tmp_path / name, ReadReport(strict=True)
    path.write_text(LIBRARIES[name], "utf-8")
    assert detect_kind(path) == "references"
    a, b, c, library = read(path, report)
    assert [page["url"] for page in (a, b, c)] == [A, B, C]
    assert (a["title"], a["text"], a["captured"]) == ("On ä", "Words.", "2019-03-07")
    assert (b["title"], b["captured"], c["captured"]) == ("B", "2020", "1998")
    assert report.read["reference without an address (DOI or URL)"] == 1
    found: dict[str | None, list[str]] = {}
    for link in library["links"]:
        found.setdefault(None if link["block"] is None else library["headings"][link["block"]], []).append(link["url"])
    assert found == {"x": [A, B], "y": [A], None: [C]}
    assert [link["url"] for link in a["links"]] == ([B] if name == "library.rdf" else [])


def test_damaged_libraries(tmp_path: Path) -> None:
    for name, pages in (("library.json", 3), ("library.rdf", 4)):
        path, report = tmp_path / name, ReadReport()
        path.write_text(LIBRARIES[name][:-110], "utf-8")
        assert len(read(path, report)) >= pages
        assert sum(report.skipped.values()) == 1
    (tmp_path / "bomb.rdf").write_text('<!DOCTYPE x [<!ENTITY e "x">]>' + RDF)
    with pytest.raises(BadSource, match="declares XML entities"):
        read(tmp_path / "bomb.rdf")


def test_bibtex_that_begins_with_a_text_and_has_notes_on_authors(tmp_path: Path) -> None:
    path = tmp_path / "x.bib"
    path.write_text("Made by hand.\n\n@article{a, title = {A}, author+an = {1=me}, doi = {10.1000/a}}\n")
    page, _ = [
        row for batch in open_source(str(path), ReadReport(), kind="references").records() for row in batch.to_pylist()
    ]
    assert (page["url"], page["title"]) == (A, "A")


@pytest.mark.parametrize(
    ("value", "plain"),
    [(r"{\'e}t{\'e} \& na{\"\i}ve", "été & naïve"), (r"Stra{\ss}e {\o} \c{c}", "Straße ø ç"), (r"\emph{A} {B}", "A B")],
)
def test_latex(tmp_path: Path, value: str, plain: str) -> None:
    path = tmp_path / "x.bib"
    path.write_text(f"@misc{{x, title = {{{value}}}, url = {{https://a.example/}}}}\n")
    assert read(path)[0]["title"] == plain


def test_items_of_one_name_in_a_collection_many_times_take_linear_time(tmp_path: Path) -> None:
    head = RDF[: RDF.index(">", RDF.index("<rdf:RDF")) + 1]

    @without_collection
    def cost(count: int) -> float:
        part = '<dcterms:hasPart rdf:resource="http://a.example/"/>' * count
        item = '<bib:Article rdf:about="http://a.example/"><dc:title>T</dc:title></bib:Article>' * count
        path = tmp_path / "library.rdf"
        path.write_text(f"{head}<z:Collection><dc:title>C</dc:title>{part}</z:Collection>{item}</rdf:RDF>")
        began = time.process_time()
        assert len(read(path)) == count + 1
        return time.process_time() - began

    cost(10)
    assert cost(4000) < 9 * cost(1000) + 0.2


@pytest.mark.parametrize("piece", ["{", "}", '"', "\\", ",a=", "@a{", "\n@a{b,", " ", "#", "\\'{", "a=b#"])
def test_bibtex_takes_linear_time(tmp_path: Path, piece: str) -> None:
    @without_collection
    def cost(size: int) -> float:
        path = tmp_path / "x.bib"
        path.write_text("@a{b, title = {x" + piece * (size // len(piece)))
        began = time.process_time()
        for _ in open_source(str(path), ReadReport(), kind="references").records():
            pass
        return time.process_time() - began

    cost(1000)
    assert cost(400_000) < 9 * cost(100_000) + 0.1


def work(number: int, cites: list[int]) -> dict[str, Any]:
    return {
        "id": f"https://openalex.org/W{number}", "doi": f"https://doi.org/10.1000/{number}", "title": f"Work {number}",
        "display_name": f"Work {number}", "publication_year": 2001, "publication_date": "2001-02-03", "language": "en",
        "referenced_works": [f"https://openalex.org/W{cited}" for cited in cites], "related_works": [],
        "topics": [{"id": "https://openalex.org/T10", "display_name": "Graphs", "score": 0.9, "field": {"id": "x"}}],
        "abstract_inverted_index": {"are": [1], "Graphs": [0], "useful": [2, 4], "and": [3]},
    }  # fmt: skip


@pytest.mark.parametrize("form", ["works.jsonl", "works.parquet", "works.json", "works.json.gz"])
def test_openalex(tmp_path: Path, form: str) -> None:
    works, path = [work(1, [2, 3, 1]), work(2, [])], tmp_path / form
    if form == "works.jsonl":
        path.write_text("".join(json.dumps(each) + "\n" for each in works) + '{"id": "x"}\n{cut', "utf-8")
    elif form.startswith("works.json"):
        content = b"\xef\xbb\xbf" + json.dumps({"meta": {"count": 2}, "results": works}).encode()
        path.write_bytes(gzip.compress(content) if form.endswith(".gz") else content)
    else:
        rows = [{**each, "abstract_inverted_index": json.dumps(each["abstract_inverted_index"])} for each in works]
        pq.write_table(pa.Table.from_pylist(rows), path)
    report = ReadReport()
    assert detect_kind(path) == "openalex"
    alias, page, _, other = read(path, report)
    assert (alias["url"], alias["redirect"]) == ("https://doi.org/10.1000/1", "https://openalex.org/W1")
    assert (page["url"], page["title"], page["captured"], page["lang"]) == (
        "https://openalex.org/W1", "Work 1", "2001-02-03", "en"
    )  # fmt: skip
    assert page["text"] == "Graphs are useful and useful"
    links = [(link["url"][21:], link["block"], link["boilerplate"]) for link in page["links"]]
    assert links == [("W2", 0, False), ("W3", 0, False), ("T10", 1, True)]
    assert (page["headings"], page["links"][2]["text"]) == (["References", "Topics"], "Graphs")
    assert other["headings"] == ["Topics"]
    assert sum(report.skipped.values()) == (2 if form == "works.jsonl" else 0)


def test_half_a_surrogate_pair_in_an_abstract_is_replaced(tmp_path: Path) -> None:
    """The abstract is JSON within JSON: a backslash of its own is doubled in the document."""
    path = tmp_path / "works.jsonl"
    path.write_text(json.dumps({**work(1, [2]), "abstract_inverted_index": json.dumps({"a\ud800b": [0]})}))
    _, page = read(path, ReadReport())
    assert page["text"] == "a\ufffdb"


def test_values_of_a_parquet_file_that_python_cannot_have(tmp_path: Path) -> None:
    """Parquet readers don't check that texts are UTF-8, and years may have five digits."""
    title = pa.array([b"Work 1", b"\xb0"], pa.binary()).view(pa.string())
    cited = pa.ListArray.from_arrays([0, 1, 3], pa.array([b"x", b"\xff", b"y"], pa.binary()).view(pa.string()))
    far = pa.array([0, 10**7], pa.int32()).view(pa.date32())
    columns = {"id": pa.array(["W1", "W2"]), "title": title, "referenced_works": cited, "publication_date": far}
    pq.write_table(pa.table(columns), tmp_path / "works.parquet")
    report = ReadReport()
    assert [(page["url"][21:], page["title"]) for page in read(tmp_path / "works.parquet", report)] == [
        ("W1", "Work 1"), ("W2", ""),
    ]  # fmt: skip
    assert report.skipped["value that can't be read"] == 3
