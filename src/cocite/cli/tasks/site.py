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
from cocite.cli.terminal import Screen, count, seconds
from cocite.errors import BadParameter, BadSource

if TYPE_CHECKING:
    from cocite.graph.generation import Progress
    from cocite.site.making import Made
    from cocite.site.overrides import Overrides
    from cocite.site.stamps import Cache, Files, Stamp

HEADING = "Related pages"


@dataclass(frozen=True)
class Wanted:
    """What is to be made; with the pages, all on which the outcome depends."""

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
        Path, typer.Argument(metavar="FOLDER", help="What your generator wrote: public, _site, site, _build/html.")
    ],
    base: Annotated[str, typer.Option("--base", metavar="URL", help="Where the site will be: https://example.org/")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The lists of all pages, as JSON.")],
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, max=50, help="So many related pages at most.")] = 5,
    fragments: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also write a piece of HTML for every page into this folder.")
    ] = None,
    insert: Annotated[
        bool,
        typer.Option("--insert", help="Also put the lists into the pages, in elements with data-cocite-related."),
    ] = False,
    heading: Annotated[str, typer.Option(metavar="TEXT", help="Above the list, in HTML; may be empty.")] = HEADING,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Leave these files out, such as 'tags/*'; may be repeated."),
    ] = None,
    overrides: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What you want otherwise, in TOML: pin, never, none, hidden.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep what was read here, not in the user's cache.")
    ] = None,
    quiet: shared.Quiet = False,
    json: shared.Json = False,
) -> None:
    """Write the related pages of every page of a static site, by their texts and the links in them.

    The same pages give the same bytes. Pages that did not change are not read again; if nothing changed, nothing is
    done. Navigation does not count, nor do pages that redirect, or ask not to be indexed.

    \b
    Examples:
      cocite site public --base https://example.org/ -o data/related.json
      cocite site site --base https://example.org/ -o related.json --insert
      cocite site _site --base https://me.example/ -o r.json --exclude 'tags/*'
    """
    from cocite.cli.files import check_writable
    from cocite.cli.progress import display
    from cocite.site.overrides import read_overrides
    from cocite.site.stamps import Cache, list_files, stamps_now

    began = time.monotonic()
    check_writable(output)
    _check(folder, fragments)
    if not re.match(r"https?://[^\s/]", base.strip()):
        raise BadParameter(f"--base {base!r:.100} is no web address: give one such as https://example.org/")
    base = base.strip().rstrip("/") + "/"
    wishes = read_overrides(overrides)
    text = overrides.read_text(encoding="utf-8") if overrides else ""
    places = str(output.absolute()), str(fragments.absolute()) if fragments else ""
    wanted = Wanted(base, *places, insert, heading, k, tuple(exclude or ()), text)
    kept = Cache(cache or _user_cache(), f"{folder.absolute()}\n{base}")
    files = list_files(folder, wanted.exclude)
    stamps = stamps_now(folder, files, kept)
    if unchanged(kept, files, stamps, wanted):
        if stamps != kept.stamps:  # the same contents under other times
            kept.keep(stamps, None, **{name: kept.about[name] for name in ("wanted", "listed", "outputs")})
        told: dict[str, Any] = {"unchanged": True, "pages": kept.about["listed"]}
    else:
        with display(quiet or json) as stages:
            told = _make(folder, wanted, wishes, files, stamps, kept, stages)
    for reason in told.pop("remarks", []):
        complain(reason)
    told |= {"output": str(output), "seconds": round(time.monotonic() - began, 2)}
    screen = Screen()
    screen.json(told) if json else show(screen, told)


def _check(folder: Path, fragments: Path | None) -> None:
    if not folder.is_dir():
        raise BadSource(f"{folder} is not a folder: give the one that your generator writes, such as public")
    if fragments is not None and fragments.absolute().resolve().is_relative_to(folder.resolve()):
        raise BadParameter(f"--fragments {fragments} is inside {folder}, and would be read as pages: choose another")


def _user_cache() -> Path:
    home = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or home) / "cocite"


def unchanged(cache: Cache, files: Files, stamps: dict[str, Stamp], wanted: Wanted) -> bool:
    """Whether the last run had the same files and wishes, and what it wrote is still there."""
    about = cache.about
    if about.get("wanted") != _key(wanted) or not about.get("outputs"):
        return False
    before, now = ({path: stamp.digest for path, stamp in each.items()} for each in (cache.stamps, stamps))
    same = before == now and files.found.keys() == now.keys()
    return same and all(_output_stamp(path) == stamp for path, stamp in about["outputs"].items())


def _key(wanted: Wanted) -> str:
    return hashlib.blake2b(repr(sorted(asdict(wanted).items())).encode("utf-8", "surrogateescape")).hexdigest()


def _output_stamp(path: str) -> list[int] | None:
    try:
        about = Path(path).stat()
    except OSError:
        return None
    return [about.st_size, about.st_mtime_ns]


def _make(
    folder: Path,
    wanted: Wanted,
    wishes: Overrides,
    files: Files,
    stamps: dict[str, Stamp],
    cache: Cache,
    progress: Progress,
) -> dict[str, Any]:
    from cocite.site.gathering import gather
    from cocite.site.making import make
    from cocite.site.stamps import Stamp
    from cocite.site.writing import as_json, insert, write_fragments, write_json

    gathered = gather(folder, wanted.base, files, stamps, cache, progress)
    made = make(folder, wanted.base, gathered, wishes, wanted.k, progress)
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
    facts = {"pages": listed, "read": gathered.read, "left_out": dict(sorted(made.left_out.items()))}
    facts |= {"without": sum(not some for some in made.related)}
    facts |= {"inserted": len(inserted)} if wanted.insert else {}
    return {**facts, "remarks": _remarks(files, made, gathered.unreadable, wanted, inserted)}


def _remarks(files: Files, made: Made, unreadable: dict[str, str], wanted: Wanted, inserted: list[str]) -> list[str]:
    """What the owner should know."""
    found = []
    if unreadable:
        path, why = next(iter(unreadable.items()))
        found.append(f"{count(len(unreadable), 'file')} cannot be read, such as {path} ({why.lower()})")
    if files.outside:
        found.append(f"{count(len(files.outside), 'symbolic link')} out of the folder left out: {files.outside[0]}")
    if made.unknown:
        found.append(f"no such page: {', '.join(made.unknown[:5])}; see pin and never in overrides and pages")
    if wanted.insert and not inserted:
        found.append("no page has a place for its list: put <div data-cocite-related></div> into your template")
    return found


def show(screen: Screen, told: dict[str, Any]) -> None:
    """For people."""
    took = seconds(told["seconds"])
    if told.get("unchanged"):
        screen.line((told["output"], "bold"), f"  {count(told['pages'], 'page')}, unchanged  ", (took, "dim"))
        return
    parts = [count(told["pages"], "page"), f"{told['read']:,} read"]
    parts += [f"{told['without']:,} without related pages"] if told["without"] else []
    parts += [f"{told['inserted']:,} with the list in them"] if told.get("inserted") else []
    screen.line((told["output"], "bold"), f"  {', '.join(parts)}  ", (took, "dim"))
    if told["left_out"]:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in told["left_out"].items())
        screen.line((f"left out: {reasons}", "dim"), indent=2)
