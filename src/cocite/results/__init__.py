"""Results: pages with scores and reasons, filtered, explained and displayed."""

DEFAULT_METHOD = "auto"
"""Defined here so that the command line's help needs no other import."""
COMPARED = ("proximity", "cocitation", "companion", "extended_cocitation", "lli", "kleinberg", "walk")
"""Methods compared by default: those that need only links, and take milliseconds."""
