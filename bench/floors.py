"""What the floors of quality could be now: prints tests/evaluate/floors.toml anew, 3 % below what is measured.

python bench/floors.py [COLLECTION]... > /tmp/floors.toml
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.evaluate.floors import FILE, gates, measure

DATA = Path(__file__).parents[2] / "shared" / "data"
MARGIN = 0.97


def main() -> None:
    """Print the file."""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        print(line)
    for gate in gates():
        if sys.argv[1:] and gate.collection not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = measure(gate, DATA, Path(folder) / "web.cocite")
        print(f"\n[{gate.collection}]\nqueries = {gate.queries}" + ("\nsearch = true" if gate.search else ""))
        for now in found:
            print(f'"{now.method}" = [{now.p * MARGIN:.4f}, {now.map * MARGIN:.4f}]', flush=True)


if __name__ == "__main__":
    main()
