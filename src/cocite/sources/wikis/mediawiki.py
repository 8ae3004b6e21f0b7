"""Read MediaWiki's XML dumps (`pages-articles.xml`, and what Special:Export gives), page by page.

A page is an article: talk, templates, files and so on are counted and skipped. Redirects become aliases. A section of
the article is a section of links. Links in templates and footnotes are boilerplate; links in a "See also" section have
`rel="see-also"`. Categories aren't links, unless asked for.

The address of a page is made of the dump's `<base>` and its title, as MediaWiki spells them. expat parses the XML.
Depth, texts and tags have limits.
"""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote
from xml.parsers import expat

from cocite.errors import BadSource
from cocite.sources.compressed import open_bytes
from cocite.sources.folders import checked_base
from cocite.sources.kinds import DEFAULT_OPTIONS, ReadOptions, SourceKind
from cocite.sources.records import Link, Page, ReadReport, expect_some
from cocite.sources.wikis.wikitext import WikiLink, parse
from cocite.sources.xml_chunks import DAMAGED_XML, XML_ERRORS, new_parser, parse_chunks

MAX_PAGE = 16 << 20  # characters of an article; MediaWiki's own limit is 2 MiB, unless changed
MAX_TAG = 8 << 20  # bytes of a tag, an attribute or a comment
MAX_DEPTH = 20
MAX_TITLE = 1000
CACHED_TITLES = 200_000
SEE_ALSO = "see-also"

_SEE_ALSO_HEADINGS = frozenset(
    {
        "see also", "related pages", "related articles", "siehe auch", "voir aussi", "articles connexes",
        "véase también", "voci correlate", "ver também", "zie ook", "zobacz też", "se även", "se også", "viz též",
        "см. также", "див. також", "関連項目", "参见", "參見", "같이 보기", "ayrıca bakınız", "lihat pula",
        "katso myös",
    }
)  # fmt: skip
_KEPT = frozenset(["base", "case", "namespace", "title", "ns", "timestamp", "model", "text"])
_ENGLISH = {
    "media": -2, "special": -1, "talk": 1, "user": 2, "user talk": 3, "project": 4, "file": 6, "image": 6,
    "mediawiki": 8, "template": 10, "help": 12, "category": 14, "module": 828,
}  # fmt: skip
"""Namespaces that every wiki has under these names, too."""
_CATEGORY = 14
_SILENT = (-2, 6, _CATEGORY)  # links to media, files and categories aren't part of the text
_INTERWIKI = re.compile(
    r"(?:[a-z]{2,3}(?:-[a-z]{2,12})*|simple|w|wikipedia|wikt|wiktionary|b|wikibooks|n|wikinews|q|wikiquote|s|wikisource"
    r"|v|wikiversity|voy|wikivoyage|c|commons|d|wikidata|m|meta|mw|mediawikiwiki|species|wikispecies|phab|doi|iarchive):\S"
)  # lower case and no space after the colon, unlike titles such as "Alien: Resurrection"
_INVALID = re.compile(r"[\[\]{}|<>\n\x00-\x1f\x7f\ufffd]")


def read_mediawiki(path: Path, report: ReadReport, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Page]:
    """Yield the articles of a dump, and its redirects as aliases."""
    return expect_some(_pages(path, report, options), report, path.name)


def _pages(path: Path, report: ReadReport, options: ReadOptions) -> Iterator[Page]:
    dump = _Dump(path.name, report, options)
    parser = new_parser(path.name, "dumps don't", dump.start, dump.end, dump.characters)
    parser.buffer_size = 1 << 20
    damage = ReadReport()  # of the compressed file: the XML ends there, too, and is counted once
    with open_bytes(path, damage) as stream:
        try:
            for _ in parse_chunks(parser, stream, MAX_TAG):
                report.read["bytes"] += damage.read.pop("bytes", 0)
                yield from dump.made
                dump.made.clear()
        except XML_ERRORS as error:
            yield from dump.made
            if not dump.site.prefix:
                raise BadSource(f"{path.name} is not a MediaWiki dump ({error}): download it again") from error
            why = next(iter(damage.skipped), DAMAGED_XML)
            report.skip(why, f"{path.name}: {error}")
        else:
            report.merge(damage)


def is_see_also(heading: str) -> bool:
    """Return whether a heading says that related articles follow."""
    return heading.casefold() in _SEE_ALSO_HEADINGS


