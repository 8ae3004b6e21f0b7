"""The small store of tests/results, for operations too."""

from tests.results.conftest import web as web
