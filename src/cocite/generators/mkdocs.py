"""A plugin for MkDocs: `plugins: [cocite]` in mkdocs.yml puts related pages under every page."""

from pathlib import Path
from typing import Any

from mkdocs.config import config_options
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin, get_plugin_logger

from cocite.generators import DEFAULT_HEADING, DEFAULT_K, fill, with_place

_log = get_plugin_logger("cocite")


class Options(Config):  # type: ignore[no-untyped-call]
    """What mkdocs.yml may set."""

    k = config_options.Type(int, default=DEFAULT_K)
    heading = config_options.Type(str, default=DEFAULT_HEADING)
    exclude = config_options.ListOfItems(config_options.Type(str), default=[])
    overrides = config_options.Type(str, default="")


class RelatedPages(BasePlugin[Options]):  # type: ignore[no-untyped-call]
    """Related pages under every page."""

    def on_page_content(self, html: str, **_: Any) -> str:
        """Add the place for the list."""
        return with_place(html)

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Fill the places."""
        own = {"k": self.config.k, "heading": self.config.heading, "exclude": tuple(self.config.exclude)}
        overrides = self.config.overrides and str(Path(config.config_file_path).parent / self.config.overrides)
        fill(Path(config.site_dir), config.site_url or "", "site_url", _log.logger, overrides=overrides, **own)
