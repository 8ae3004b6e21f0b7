"""Fetching pages from the web."""
