"""Pack the extension for both browsers: `python extension/pack.py dist`. The same files give the same bytes."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
MANIFESTS = {"chromium": "manifest.json", "firefox": "manifest.firefox.json"}
PARTS = ("*.html", "*.css", "*.js", "icons/*.png")
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The date of every file in the archive: that of the checkout would differ from one to the next."""


def pack(browser: str, folder: Path) -> Path:
    """Write the archive for a browser into a folder; returns its path."""
    files = {"manifest.json": HERE / MANIFESTS[browser]}
    files |= {file.relative_to(HERE).as_posix(): file for part in PARTS for file in HERE.glob(part)}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"cocite-{browser}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o100644 << 16
            archive.writestr(entry, files[name].read_bytes())
    return path


if __name__ == "__main__":
    for browser in MANIFESTS:
        print(pack(browser, Path(sys.argv[1] if len(sys.argv) > 1 else "dist")))
