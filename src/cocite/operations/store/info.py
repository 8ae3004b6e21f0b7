"""Describe a store: pages, links, sources, and the size of its parts."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

from cocite.operations import shared
from cocite.operations.declare import Progress, Web, operation
from cocite.operations.task import Facts, Task

FACTS = ("id", "generation", "format", "built", "by", "pages", "links", "sites", "hosts", "aliases")
LAGGING = (
    "weights of words (document frequencies)", "new words in vectors", "relevance of keywords",
    "names that many pages have", "words of links to popular pages", "context words beside changed pages",
    "stored ranks", "counts of sites and hosts",
)  # fmt: skip
"""What doesn't follow at once when layers are written, but when the store is compacted, or it is made again."""
STORE_PARTS = {
    "links out": r"(out|repeat)\.(words|base|offset|bounds|far|degree|code|first)|repeat\.(page|target|attribute)",
    "links in": r"in\.(words|base|offset|bounds|far|degree|code)",
    "weights": r"out\.weight",
    "kept ready": r"(out|in)\.(long|skip)\..*|(best|sample|near)\..*",
    "names": r"name\..*",
    "look-up": r"look_up\..*|fingerprint",
    "sites, hosts": r"(host|site)\..*|page\.(host|site)",
    "page facts": r"page\..*|alias\..*|removed",
    "spellings": r"shown\..*",
    "titles": r"title\..*",
    "headings": r"headings\..*",
    "link texts": r"anchors\..*",
    "link contexts": r"contexts\..*",
    "page texts": r"text\..*",
    "history": r"history\.(edit|start|first|link|crawl|day|shape|weight)",
    "older names": r"history\.(name|shown|spelling)\..*|history\.extra",
    "older texts": r"history\..*",
    "other": r".*",
}
"""Parts of a store with the names of their arrays, as in FORMAT.md; the first match counts."""


@operation(route="/api/store")
class Info(Task):
    """Show what a store has: pages, links, sources, and the size of its parts.

    Examples:
        cocite info web.cocite
        cocite info --json | jq .pages
    """

    store: str = shared.store()

    def do(self, progress: Progress) -> Facts:
        """Everything, for the owner of the store."""
        return Facts(describe(Path(self.store or self.index)))

    def run(self, web: Web) -> Facts:
        """What strangers may know: neither its path nor its sources."""
        from cocite.graph.side import list_sides

        manifest, path = web.graph.manifest, web.graph.path
        ranks, clicks = (list_sides(path, manifest["id"], name) for name in ("rank_", "clicks"))
        found = {name: manifest.get(name) for name in FACTS} | {"edition": web.edition}
        found |= {"search": web.has("search"), "keywords": web.has("relevance")}
        found |= {"ranks": sorted(str(about.get("rank")) for about, fresh in ranks if fresh)}
        found |= {"history": manifest["history"]} if "history" in manifest else {}
        return Facts(found | {"clicks": clicks[0][0].get("clicks", 0) if clicks else 0})


def describe(path: Path) -> dict[str, Any]:
    """Everything about a store, for its owner. Reads no arrays, so that damaged stores can be described as well."""
    from cocite.graph.generation import read_current, read_layer_manifest, read_pointer
    from cocite.graph.side import list_sides

    _, manifest = read_current(path)
    _, base, names = read_pointer(path)
    layers, states = [], {base["id"]}
    for name in names:
        own = read_layer_manifest(path, name)
        states |= {*own.get("states", ()), own["id"]}
        about = {each: own[each] for each in ("built", "new", "pages", "links")}
        layers.append({"layer": name.file, **about, "bytes": (path / name.file).stat().st_size})
    pages, links = max(1, int(manifest["pages"])), max(1, int(manifest["links"]))
    sizes = part_bytes(manifest["arrays"])
    parts = [
        {"part": name, "bytes": n, "bits_per_link": round(n * 8 / links, 3), "bytes_per_page": round(n / pages, 3)}
        for name, n in sizes.items()
    ]
    ranks, clicks = (list_sides(path, manifest["id"], name) for name in ("rank_", "clicks"))
    fresh_ranks = {str(about.get("rank")): fresh for about, fresh in ranks}
    usable = [str(about.get("rank")) for about, known in list_sides(path, states, "rank_") if known]
    lagging_ranks = [name for name in usable if not fresh_ranks.get(name)]
    return {
        "store": str(path),
        **{name: manifest[name] for name in FACTS},
        "names": manifest.get("names", 0),
        "removed": manifest.get("removed", manifest["arrays"].get("removed", {}).get("length", 0)),
        "bytes": sum(sizes.values()) + sum(layer["bytes"] for layer in layers),
        **({"history": manifest["history"]} if "history" in manifest else {}),
        **({"layers": layers, "lagging": LAGGING, "lagging_ranks": lagging_ranks} if layers else {}),
        "parts": parts,
        **{name: manifest[name] for name in ("sources", "options", "skipped")},
        "public_suffix_list": manifest.get("public_suffix_list", ""),
        "ranks": fresh_ranks,
        "clicks": clicks[0][0].get("clicks", 0) if clicks else 0,
    }


def part_bytes(arrays: dict[str, dict[str, Any]]) -> dict[str, int]:
    """Bytes of each part."""
    found = Counter[str]()
    for name, entry in arrays.items():
        part = next(part for part, pattern in STORE_PARTS.items() if re.fullmatch(pattern, name))
        found[part] += int(entry["length"]) * int(re.sub(r"\D", "", str(entry["type"])) or 1)
    return {part: found[part] for part in STORE_PARTS if found[part]}
