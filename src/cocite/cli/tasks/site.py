"""cocite site: related pages for a static site."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocite.cli import options as shared
from cocite.cli.failures import complain
from cocite.cli.terminal import Screen, seconds
from cocite.errors import BadParameter, BadSource
from cocite.results.text import count

if TYPE_CHECKING:
    from cocite.graph.generation import Progress
    from cocite.site.files import Files, PageCache, Stamp
    from cocite.site.overrides import Overrides
    from cocite.site.relate import RelatedSite

HEADING = "Related pages"


@dataclass(frozen=True)
class SiteOptions:
    """Everything that the output depends on, beside the pages."""

    base: str
    output: str
    fragments: str
    insert: bool
    heading: str
    k: int
    exclude: tuple[str, ...]
    overrides: str  # the text of the file


def site(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Output of your generator: public, _site, site, _build/html.")
    ],
    base: Annotated[str, typer.Option("--base", metavar="URL", help="Address of the site: https://example.org/")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The related pages of every page, as JSON.")
    ],
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, max=50, help="Maximum number of related pages.")] = 5,
    fragments: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also write an HTML fragment for every page into this folder.")
    ] = None,
    insert: Annotated[
        bool,
        typer.Option("--insert", help="Also insert the lists into the pages, in elements with data-cocite-related."),
    ] = False,
    heading: Annotated[str, typer.Option(metavar="TEXT", help="Heading of the list in HTML; may be empty.")] = HEADING,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Exclude these files, such as 'tags/*'; may be repeated."),
    ] = None,
    overrides: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Exceptions, in TOML: pin, never, none, hidden.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of the cache (default: the user's cache).")
    ] = None,
    quiet: shared.Quiet = False,
    json: shared.Json = False,
) -> None:
    """Write the related pages of every page of a static site, from texts and links.

    The same pages give the same bytes. Unchanged pages aren't read again. Navigation doesn't count; pages that redirect
    or ask not to be indexed are excluded.

    \b
    Examples:
      cocite site public --base https://example.org/ -o data/related.json
      cocite site site --base https://example.org/ -o related.json --insert
      cocite site _site --base https://me.example/ -o r.json --exclude 'tags/*'
    """
    from cocite.cli.files import check_writable
    from cocite.cli.progress import display
    from cocite.site.files import PageCache, list_files, stamps_now
    from cocite.site.overrides import read_overrides

    began = time.monotonic()
    check_writable(output)
    _check(folder, fragments)
    if not re.match(r"https?://[^\s/]", base.strip()):
        raise BadParameter(f"--base {base!r:.100}: give a web address such as https://example.org/")
    base = base.strip().rstrip("/") + "/"
    exceptions = read_overrides(overrides)
    text = overrides.read_text(encoding="utf-8") if overrides else ""
    places = str(output.absolute()), str(fragments.absolute()) if fragments else ""
    wanted = SiteOptions(base, *places, insert, heading, k, tuple(exclude or ()), text)
    kept = PageCache(cache or _user_cache(), f"{folder.absolute()}\n{base}")
    files = list_files(folder, wanted.exclude)
    stamps = stamps_now(folder, files, kept)
    if unchanged(kept, files, stamps, wanted):
        if stamps != kept.stamps:  # the same contents under other times
            kept.keep(stamps, None, **{name: kept.about[name] for name in ("wanted", "listed", "outputs")})
        done: dict[str, Any] = {"unchanged": True, "pages": kept.about["listed"]}
    else:
        with display(quiet or json) as stages:
            done = _make(folder, wanted, exceptions, files, stamps, kept, stages)
    for reason in done.pop("remarks", []):
        complain(reason)
    done |= {"output": str(output), "seconds": round(time.monotonic() - began, 2)}
    screen = Screen()
    screen.json(done) if json else show(screen, done)


def _check(folder: Path, fragments: Path | None) -> None:
    if not folder.is_dir():
        raise BadSource(f"{folder} is not a folder: give the output folder of your generator, such as public")
    if fragments is not None and fragments.absolute().resolve().is_relative_to(folder.resolve()):
        raise BadParameter(
            f"--fragments {fragments} is inside {folder}, so its files would become pages: choose another"
        )


def _user_cache() -> Path:
    home = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or home) / "cocite"


def unchanged(cache: PageCache, files: Files, stamps: dict[str, Stamp], wanted: SiteOptions) -> bool:
    """Whether the last run had the same files and options, and its output still exists."""
    about = cache.about
    if about.get("wanted") != _key(wanted) or not about.get("outputs"):
        return False
    before, now = ({path: stamp.digest for path, stamp in each.items()} for each in (cache.stamps, stamps))
    same = before == now and files.found.keys() == now.keys()
    return same and all(_output_stamp(path) == stamp for path, stamp in about["outputs"].items())


def _key(wanted: SiteOptions) -> str:
    return hashlib.blake2b(repr(sorted(asdict(wanted).items())).encode("utf-8", "surrogateescape")).hexdigest()


def _output_stamp(path: str) -> list[int] | None:
    try:
        about = Path(path).stat()
    except OSError:
        return None
    return [about.st_size, about.st_mtime_ns]


def _make(
    folder: Path,
    wanted: SiteOptions,
    exceptions: Overrides,
    files: Files,
    stamps: dict[str, Stamp],
    cache: PageCache,
    progress: Progress,
) -> dict[str, Any]:
    from cocite.site.files import Stamp
    from cocite.site.read import read_site
    from cocite.site.relate import relate_site
    from cocite.site.write import as_json, insert, write_fragments, write_json

    gathered = read_site(folder, wanted.base, files, stamps, cache, progress)
    made = relate_site(wanted.base, gathered, exceptions, wanted.k, progress)
    write_json(Path(wanted.output), as_json(made, wanted.base))
    outputs = [wanted.output]
    if wanted.fragments:
        write_fragments(Path(wanted.fragments), made, wanted.heading)
        outputs += [str(Path(wanted.fragments) / file) for file in made.files]
    stamps = dict(gathered.stamps)
    inserted = insert(folder, made, wanted.heading) if wanted.insert else []
    for file in inserted:
        outputs.append(str(folder.absolute() / file))
        about = (folder / file).stat()
        stamps[file] = Stamp(about.st_size, about.st_mtime_ns, stamps[file].digest)
    listed, whole = len(made.files), "" if gathered.unreadable else _key(wanted)
    cache.keep(stamps, None, wanted=whole, listed=listed, outputs={path: _output_stamp(path) for path in outputs})
    facts = {"pages": listed, "read": gathered.read, "left_out": dict(sorted(made.skipped.items()))}
    facts |= {"without": sum(not some for some in made.related)}
    facts |= {"inserted": len(inserted)} if wanted.insert else {}
    return {**facts, "remarks": _remarks(files, made, gathered.unreadable, wanted, inserted)}


def _remarks(
    files: Files, made: RelatedSite, unreadable: dict[str, str], wanted: SiteOptions, inserted: list[str]
) -> list[str]:
    """Warnings for the owner of the site."""
    found = []
    if unreadable:
        path, why = next(iter(unreadable.items()))
        found.append(f"Can't read {count(len(unreadable), 'file')}, such as {path} ({why.lower()})")
    if files.outside:
        found.append(f"Skipped {count(len(files.outside), 'symbolic link')} out of the folder: {files.outside[0]}")
    if made.unknown:
        found.append(f"Unknown page: {', '.join(made.unknown[:5])}; see pin and never in overrides and pages")
    if wanted.insert and not inserted:
        found.append("No page has a place for its list: put <div data-cocite-related></div> into your template")
    return found


def show(screen: Screen, done: dict[str, Any]) -> None:
    """Print what was done."""
    took = seconds(done["seconds"])
    if done.get("unchanged"):
        screen.line((done["output"], "bold"), f"  {count(done['pages'], 'page')}, unchanged  ", (took, "dim"))
        return
    parts = [count(done["pages"], "page"), f"{done['read']:,} read"]
    parts += [f"{done['without']:,} without related pages"] if done["without"] else []
    parts += [f"{done['inserted']:,} with the list inserted"] if done.get("inserted") else []
    screen.line((done["output"], "bold"), f"  {', '.join(parts)}  ", (took, "dim"))
    if done["left_out"]:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in done["left_out"].items())
        screen.line((f"Skipped: {reasons}", "dim"), indent=2)
