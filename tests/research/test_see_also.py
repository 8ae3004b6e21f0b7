"""Documentation as a wiki: what is written as a dump is read back with the same links and sections."""

from __future__ import annotations

import io
from pathlib import Path

from cocite.sources.kinds import ReadOptions
from cocite.sources.records import ReadReport
from cocite.sources.wikis.mediawiki import read_mediawiki
from research.doc_sites import DocSite
from research.see_also import write_dump

JSON = """<html><body><nav><a href="index.html">up</a></nav><h1>json</h1><p>Codes [[1, 2], {{}}] == <b>a &lt; b</b>
like <a href="pickle.html">pickle</a>.</p><div class="seealso"><p>See <a href="csv.html#x">csv | more</a> and
<a href="https://elsewhere.example/">elsewhere</a></p></div>
<h2>Use</h2><p><a href="io.html">files</a></p></body></html>"""


def test_a_site_becomes_a_dump(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "json.html").write_text(JSON)
    site = DocSite("", "", "https://docs.example/", "nav", lambda folder: {}, ())
    write_dump(site, tmp_path / "site", tmp_path / "dump.xml")
    judged = io.StringIO()
    (page,) = read_mediawiki(tmp_path / "dump.xml", ReadReport(), ReadOptions(see_also=judged))
    assert page.url == "https://docs.example/json"
    links = [(link.url, link.text, page.headings[link.block or 0]) for link in page.links]
    assert links == [("https://docs.example/pickle", "pickle", "json"), ("https://docs.example/io", "files", "Use")]
    assert judged.getvalue() == "https://docs.example/json\thttps://docs.example/csv\n"
    assert page.text.split() == "json Codes [[1, 2], {{}}] == a < b like pickle. Use files".split()  # noqa: SIM905
