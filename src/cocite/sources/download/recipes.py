"""Recipes: which files a public web consists of, how large they are, and how they become sources."""

import json
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from cocite.errors import BadParameter, BadSource

_RELEASE = re.compile(r"cc-main-[a-z0-9-]{4,60}")


class RecipeFile(NamedTuple):
    """A file to download."""

    url: str
    name: str  # of the file on disk
    page: str = ""  # the address of the page that it is, if it doesn't have one itself
    base: str = ""  # what its relative links are resolved by


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A public web: where its files are, and what they take."""

    name: str
    about: str
    publisher: str
    size_mb: int  # estimate of the download
    limit_mb: int  # a larger download is refused
    store_mb: int  # estimate of the store, with room to build it
    minutes: int  # estimate of the time to build it on two cores
    files: tuple[str, ...] = ()  # addresses; {release} is the newest release
    readmes: tuple[str, ...] = ()  # owner/repository/file on GitHub
    sums: str = ""  # address of a list of SHA-1 checksums
    release: str = ""  # address of a JSON list of releases, the newest first
    crawl_from: str = ""  # the file whose lines are addresses of sites to crawl
    crawl_pages: int = 0
    try_: str  # a command to try on the store

    def downloads(self, release: str = "") -> list[RecipeFile]:
        """All files, in the order of the recipe."""
        named = [url.replace("{release}", release) for url in self.files]
        found = [RecipeFile(url, PurePosixPath(urlsplit(url).path).name) for url in named]
        for owner, repository, file in (path.split("/", 2) for path in self.readmes):
            page = f"https://github.com/{owner}/{repository}"  # the one that people link to
            url = f"https://raw.githubusercontent.com/{owner}/{repository}/HEAD/{file}"
            found.append(RecipeFile(url, f"{owner}--{repository}.md", page, f"{page}/blob/HEAD/{file}"))
        return found

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts that may be asked."""
        addresses = [each.url for each in self.downloads()] + [self.sums, self.release]
        return frozenset(urlsplit(address).netloc for address in addresses if address)


@cache
def recipes() -> dict[str, Recipe]:
    """All recipes by name."""
    text = resources.files("cocite.sources.download").joinpath("recipes.toml").read_text("utf-8")
    found = {}
    for name, fields in tomllib.loads(text).items():
        given: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()
        }
        found[name] = Recipe(name=name, try_=given.pop("try"), **given)
    return found


def recipe_named(name: str) -> Recipe:
    """A recipe; raises BadParameter with those that there are."""
    found = recipes().get(name)
    if found is None:
        raise BadParameter(f"Unknown web {name!r:.100}: choose one of {', '.join(recipes())}")
    return found


def newest_release(listing: bytes) -> str:
    """The name of the newest release in a list of them."""
    try:
        name = json.loads(listing)[0]["id"]
    except (ValueError, LookupError, TypeError) as error:
        raise BadSource("The list of releases is not what the recipe expects: it may be out of date") from error
    if not isinstance(name, str) or not _RELEASE.fullmatch(name):
        raise BadSource(f"{name!r:.100} is not the name of a release: the recipe may be out of date")
    return name
