"""Answers: pages with scores and reasons, filtered, explained and shown."""

DEFAULT_METHOD = "auto"
"""Here, where it costs no import: the help of the command line names it."""
COMPARED = ("proximity", "cocitation", "companion", "extended_cocitation", "lli", "kleinberg", "walk")
"""Methods that are compared where none is named: those that need nothing but links, and milliseconds."""
