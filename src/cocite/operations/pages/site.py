"""Write the related pages of every page of a static site."""

from __future__ import annotations

import hashlib
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocite.errors import BadParameter, BadSource
from cocite.operations import shared
from cocite.operations.declare import Progress, operation
from cocite.operations.task import Facts, Task, check_writable, user_cache
from cocite.parameters import parameter, values_of
from cocite.text import count

if TYPE_CHECKING:
    from cocite.site.overrides import Overrides
    from cocite.site.read import PageCache, SiteFiles, Stamp
    from cocite.site.relate import RelatedSite


class SiteResult(Facts):
    """What was written, and warnings for the owner of the site."""

    warnings: list[str]


@operation(store=False)
class Site(Task):
    """Write the related pages of every page of a static site, from texts and links.

    The same pages give the same bytes. Unchanged pages aren't read again. Navigation doesn't count; pages that redirect
    or ask not to be indexed are excluded.

    Examples:
        cocite site public --base https://example.org/ -o data/related.json
        cocite site site --base https://example.org/ -o related.json --insert
        cocite site _site --base https://me.example/ -o r.json --exclude 'tags/*'
    """

    folder: str = parameter(
        "", "Output of your generator: public, _site, site, _build/html", metavar="FOLDER", positional=True,
        required=True,
    )  # fmt: skip
    base: str = parameter("", "Address of the site: https://example.org/", metavar="URL", required=True)
    output: str = parameter(
        "", "The related pages of every page, as JSON", metavar="FILE", flags=("--output", "-o"), required=True
    )
    k: int = parameter(5, "Maximum number of related pages", flags=("-k",), minimum=1, maximum=50)
    fragments: str = parameter("", "Also write an HTML fragment for every page into this folder", metavar="FOLDER")
    insert: bool = parameter(False, "Also insert the lists into the pages, in elements with data-cocite-related")
    heading: str = parameter("Related pages", "Heading of the list in HTML; may be empty", metavar="TEXT")
    exclude: tuple[str, ...] = parameter(
        (), "Exclude these files, such as 'tags/*'; may be repeated", metavar="PATTERN"
    )
    overrides: str = parameter("", "Exceptions, in TOML: pin, never, none, hidden", metavar="FILE")
    cache: str = parameter("", "Folder of the cache (default: the user's cache)", metavar="FOLDER")
    quiet: bool = shared.quiet()

    def validate(self) -> None:
        folder = Path(self.folder)
        check_writable(self.output)
        if not folder.is_dir():
            raise BadSource(f"{folder} is not a folder: run your generator first, and give the folder that it writes")
        if self.fragments and Path(self.fragments).absolute().resolve().is_relative_to(folder.resolve()):
            why = f"is inside {folder}, so its files would become pages: choose another"
            raise BadParameter(f"fragments {self.fragments} {why}")
        if not re.match(r"https?://[^\s/]", self.base.strip()):
            raise BadParameter(f"base {self.base!r:.100}: give a web address such as https://example.org/")

    def do(self, progress: Progress) -> SiteResult:
        """Write the lists, unless nothing changed since the last run."""
        from cocite.site.overrides import read_overrides
        from cocite.site.read import PageCache, list_files, stamps_now

        began, folder, base = time.monotonic(), Path(self.folder), self.base.strip().rstrip("/") + "/"
        overrides = read_overrides(self.overrides)
        cache = PageCache(Path(self.cache) if self.cache else user_cache(), f"{folder.absolute()}\n{base}")
        files = list_files(folder, self.exclude)
        stamps, key = stamps_now(folder, files, cache), self._key(overrides)
        if _unchanged(cache, files, stamps, key):
            if stamps != cache.stamps:  # the same contents under other times
                cache.keep(stamps, **{name: cache.about[name] for name in ("wanted", "listed", "outputs")})
            done, warnings = {"unchanged": True, "pages": cache.about["listed"]}, list[str]()
        else:
            done, warnings = self._make(base, overrides, files, stamps, cache, key, progress)
        done |= {"output": self.output, "seconds": round(time.monotonic() - began, 2)}
        result = SiteResult(done)
        result.warnings = warnings
        return result

    def warnings(self, web: Any, result: SiteResult) -> list[str]:
        return result.warnings

    def _key(self, overrides: Overrides) -> str:
        """Identifies what the output depends on, beside the pages."""
        places = [str(Path(place).absolute()) if place else "" for place in (self.output, self.fragments)]
        wanted = repr([sorted(values_of(self).items()), places, overrides.text])
        return hashlib.blake2b(wanted.encode("utf-8", "surrogateescape")).hexdigest()

    def _make(
        self, base: str, overrides: Overrides, files: SiteFiles, stamps: dict[str, Stamp], cache: PageCache, key: str,
        progress: Progress,
    ) -> tuple[dict[str, Any], list[str]]:  # fmt: skip
        from cocite.site.read import Stamp, read_site
        from cocite.site.relate import relate_site
        from cocite.site.write import as_json, insert, write_changed, write_fragments

        folder, output = Path(self.folder), Path(self.output).absolute()
        site = read_site(folder, base, files, stamps, cache, progress)
        made = relate_site(base, site, overrides, self.k, progress)
        write_changed(output, as_json(made, base).encode())
        outputs = [output]
        if self.fragments:
            outputs += write_fragments(Path(self.fragments).absolute(), made, self.heading)
        stamps, inserted = dict(site.stamps), insert(folder, made, self.heading) if self.insert else []
        for file in inserted:
            outputs.append(folder.absolute() / file)
            size, when = _size_and_time(folder / file)
            stamps[file] = Stamp(size, when, stamps[file].digest)
        listed = len(made.files)
        written = {str(path): _size_and_time(path) for path in outputs}
        cache.keep(stamps, wanted="" if site.unreadable else key, listed=listed, outputs=written)
        facts = {"pages": listed, "read": site.read, "left_out": dict(sorted(made.skipped.items()))}
        facts |= {"without": sum(not some for some in made.related)}
        facts |= {"inserted": len(inserted)} if self.insert else {}
        return facts, self._warnings(files, made, site.unreadable, inserted)

    def _warnings(
        self, files: SiteFiles, made: RelatedSite, unreadable: dict[str, str], inserted: list[str]
    ) -> list[str]:
        found = []
        if unreadable:
            path, why = next(iter(unreadable.items()))
            found.append(f"Can't read {count(len(unreadable), 'file')}, such as {path} ({why.lower()})")
        if files.outside:
            found.append(f"Skipped {count(len(files.outside), 'symbolic link')} out of the folder: {files.outside[0]}")
        if made.unknown:
            found.append(f"Unknown page: {', '.join(made.unknown[:5])}; see pin and never in overrides and pages")
        if self.insert and (without := sorted({*made.files} - {*inserted})):
            pages = f"{count(len(without), 'page')}, such as {without[0]}" if inserted else "any page"
            found.append(f"No place for the list in {pages}: put <div data-cocite-related></div> into your template")
        return found


def _unchanged(cache: PageCache, files: SiteFiles, stamps: dict[str, Stamp], key: str) -> bool:
    """Whether the last run had the same files and options, and its output still exists."""
    about = cache.about
    if about.get("wanted") != key or not about.get("outputs"):
        return False
    before, now = ({path: stamp.digest for path, stamp in each.items()} for each in (cache.stamps, stamps))
    same = before == now and files.found.keys() == now.keys()
    return same and all(_size_and_time(Path(path)) == stamp for path, stamp in about["outputs"].items())


def _size_and_time(path: Path) -> list[int]:
    try:
        about = path.stat()
    except OSError:
        return [-1, -1]
    return [about.st_size, about.st_mtime_ns]
