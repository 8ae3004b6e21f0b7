"""An extension of Sphinx: `extensions = ["cocite.generators.sphinx"]` in conf.py puts related pages under all pages."""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

from cocite import __version__
from cocite.generators import DEFAULT_HEADING, DEFAULT_K, fill, with_place

_log = logging.getLogger(__name__)


def writes_pages(app: Sphinx) -> bool:
    """Whether this build writes pages of a site. Those of an EPUB are XML, and already packed when the build ends."""
    return app.builder.format == "html" and getattr(app.builder, "out_suffix", "") in (".html", ".htm")


def add_place(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Add the place for the list to a page that somebody wrote."""
    if doctree is not None and "body" in context and writes_pages(app):
        context["body"] = with_place(context["body"])


def fill_places(app: Sphinx, exception: Exception | None) -> None:
    """Fill the places, if pages were written."""
    if exception is not None or not writes_pages(app):
        return
    config = app.config
    overrides = config.cocite_overrides and str(Path(app.confdir) / config.cocite_overrides)
    fill(
        Path(app.outdir), config.cocite_base or config.html_baseurl, "html_baseurl", _log.logger, k=config.cocite_k,
        heading=config.cocite_heading, exclude=tuple(config.cocite_exclude), overrides=overrides,
    )  # fmt: skip


def setup(app: Sphinx) -> dict[str, Any]:
    """Declare the settings, and what is done when."""
    settings = {
        "cocite_base": "", "cocite_k": DEFAULT_K, "cocite_heading": DEFAULT_HEADING, "cocite_exclude": [],
        "cocite_overrides": "",
    }  # fmt: skip
    for name, default in settings.items():
        app.add_config_value(name, default, "html")
    app.connect("html-page-context", add_place)
    app.connect("build-finished", fill_places)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
