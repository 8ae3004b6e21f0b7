"""The small stores of tests/results and of the command line, for operations too."""

from tests.cli.conftest import store as store
from tests.results.conftest import web as web
