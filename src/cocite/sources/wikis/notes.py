"""Vaults of notes (Obsidian, Logseq, Foam): where `[[links]]` and `#tags` in a folder of Markdown files lead.

A link names a note by its file, by the end of its path, or by an alias from its front matter; capitals don't matter. Of
several notes with one name, the one in the same folder comes first, then the shortest path. A note that isn't written
yet has an address, too: that of a file in the top folder. Tags count in vaults only, which have a folder `.obsidian`,
`.foam` or `logseq`: elsewhere, # has many meanings.
"""

import os
import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from urllib.parse import quote, unquote

from cocite.sources.folders import walk_names

NOTE_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
WIKI_LINK = re.compile(r"!?\[\[([^\[\]|#^\n]*+)(?:[#^][^\[\]|\n]*+)?(?:\|([^\[\]\n]*+))?\]\]")
TAG = re.compile(r"(?<![\w/&#.(])#([^\W\d_][\w/-]*+)")
TAG_WEIGHT = 0.25  # a tag says less than a link, and so does a name that isn't linked
MIN_MENTION_LETTERS, MAX_MENTION_WORDS = 4, 8  # of a note's name that is found in texts
MAX_MENTIONS = 100  # of other notes in one note
MAX_HEAD = 16 << 10  # characters searched for aliases and tags
MAX_NAMES_PER_NOTE = 8

