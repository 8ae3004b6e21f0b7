"""Download a public web by a recipe, and build a store of it."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cocite.errors import BadParameter
from cocite.operations.declare import Progress, operation
from cocite.operations.store.build import BuildResult, WorkOptions, crawled_source, with_estimates
from cocite.operations.task import user_cache
from cocite.parameters import parameter
from cocite.sources.download.recipes import Recipe, RecipeFile, newest_release, recipe_named, recipes
from cocite.system import lock_file
from cocite.text import count

if TYPE_CHECKING:
    from cocite.graph.build.passes import Built
    from cocite.sources.open_source import Source
    from cocite.sources.records import Page, ReadReport

DOWNLOAD_MB_PER_SECOND = 5  # 40 Mbit/s, for the estimate
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class RecipeList:
    """All recipes."""

    recipes: list[Recipe]

    def to_dict(self) -> dict[str, Any]:
        return {"recipes": [asdict(each) | {"try": each.try_} for each in self.recipes]}


@dataclass(frozen=True)
class Got(BuildResult):
    """The store that was built, and where its files are."""

    recipe: Recipe
    downloads: Path
    unverified: list[str]  # files for which the publisher has no checksum now

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"recipe": self.recipe.name, "downloads": str(self.downloads)}


@operation(store=False)
class Get(WorkOptions):
    """Download a public web, and build a store of it.

    Says how large it is and how long it takes, and asks before it begins. Only addresses that the recipe names are
    fetched. Downloads are kept: a download that was cut goes on where it stopped, and a file that hasn't changed isn't
    fetched again. Checksums are compared where the publisher has them.

    Examples:
        cocite get --list
        cocite get awesome
        cocite get simple-wikipedia -o wiki.cocite --yes
    """

    name: str = parameter("", "Which web: cocite get --list has the names", metavar="NAME", positional=True)
    listed: bool = parameter(
        False, "List the webs that can be had, with sizes", flags=("--list", "-l"), on={"cli": {"name": "list"}}
    )
    output: str = parameter("", "The store to build (default: NAME.cocite)", metavar="STORE", flags=("--output", "-o"))
    downloads: str = parameter("", "Keep downloads here (default: in the user's cache)", metavar="FOLDER")
    yes: bool = parameter(False, "Don't ask before downloading", flags=("--yes", "-y"))
    mirror: str = parameter("", "Fetch from a mirror that has the files under URL/HOST/PATH", metavar="URL")
    allow_private: bool = parameter(False, "Fetch from private and local addresses too")

    def validate(self) -> None:
        super().validate()
        if not self.listed and not self.name:
            raise BadParameter("name is missing: give one of " + ", ".join(recipes()))
        if self.name:
            recipe_named(self.name)

    @property
    def store(self) -> Path:
        """Where the store is built."""
        return Path(self.output or f"{self.name}.cocite")

    @property
    def folder(self) -> Path:
        """Where downloads are kept."""
        return Path(self.downloads) if self.downloads else user_cache() / "downloads" / self.name

    def confirmation(self) -> str:
        if self.yes or self.listed:
            return ""
        recipe = recipe_named(self.name)
        minutes = recipe.size_mb / DOWNLOAD_MB_PER_SECOND / 60 + recipe.minutes
        takes = f"{max(1, round(minutes)):,} min" if minutes < 120 else f"{minutes / 60:.1f} hours"
        crawl = f", then crawls up to {count(recipe.crawl_pages, 'page')}" if recipe.crawl_pages else ""
        return (
            f"{self.name}: downloads about {_size(recipe.size_mb)} from {', '.join(sorted(recipe.hosts))}{crawl}. "
            f"That takes about {takes}, and {_size(recipe.size_mb + recipe.store_mb)} of disk. Go on?"
        )

    def do(self, progress: Progress) -> RecipeList | Got:
        if self.listed:
            return RecipeList(list(recipes().values()))
        recipe = recipe_named(self.name)
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._going_on(), self._locked():
            self._check_space(recipe)
            files, unverified = self._download(recipe, progress)
        return self._build(recipe, files, unverified, progress)

    def _download(self, recipe: Recipe, progress: Progress) -> tuple[list[RecipeFile], list[str]]:
        """Fetch the files of a recipe that aren't there yet; returns them, and those without a checksum."""
        from cocite.sources.download.fetch import Fetcher, check_sum

        fetcher = Fetcher(recipe.hosts, self.mirror, self.allow_private, progress)
        release = newest_release(fetcher.small(recipe.release)) if recipe.release else ""
        files, left = recipe.downloads(release), recipe.limit_mb * MEGABYTE
        for file in files:
            stage = "downloading" if len(files) > 3 else f"downloading {file.name}"
            left -= fetcher.download(file.url, self.folder / file.name, left, stage)
        sums = fetcher.small(recipe.sums) if recipe.sums else b""
        names = [file.name for file in files]
        verified = {name for name in names if sums and check_sum(self.folder / name, sums, name, progress)}
        return files, [name for name in names if recipe.sums and name not in verified]

    def _build(self, recipe: Recipe, files: list[RecipeFile], unverified: list[str], progress: Progress) -> Got:
        from cocite.graph.build.passes import build
        from cocite.sources.records import ReadReport

        report, options = ReadReport(), self.build_options({}, anchors=True, text=True)

        def write() -> Built:
            opened = self._open(recipe, files, report, progress)
            return build(opened, self.store, report, options, with_estimates(progress, opened, report))

        made = replace(self, began=time.monotonic()).carried_out(write, options, progress)  # the download has ended
        return Got(**vars(made), recipe=recipe, downloads=self.folder, unverified=unverified)

    def _open(self, recipe: Recipe, files: list[RecipeFile], report: ReadReport, progress: Progress) -> list[Source]:
        """The files as sources, and the crawl that follows, if any."""
        from cocite.sources.crawl.start import crawl
        from cocite.sources.open_source import open_source

        if recipe.release:  # the files of one web graph
            return [open_source(str(self.folder / files[1].name), report)]
        sources = [_opened(self.folder, file, report) for file in files if file.name != recipe.crawl_from]
        if recipe.crawl_from:
            seeds = _sites((self.folder / recipe.crawl_from).read_text("utf-8", "replace"))
            options: dict[str, Any] = {"max_pages": recipe.crawl_pages, "allow_private": self.allow_private}
            pages = crawl(seeds, report, depth=1, scope="host", **options)
            sources.append(crawled_source(recipe.crawl_from, pages, report, recipe.crawl_pages, progress))
        return sources

    def _check_space(self, recipe: Recipe) -> None:
        """Refuse to begin where the disk has too little space."""
        have = sum(file.stat().st_size for file in self.folder.iterdir())
        needs = {self.store.absolute().parent: recipe.store_mb * MEGABYTE}
        needs[self.folder] = needs.get(self.folder, 0) + max(0, recipe.size_mb * MEGABYTE - have)
        for place in needs:
            if not place.is_dir():
                raise BadParameter(f"Unknown folder {place}: make it first, or choose another place")
            same = [other for other in needs if other.stat().st_dev == place.stat().st_dev]
            wanted, free = sum(needs[other] for other in same), shutil.disk_usage(place).free
            if wanted > free:
                space = f"{_size(wanted // MEGABYTE)}, and {place} has {_size(free // MEGABYTE)} free"
                raise BadParameter(f"{self.name} needs {space}: use -o and --downloads on a larger disk")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep another download out of the folder."""
        with (self.folder / ".lock").open("w") as file:
            try:
                lock_file(file, wait=False)
            except BlockingIOError as error:
                raise BadParameter(f"Another cocite get is downloading to {self.folder}: wait for it") from error
            yield

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        """After Ctrl-C, name the downloads that are kept, and how to go on."""
        try:
            yield
        except KeyboardInterrupt:
            kept = sum(file.stat().st_size for file in self.folder.iterdir()) // MEGABYTE
            given = {"-o": self.output, "--downloads": self.downloads, "--mirror": self.mirror}
            options = "".join(f" {flag} {shlex.quote(value)}" for flag, value in given.items() if value)
            private = " --allow-private" if self.allow_private else ""
            go_on = f"to go on: cocite get {self.name}{options}{private}"
            raise KeyboardInterrupt(f"Interrupted; {_size(kept)} are kept in {self.folder}; {go_on}") from None

    def warnings(self, web: Any, result: Any) -> Iterator[str]:
        if isinstance(result, Got):
            yield from super().warnings(web, result)
            if result.unverified:
                yield f"No checksum for {', '.join(result.unverified)}: the publisher's list has none now"


def _opened(folder: Path, file: RecipeFile, report: ReadReport) -> Source:
    """A file as a source; a README becomes the page of its repository, with links resolved as on GitHub."""
    from cocite.sources.open_source import open_source

    kind = "markdown" if file.page else None
    source = open_source(str(folder / file.name), report, base=file.base or None, kind=kind)
    if not file.page:
        return source

    def pages() -> Iterator[Page]:
        for page in source.read():
            page.url = file.page
            yield page

    return replace(source, read=pages)


def _sites(text: str) -> list[str]:
    """The home pages of the sites whose feeds a list has."""
    lines = [line.strip() for line in text.splitlines()]
    parts = [urlsplit(line) for line in lines if line.startswith(("http://", "https://"))]
    return [*dict.fromkeys(f"{each.scheme}://{each.netloc}/" for each in parts)]


def _size(megabytes: int) -> str:
    return f"{megabytes:,} MB" if megabytes < 10_000 else f"{megabytes / 1000:,.0f} GB"
