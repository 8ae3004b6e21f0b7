"""How long `cocite site` takes: first build, one page changed, all files rewritten unchanged, nothing changed.

    apt-get install python3-doc sqlite3-doc postgresql-doc
    python bench/site.py --pages 10000

The site consists of copies of the pages of these packages, each with a third of its words changed, so that no two
pages are the same. It prints wall and CPU seconds, and the other load of the machine.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tables import show

DOCS = ("python3.11/html", "sqlite3", "postgresql-doc-15/html")
TEXT = re.compile(r"(?<=>)[^<>]+(?=<)")
WORD = re.compile(r"[A-Za-z]{4,}")
CHANGED = 1 / 3


def copies(sources: list[Path], pages: int, folder: Path) -> None:
    """Write the site."""
    files = [(source, file) for source in sources for file in sorted(source.rglob("*.html"))]
    if not files:
        sys.exit("no pages to copy: apt-get install python3-doc sqlite3-doc postgresql-doc, or give --source")
    chosen = random.Random(7)
    for number in range(pages):
        source, file = files[number % len(files)]
        copy = number // len(files)

        def word(found: re.Match[str], copy: int = copy) -> str:
            return f"{found[0]}{copy}" if chosen.random() < CHANGED else found[0]

        content = file.read_text("utf-8", "replace")
        if copy:
            content = TEXT.sub(lambda text, word=word: WORD.sub(word, text[0]), content)  # type: ignore[misc]
        place = folder / f"v{copy}" / source.parts[-2 if source.name == "html" else -1] / file.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode())


def measure(name: str, *command: str) -> list[str]:
    """Run a command; return its times and its output."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = done.stdout.splitlines()[0].split("  ")
    return [name, f"{wall:.1f}", f"{busy:.1f}", f"{os.getloadavg()[0]:.1f}", ", ".join(said[1:2])]


def main() -> None:
    """Write the site, and build it four times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--source", type=Path, action="append", help="folders of HTML to copy from")
    parser.add_argument("--folder", type=Path, help="where to keep the site (default: a temporary folder)")
    given = parser.parse_args()
    sources = given.source or [Path("/usr/share/doc") / doc for doc in DOCS]
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        site = given.folder or place / "site"
        if not site.is_dir():
            copies(sources, given.pages, site)
        cocite = str(Path(sys.executable).with_name("cocite"))
        command = [cocite, "site", str(site), "--base", "https://docs.example.org/", "-o", str(place / "related.json")]
        command += ["--cache", str(place / "cache"), "--quiet"]
        rows = [measure("first build", *command), measure("nothing changed", *command)]
        files = sorted(site.rglob("*.html"))
        size = sum(file.stat().st_size for file in files)
        for file in files:
            file.write_bytes(file.read_bytes())
        rows.append(measure("all rewritten, same content", *command))
        files[0].write_bytes(files[0].read_bytes() + b"<p>one more word</p>")
        rows.append(measure("one page changed", *command))
        first = (place / "related.json").read_bytes()
        shutil.rmtree(place / "cache")
        rows.append(measure("everything again", *command))
        assert (place / "related.json").read_bytes() == first, "the same input gives the same bytes"
    head = ["cocite site", "seconds", "CPU s", "load", "output"]
    show(f"A site of {len(files):,} pages, {size / 1e6:,.0f} MB", head, rows)


if __name__ == "__main__":
    main()
