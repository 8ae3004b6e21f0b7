"""Read HTML files as pages: a single file, or a folder such as a saved site or the output of a documentation tool.

The address of a file is the base address and its path in the folder. Folders that `wget -r` and HTTrack write need no
base: their top folders are named after hosts. Without either, a page has the address that it declares
(`rel=canonical`), else the path of its file as an opaque name: `site/about.html`.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from cocite.errors import BadSource
from cocite.sources.compressed import HEAD_BYTES, open_bytes
from cocite.sources.folders import address_of_file, address_under, checked_base, walk_files
from cocite.sources.html.page import MAX_CONTENT, read_html
from cocite.sources.html.page import recognises as looks_like_html
from cocite.sources.kinds import DEFAULT_OPTIONS, ReadOptions, SourceKind
from cocite.sources.records import Page, ReadReport

_HTML = re.compile(r"\.(?:x?html?|xht|shtml)(?:\.(?:gz|zst|bz2))?$", re.IGNORECASE)
_MAYBE_HTML = re.compile(r"^[^.]+$|\.(?:php[0-9]?|aspx?|jsp|cgi|cfm)$|\?", re.IGNORECASE)
_COMPRESSED = re.compile(r"\.(?:gz|zst|bz2)$", re.IGNORECASE)
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9](?:[:+]([0-9]+))?", re.IGNORECASE)
_FILE = re.compile(r".*\.(?:html?|js|css|py|md|txt|json|xml|png|jpg|gif|svg|zip)", re.IGNORECASE)
_IN_QUERY = "=&;/:@!$'()*+,?%[]"
_FOLDER = "http://folder.invalid/"  # links of pages without an address are resolved under this one
_SAVED_FROM = re.compile(rb"<!-- saved from url=\([0-9]+\)(https?://[^\s<>]+) -->", re.IGNORECASE)


def read_html_folder(path: Path, report: ReadReport, options: ReadOptions = DEFAULT_OPTIONS) -> Iterator[Page]:
    """Yield the pages of a folder, sorted by path, or of one file. Symbolic links out of the folder are skipped."""
    base = None if options.base is None else checked_base(options.base)
    if path.is_file():
        # `base`, or the file under it if `base` ends with a slash, or the page's own.
        own = address_of_file(base, path, _plain(path)) if base else _declared(path, f"{_FOLDER}file.html")
        read = (
            _read(path, own, report, options.text) if own else _read_by_path(path.parent, [path], report, options.text)
        )
        yield from read
        return
    hosts = {} if base is not None else _hosts(path)
    files = list(_html_files(path, report, whole=options.folder is None))
    if not files:
        raise BadSource(f"{path} has no HTML files: give another folder, or use --kind")
    if base is None and not hosts:
        yield from _read_by_path(path, files, report, options.text)
        return
    for file in files:
        address = _address(path, file, base, hosts)
        if address is None:  # HTTrack's own start page
            report.read["HTML file outside the folders named after hosts"] += 1
        else:
            yield from _read(file, address, report, options.text)


def _html_files(folder: Path, report: ReadReport, whole: bool) -> Iterator[Path]:
    """Yield the HTML files, sorted. Symbolic links out of the folder are counted and skipped.

    If this isn't the `whole` folder that is read, whoever walks that one counts folders that can't be listed.
    """
    root = folder.resolve()
    for file in walk_files(folder, report if whole else None):
        if _HTML.search(file.name) or (_MAYBE_HTML.search(file.name) and looks_like_html(file, _start_of(file))):
            if file.is_symlink() and not file.resolve().is_relative_to(root):
                report.skip("symbolic link out of the folder", str(file.relative_to(folder)))
            else:
                yield file


def _start_of(file: Path) -> bytes:
    """The first bytes of a file: pages of saved sites often have no suffix."""
    with suppress(OSError), file.open("rb") as stream:
        return stream.read(4096)
    return b""


def _hosts(folder: Path) -> dict[str, str]:
    """Return the addresses of the top folders that are named after hosts, as by wget and HTTrack."""
    found = {}
    for entry in sorted(folder.iterdir()):
        match = _HOST.fullmatch(entry.name)
        if match and entry.is_dir() and not _FILE.fullmatch(entry.name):
            host, _, port = entry.name.replace("+", ":").partition(":")
            found[entry.name] = f"http://{host.lower()}{':' + port if port else ''}/"
    return found


def _read_by_path(folder: Path, files: Sequence[Path], report: ReadReport, text: bool) -> Iterator[Page]:
    """Yield pages under the addresses that they declare, or else under their paths. Links between them follow."""
    places = {address_under(_FOLDER, folder, _plain(file)): file for file in files}
    declared = {place: _declared(file, place) for place, file in places.items()}
    own = dict(declared)
    for place, file in places.items():
        name = f"{folder.resolve().name}/{_plain(file).relative_to(folder).as_posix()}"
        own[place] = own[place] or "name:" + name.encode("utf-8", "replace").decode()
    for place, file in places.items():
        for page in _read(file, declared[place] or place, report, text):
            if not declared[place]:
                report.read["HTML page without an address, named by its path"] += 1
                page.url, page.canonical = own[place], ""
                for link in page.links:
                    target = link.url.partition("#")[0].partition("?")[0]
                    index = f"{target.rstrip('/')}/index.html"
                    link.url = own.get(target) or own.get(index) or link.url
                page.links = [link for link in page.links if not link.url.startswith(_FOLDER)]
            yield page


def _plain(file: Path) -> Path:
    return file.with_name(_COMPRESSED.sub("", file.name))


def _declared(file: Path, place: str) -> str:
    """Return the web address that a page declares as its own, or ""."""
    with suppress(BadSource, OSError), open_bytes(file, ReadReport()) as stream:
        start = stream.read(HEAD_BYTES)
        saved = _SAVED_FROM.search(start)  # browsers and HTTrack write this comment
        address = saved[1].decode("ascii", "ignore") if saved else read_html(start, place, text=False).canonical
        if address.startswith(("http://", "https://")) and not address.startswith(_FOLDER):
            return address
    return ""


def _address(folder: Path, file: Path, base: str | None, hosts: dict[str, str]) -> str | None:
    plain = _plain(file)
    if base is not None:
        return address_under(base, folder, plain)
    host = plain.relative_to(folder).parts[0]
    if host not in hosts or plain.parent == folder:
        return None
    path, mark, query = plain.name.partition("?")
    address = address_under(hosts[host], folder / host, plain.with_name(path or "index.html"))
    query = query if _HTML.search(path) else query.removesuffix(".html")  # wget keeps the query, and may add .html
    return f"{address}?{quote(query, _IN_QUERY)}" if mark else address


def _read(file: Path, address: str, report: ReadReport, text: bool) -> Iterator[Page]:
    try:
        with open_bytes(file, report) as stream:
            content = stream.read(MAX_CONTENT + 1)
    except (BadSource, OSError) as error:
        if isinstance(error, BadSource) and report.strict:
            raise
        report.skip("file that can't be read", f"{file}: {error}")
        return
    if len(content) > MAX_CONTENT:
        report.skip(f"page longer than {MAX_CONTENT >> 20} MiB: the rest is skipped", str(file))
    page = read_html(content, address, text=text, report=report)
    report.read["pages"] += 1
    report.read["links"] += len(page.links)
    yield page


SOURCE = SourceKind(
    "html",
    "HTML files",
    looks_like_html,
    read_html_folder,
    reads_folders=True,
    unit=lambda file, folder: (folder, "html"),
    suffixes=(".html", ".htm", ".xhtml"),
    order=80,
)