_VAULTS = (".obsidian", ".foam", "logseq")
_FRONT = re.compile(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_YAML_LIST = re.compile(r"^(alias|tag)(?:es|s)?[ \t]*:(?!:)(.*(?:\n[ \t]*-[ \t]+.*)*+)", re.MULTILINE | re.IGNORECASE)
_LOGSEQ_LIST = re.compile(r"^[ \t]*(?:-[ \t]+)?(alias|tag)(?:es|s)?::(.*)", re.MULTILINE | re.IGNORECASE)
_WORD = re.compile(r"\w+")
_ITEM = re.compile(r"[^,\n]+")
_MEDIA = re.compile(r"\.(?!md$)[a-z0-9]{2,5}$", re.IGNORECASE)


@lru_cache(100_000)  # notes that many others link to
def quoted(path: str) -> str:
    """The path of a file as part of an address, whatever bytes its name has."""
    return quote(os.fsencode(path))


def properties(text: str) -> dict[str, list[str]]:
    """The aliases (`alias`) and tags (`tag`) that a note begins with, in YAML or as Logseq writes them."""
    head, found = text[:MAX_HEAD], dict[str, list[str]]()
    front = _FRONT.match(head)
    lists = [*(_YAML_LIST.finditer(front[1]) if front else ()), *(_LOGSEQ_LIST.finditer(head) if "::" in head else ())]
    for each in lists:
        first, *lines = each[2].split("\n")  # of the lines below, each is one item
        items = (*_ITEM.findall(first), *(line.strip().removeprefix("- ") for line in lines))
        names = (item.strip("[]\"'# \t\r") for item in items)
        found.setdefault(each[1].lower(), []).extend(filter(None, names))
    return found


class Notes:
    """The notes of a folder by their names."""

    def __init__(self, folder: Path, aliases: dict[str, list[str]] | None = None) -> None:
        self.folder = folder
        self.tagged = any((folder / name).is_dir() for name in _VAULTS)
        if aliases is None:
            notes = (path for path in walk_names(folder) if path.lower().endswith(NOTE_SUFFIXES))
            aliases = {path: self._read_aliases(path) for path in notes}
        self.aliases = aliases  # of every note, by its path

    def _read_aliases(self, path: str) -> list[str]:
        head = b""  # of a note that can't be read; whoever reads the note itself counts it
        with suppress(OSError), open(f"{self.folder}/{path}", "rb", 0) as file:  # noqa: PTH123 - faster than Path.open
            head = file.read(4 * MAX_HEAD)
        if b"alias" not in head.lower():
            return []
        text = head.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        return properties(text[:MAX_HEAD]).get("alias", [])

    @cached_property
    def _index(self) -> tuple[dict[str, str], dict[str, str]]:
        """The notes by path, and by name."""
        paths, names = sorted(self.aliases, key=lambda path: (len(path), path)), dict[str, str]()
        for path in paths:
            for name in _names(path):
                names.setdefault(_key(name), path)
        for path in paths:
            for alias in self.aliases[path]:
                names.setdefault(_key(alias), path)
        return {_key(path): path for path in reversed(paths)}, names

    @cached_property
    def _mentionable(self) -> tuple[dict[str, str], dict[str, int]]:
        """The notes by the words of their names, and how many words the longest name with each first word has."""
        named, longest = dict[str, str](), dict[str, int]()
        for path in sorted(self.aliases, key=lambda path: (len(path), path)):
            for name in (next(_names(path)), *self.aliases[path]):
                words = _WORD.findall(_key(name))
                joined = " ".join(words)
                if len(joined) >= MIN_MENTION_LETTERS and len(words) <= MAX_MENTION_WORDS and not joined.isdigit():
                    named.setdefault(joined, path)
                    longest[words[0]] = max(len(words), longest.get(words[0], 0))
        return named, longest

    def mentioned(self, text: str, note: str) -> dict[str, str]:
        """The other notes whose names a text has as whole words, each with its name; the longest name counts."""
        named, longest = self._mentionable
        words, found, at = _WORD.findall(_key(text)), dict[str, str](), 0
        while at < len(words) and len(found) < MAX_MENTIONS:
            end = at + longest.get(words[at], 0)
            while end > at and (name := " ".join(words[at:end])) not in named:
                end -= 1
            if end > at and named[name] != note:
                found.setdefault(named[name], name)
            at = max(end, at + 1)
        return found

    def renew(self, paths: Iterable[str]) -> set[str]:
        """Read notes again, some of which may be new or gone. Return the names that may lead elsewhere now."""
        changed: set[str] = set()
        for path in paths:
            before = self.aliases.get(path)
            now = self._read_aliases(path) if (self.folder / path).is_file() else None
            if before == now:
                continue
            names = [*_names(path)] if before is None or now is None else []
            changed.update(mention(name) for name in (*names, *(before or ()), *(now or ())))
            if now is None:
                del self.aliases[path]
            else:
                self.aliases[path] = now
        if changed:
            self.__dict__.pop("_index", None)
            self.__dict__.pop("_mentionable", None)
        return changed

    def find(self, name: str, note: str) -> str | None:
        """The path of the note that a link in another note names; None for a picture or the note itself."""
        name = name.strip().removesuffix(".md").strip("/")
        if not name or name.startswith(("http:", "https:")):
            return None
        paths, names = self._index
        folder = note[: note.rfind("/") + 1]
        near = f"{folder}{name}.md"
        path = paths.get(_key(posixpath.normpath(near) if "./" in near or "//" in near else near))
        path = path or names.get(_key(name))
        if path is None:
            if _MEDIA.search(name):
                return None
            path = f"{name}.md"
        return None if path == note else path


def mention(name: str) -> str:
    """The part of a name that every link to the same note has in common: what follows the last slash."""
    return _key(name.strip().removesuffix(".md").rstrip("/").rpartition("/")[2])


def relative(path: str, note: str) -> str:
    """The address of a path, relative to that of a note."""
    there = quoted(posixpath.relpath(path, posixpath.dirname(note) or "."))
    return there if "/" in there else f"./{there}"  # else a colon in a name would end a scheme


def _names(path: str) -> Iterator[str]:
    """What links may call a note: the ends of its path; Logseq has folders in names as `a___b` or `a%2Fb`."""
    name = path.rpartition(".")[0]
    parts = name.split("/")
    yield from (
        "/".join(parts[start:]) for start in range(len(parts) - 1, max(-1, len(parts) - MAX_NAMES_PER_NOTE), -1)
    )
    if "___" in parts[-1] or "%" in parts[-1]:
        yield unquote(parts[-1].replace("___", "/"))


def _key(name: str) -> str:
    return name.lower() if name.isascii() else unicodedata.normalize("NFC", name).casefold()
