"""What opening a store verifies of its layers: types and lengths only, so it costs nothing that grows with them.

Kernels and NumPy put a layer's arrays side by side, and trust that they fit. Values are verified where they are used.
"""

from collections.abc import Iterable, Iterator

from cocite.graph.arrays import TEXT_COLUMNS, TEXT_PARTS, TYPE_OF, Arrays
from cocite.graph.changes.layers import ENTRY_POINTS, PAGE_FACTS, PAGE_TABLES, Layer
from cocite.graph.changes.removed import DIGEST_BYTES
from cocite.kernels.codec.name_codec import NAMES_PER_BLOCK


def verify_layers(base: Arrays, layers: Iterable[Layer]) -> None:
    """Raise BadStore for a layer whose lengths contradict each other, or those of what is below it."""
    pages, words = base.pages, {name: len(base[name]) for name in ("out.words", "in.words")}
    for layer in layers:
        wrong = [] if layer.first == pages else ["first"]
        wrong += contradictions(layer)
        for name in words:
            words[name] += len(layer[name])
            wrong += [name] if int(layer.manifest["links"]) > words[name] << 6 else []  # a link takes a bit
        if wrong:
            raise layer.damaged(", ".join(wrong))
        pages += layer.new


def contradictions(layer: Layer) -> Iterator[str]:
    """Names of arrays of a layer whose type or length is wrong."""

    def length(name: str) -> int:
        return len(layer[name])

    exact = {
        "host.domain": length("host.page"),
        "removed.digest": DIGEST_BYTES * length("removed"),
        "name.before": layer.new,
        "name.block": -(-layer.new // NAMES_PER_BLOCK),
    }
    if layer.new:
        exact["name.code"] = 514 + length("name.piece")
    exact |= {f"{kind}.{name}": length(f"{kind}.page") for kind, name in PAGE_TABLES.items()}
    for name in ("out", "in"):
        rows = length(f"{name}.page")
        exact |= {f"{name}.degree": rows, f"{name}.start": rows + 1 if rows else 0}
    exact |= {name: length(names[0]) for names in ENTRY_POINTS for name in names[1:]}
    exact |= dict.fromkeys(("out.long.first", "out.long.link"), _with_end(length("out.long.page")))
    exact |= {f"{column}.offset": length(f"{column}.first") for column in TEXT_COLUMNS}
    yield from (name for name, values in layer.arrays.items() if values.dtype != TYPE_OF.get(name, values.dtype))
    yield from (name for name, wanted in exact.items() if length(name) != wanted)
    yield from (name for name in PAGE_FACTS if length(name) not in (0, length("fact.page")))
    if length("repeat.start") not in (0, length("out.page") + 1):
        yield "repeat.start"
    filled = {
        "name.words": layer.new,
        "repeat.words": length("repeat.start"),
        "out.words": length("out.page"),
        "in.words": length("in.page"),
    }
    yield from (name for name, wanted in filled.items() if wanted and not length(name))
    for kind in ("best", "sample"):
        rows, parents = length(f"{kind}.page"), length(f"{kind}.parent")
        if parents % max(1, rows) or (rows and not parents):
            yield f"{kind}.parent"
    for column in TEXT_COLUMNS:
        texts, frames = length(f"{column}.pages"), length(f"{column}.first") - 1
        if texts and not 0 < frames <= texts:
            yield f"{column}.{next(iter(TEXT_PARTS))}"


def _with_end(rows: int) -> int:
    """The length of an array that says where each row begins, and where the last one ends."""
    return rows + 1 if rows else 0
