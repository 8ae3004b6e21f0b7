"""List what an installed cocite consists of, in CycloneDX 1.5: python deploy/sbom.py FOLDER

The versions are those of this environment. FOLDER gets cocite-VERSION.cdx.json.
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement


def plain(name: str) -> str:
    """The canonical spelling of a distribution's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(root: str, extras: tuple[str, ...]) -> dict[str, tuple[Distribution, set[str]]]:
    """A distribution with all that it needs, by name: each with the names that it needs itself."""
    found: dict[str, tuple[Distribution, set[str]]] = {}
    waiting = [(root, extras)]
    while waiting:
        name, wanted = waiting.pop()
        if plain(name) in found and not wanted:
            continue
        try:
            about = distribution(name)
        except PackageNotFoundError:
            continue
        needs = found.setdefault(plain(name), (about, set()))[1]
        for text in about.requires or ():
            each = Requirement(text)
            if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in ("", *wanted)):
                if plain(each.name) not in found:
                    waiting.append((each.name, tuple(sorted(each.extras))))
                needs.add(plain(each.name))
    return found


def component(about: Distribution) -> dict[str, Any]:
    """One distribution as CycloneDX describes it."""
    name, version = plain(about.metadata["Name"]), about.version
    licence = about.metadata.get("License-Expression") or ""
    made = {"type": "library", "name": name, "version": version, "bom-ref": name, "purl": f"pkg:pypi/{name}@{version}"}
    return made | ({"licenses": [{"expression": licence}]} if licence else {})


def bill(root: str = "cocite", extras: tuple[str, ...] = ("serve",)) -> dict[str, Any]:
    """The whole list."""
    found = needed(root, extras)
    others = [component(about) for name, (about, _) in sorted(found.items()) if name != root]
    needs = [{"ref": name, "dependsOn": sorted(each & found.keys())} for name, (_, each) in sorted(found.items())]
    main = {**component(found[root][0]), "type": "application"}
    head = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": main}}
    return {**head, "components": others, "dependencies": needs}


if __name__ == "__main__":
    listed = bill()
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"cocite-{listed['metadata']['component']['version']}.cdx.json"
    file.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    print(f"{file}: {len(listed['components'])} components")