class _Dump:
    """Collects pages from the events of the XML parser."""

    def __init__(self, name: str, report: ReadReport, options: ReadOptions) -> None:
        self.name, self.report, self.options = name, report, options
        self.site = WikiSite(options.base)
        self.lang = ""
        self.made: list[Page] = []
        self.open: list[str] = []
        self.collected: list[str] | None = None  # the text of the element that is being read
        self.length = 0
        self.fields: dict[str, str] = {}
        self.key = "0"  # of a namespace

    def start(self, tag: str, given: dict[str, str]) -> None:
        self.open.append(tag)
        if len(self.open) > MAX_DEPTH:
            raise expat.ExpatError(f"elements more than {MAX_DEPTH} deep")
        if tag in _KEPT:
            self.collected, self.length = [], 0
            self.key = given.get("key", "0")
        elif tag == "page":
            self.fields = {}
        elif tag == "redirect":
            self.fields["redirect"] = given.get("title", "")
        elif tag == "mediawiki":
            self.lang = given.get("xml:lang", "")

    def characters(self, text: str) -> None:
        if self.collected is not None:
            self.length += len(text)
            if self.length <= MAX_PAGE:
                self.collected.append(text)

    def end(self, tag: str) -> None:
        self.open.pop()
        if tag in _KEPT and self.collected is not None:
            content, self.collected = "".join(self.collected), None
            if tag == "namespace":
                self.site.add_namespace(content, self.key)
            elif tag == "base":
                self.site.prefix = prefix_of(content) or self.site.prefix
            elif tag == "case":
                self.site.capital = content != "case-sensitive"
            else:
                self.fields[tag] = content  # of several revisions, the last one
                if tag == "text" and self.length > MAX_PAGE:
                    self.fields["model"] = "too long"
        elif tag == "page":
            self.add_page(self.fields)
            self.fields = {}

    def add_page(self, fields: dict[str, str]) -> None:
        """Make a page of its fields, unless it isn't an article."""
        site, report, title = self.site, self.report, fields.get("title", "").strip()
        if not site.prefix:
            raise BadSource(
                f"{self.name} has no <base>: give the wiki's address, as in --base https://wiki.example/wiki/"
            )
        if fields.get("ns", str(site.namespace_of(title))) != "0":
            report.read["page outside the articles of the wiki, skipped"] += 1
            return
        address = site.address(title)
        if address is None or len(title) > MAX_TITLE:
            report.skip("page without a valid title", title)
            return
        redirect = site.target(fields.get("redirect", ""))
        if "redirect" in fields:
            if redirect:
                self.made.append(Page(address, title=title, redirect=redirect))
            else:
                report.read["redirect to something other than an article"] += 1
            return
        model = fields.get("model", "wikitext")
        if model == "too long":
            report.skip(f"page longer than {MAX_PAGE >> 20} MiB", title)
        elif model != "wikitext":
            report.read["page that isn't wikitext, skipped"] += 1
        else:
            page = Page(address, title=title, captured=fields.get("timestamp", ""), lang=self.lang)
            self.read_text(page, fields.get("text", ""))
            self.made.append(page)

    def read_text(self, page: Page, source: str) -> None:
        """Read the links and the text of an article."""
        site, judge = self.site, self.options.see_also
        found = parse(
            source, self.options.text, site.is_silent, lambda heading: judge is not None and is_see_also(heading)
        )
        page.text = found.text
        blocks: dict[int, int] = {}  # sections with links
        categories: list[WikiLink] = []
        for link in found.links:
            url = link.target if link.external else site.target(link.target)
            if url is None:
                if site.namespace_of(link.target) == _CATEGORY:
                    categories.append(link)
                continue
            if url == page.url:
                continue
            heading = found.headings[link.section]
            related = is_see_also(heading) and not link.external and not link.hidden
            if related and judge is not None:
                judge.write(f"{page.url}\t{url}\n")
                self.report.read["link in a See also section, kept out"] += 1
                continue
            block = blocks.setdefault(link.section, len(blocks))
            if block == len(page.headings):
                page.headings.append(heading)
            rel = SEE_ALSO if related else ""
            page.links.append(Link(url, text=link.text, block=block, rel=rel, boilerplate=link.hidden))
        if self.options.categories:
            block = len(page.headings)
            for link in categories:
                if (url := site.address(link.target)) is not None:
                    page.links.append(Link(url, text=link.target.partition(":")[2].strip(), block=block))
            page.headings += ["Categories"] if categories else []
        self.report.read["category, kept apart"] += 0 if self.options.categories else len(categories)


class WikiSite:
    """How a wiki spells titles and addresses."""

    def __init__(self, base: str | None = None) -> None:
        self.prefix = prefix_of(checked_base(base)) if base else ""
        self.capital = True  # whether the first letter of a title doesn't matter
        self.names: dict[str, int] = dict(_ENGLISH)
        self._known: dict[str, str | None] = {}

    def add_namespace(self, name: str, key: str) -> None:
        """Note the name of a namespace, in the wiki's own language."""
        if name and re.fullmatch(r"-?\d{1,6}", key) and len(self.names) < 10_000:
            self.names[_spaced(name).lower()] = int(key)

    def namespace_of(self, title: str) -> int:
        """The number of the namespace that a title begins with; 0 if it begins with none."""
        name, colon, _ = title.partition(":")
        return self.names.get(_spaced(name).lower(), 0) if colon else 0

    def is_silent(self, title: str) -> bool:
        """Whether a link to a title isn't part of the text."""
        return self.namespace_of(title) in _SILENT

    def target(self, title: str) -> str | None:
        """The address of the article that a link leads to; None if it leads to something else."""
        if title not in self._known:
            if len(self._known) >= CACHED_TITLES:
                self._known.clear()
            name = title.strip().removeprefix(":")
            leads_away = _INTERWIKI.match(name) or self.namespace_of(name)
            self._known[title] = None if leads_away else self.address(name)
        return self._known[title]

    def address(self, title: str) -> str | None:
        """The address of a title in any spelling; None if it isn't one."""
        if "%" in title:
            title = unquote(title)
        if "&" in title:
            title = unescape(title)
        title = _spaced(title.partition("#")[0])
        if not title or len(title) > MAX_TITLE or _INVALID.search(title):
            return None
        if self.capital:
            title = title[0].upper() + title[1:]
        return f"{self.prefix}{quote(title.replace(' ', '_'), safe=';@$!*(),/~:')}"


def _spaced(title: str) -> str:
    return " ".join(title.replace("_", " ").split())


def prefix_of(base: str) -> str:
    """The address of all pages but for the title, given that of one page."""
    base = base.strip()
    if not re.match(r"https?://[^\s/]", base, re.IGNORECASE):
        return ""
    before, title, _ = base.partition("?title=")
    if title:
        return before + title
    return base[: base.rindex("/") + 1] if base.count("/") > 2 else f"{base}/"


SOURCE = SourceKind(
    "mediawiki", "MediaWiki dump", lambda path, head: b"<mediawiki" in head[:4096], read_mediawiki, order=42
)
