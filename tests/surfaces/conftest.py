"""The fixtures of the command line."""

from tests.cli.conftest import plain_surroundings, store

__all__ = ["plain_surroundings", "store"]
