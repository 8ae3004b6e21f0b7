"""Plugins of site generators that put related pages under every page, as `cocite site --insert` does.

Each adds a place for the list to the pages while the generator writes them. When it has finished, `Site` reads its
folder and fills these places.
"""

import logging
from pathlib import Path

from cocite.errors import CociteError
from cocite.operations.pages.site import Site

LIST_PLACE = "<div data-cocite-related></div>"
DEFAULT_K, DEFAULT_HEADING = 5, "Related pages"
OUTPUT = "related.json"


def with_place(html: str) -> str:
    """The content of a page with a place for the list at its end, unless it has one."""
    return html if "data-cocite-related" in html or "cocite:related" in html else f"{html}\n{LIST_PLACE}\n"


def fill(folder: Path, base: str, setting: str, log: logging.Logger, **options: object) -> None:
    """Fill the places of all pages. What goes wrong is a warning: the site itself is complete.

    `base` is the address of the site, and `setting` the name under which the generator has it.
    """
    if not base:
        log.warning("cocite: no related pages, as the address of the site is unknown: set %s", setting)
        return
    try:
        asked = Site(folder=str(folder), base=base, output=str(folder / OUTPUT), insert=True, **options)  # type: ignore[arg-type]
        done = asked.do(lambda *_: None)
    except (CociteError, OSError) as error:
        log.warning("cocite: no related pages (%s)", error)
        return
    for warning in done.warnings:
        log.info("cocite: %s", warning)
    log.info("cocite: related pages of %s pages in %s s", done["pages"], done["seconds"])
