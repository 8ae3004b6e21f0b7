"""A picture of an answer as GEXF 1.3, for Gephi, NetworkX and others: pages with kinds, scores, places and colours."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from cocite.results.answer import Answers
from cocite.results.picture import ASKED, CITED, CITING, RELATED, Picture, places
from cocite.results.present import one_line

COLOURS = {ASKED: (11, 110, 95), RELATED: (11, 98, 196), CITING: (168, 98, 10), CITED: (132, 54, 184)}
SIZES = {ASKED: 24, RELATED: 14, CITING: 9, CITED: 9}
ATTRIBUTES = {"url": "string", "kind": "string", "rank": "integer", "score": "double"}
WIDE, HIGH = 500.0, 320.0


def gexf(answers: Answers, picture: Picture) -> str:
    """The whole file."""
    about = f"related to {', '.join(answers.query)} by {answers.method}"
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" version="1.3">',
            f"<meta><creator>cocite</creator><description>{escape(one_line(about)[:1000])}</description></meta>",
            '<graph mode="static" defaultedgetype="directed">',
            '<attributes class="node" mode="static">',
            *(f'<attribute id="{name}" title="{name}" type="{kind}"/>' for name, kind in ATTRIBUTES.items()),
            "</attributes>",
            "<nodes>",
            *_nodes(picture),
            "</nodes>",
            "<edges>",
            *(f'<edge id="{i}" source="{a}" target="{b}"/>' for i, (a, b) in enumerate(picture.links)),
            "</edges>",
            "</graph>",
            "</gexf>\n",
        ]
    )


def _nodes(picture: Picture) -> Iterator[str]:
    for at, (node, place) in enumerate(zip(picture.nodes, places(picture), strict=True)):
        values = {"url": one_line(node.url), "kind": node.kind, "rank": str(node.rank), "score": f"{node.score:.6g}"}
        told = "".join(f'<attvalue for="{name}" value={quoteattr(value)}/>' for name, value in values.items())
        red, green, blue = COLOURS[node.kind]
        label = quoteattr(one_line(node.title) or values["url"])
        yield (
            f'<node id="{at}" label={label}><attvalues>{told}</attvalues>'
            f'<viz:color r="{red}" g="{green}" b="{blue}"/><viz:size value="{SIZES[node.kind]}"/>'
            f'<viz:position x="{WIDE * place.x:.1f}" y="{-HIGH * place.y:.1f}" z="0.0"/></node>'
        )
