"""Tests of bench/, whose programs are run as scripts: they find each other beside them, and so do the tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
