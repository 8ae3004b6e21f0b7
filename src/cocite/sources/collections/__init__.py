"""Bookmarks and feed lists."""
