"""Answers: pages with scores and reasons, filtered, explained and shown."""

DEFAULT_METHOD = "proximity"
"""Here, where it costs no import: the help of the command line names it."""
