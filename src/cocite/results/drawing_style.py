"""How the page of communities looks, in light and in dark, wide and narrow; and what it is allowed to do."""

from __future__ import annotations

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Nothing is loaded, nothing is run."""
HIGHLIGHTED = 40
"""Rows of a list whose links stand out when they are pointed at."""
_LIGHT = ("#0b62c4", "#a8480a", "#0f7a4d", "#8436b8", "#b3245a", "#5f6c00")
_DARK = ("#74b3ff", "#f5a46c", "#6ad3a3", "#cf9cf5", "#ff8db1", "#c7d25c")


def _colours(colours: tuple[str, ...]) -> str:
    return "".join(f".k{number}{{--own:{colour}}}" for number, colour in enumerate(colours))


def _pointed_at() -> str:
    """While a title is pointed at, only its own links are drawn; browsers that cannot do that leave them all."""
    rules = [
        f".drawn:has(.side .{kind}{at}:is(:hover,:focus-within)) path:not(.{kind}{at})"
        for kind in "ha"
        for at in range(HIGHLIGHTED)
    ]
    return ",".join(rules) + "{stroke-opacity:.04}"


STYLE = f"""
:root{{color-scheme:light dark;--ink:#1d2329;--soft:#59636e;--paper:#fff;--pale:#f4f6f8;--line:#d5dbe1;--warn:#b42318;
--row:3.5rem}}
{_colours(_LIGHT)}
@media (prefers-color-scheme:dark){{:root{{--ink:#e2e7ec;--soft:#9aa5b1;--paper:#13171b;--pale:#1c2126;--line:#343c45;
--warn:#ff9c8f}}{_colours(_DARK)}}}
*{{box-sizing:border-box}}
body{{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:68rem;margin:0 auto;
padding:1.5rem 1.25rem 3rem;overflow-wrap:break-word}}
h1,h2,h3,p,ol,ul,figure{{margin:0;padding:0}}
ol,ul{{list-style:none}}
a{{color:inherit;text-decoration:none}}
a:hover,a:focus-visible{{text-decoration:underline}}
small{{font-size:.8rem;color:var(--soft)}}
.kind{{color:var(--soft);letter-spacing:.04em}}
h1{{font-size:2rem;line-height:1.2;margin-bottom:.6rem}}
.lead{{max-width:46rem}}
.key{{color:var(--soft);font-size:.85rem;margin-top:.5rem}}
.key span{{display:inline-block;width:.7em;height:.7em;border-radius:50%;border:1.5px solid var(--soft);
margin:0 .2em 0 .5em}}
.key span:first-child{{margin-left:0}}
.key .full{{background:var(--soft)}}
nav ol{{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:1rem}}
nav li{{border:1px solid var(--line);border-left:4px solid var(--own);border-radius:.4rem;padding:.25rem .7rem}}
section{{margin-top:2.6rem}}
section[class]{{border-top:3px solid var(--own);padding-top:1rem}}
h2{{font-size:1.35rem;line-height:1.25}}
.facts{{color:var(--soft);margin-top:.15rem}}
.words{{display:flex;flex-wrap:wrap;gap:.35rem;margin-top:.6rem}}
.words li{{background:var(--pale);border-radius:1rem;padding:.05rem .65rem;font-size:.85rem}}
.drawn{{display:grid;grid-template-columns:minmax(0,1fr) minmax(4rem,16rem) minmax(0,1fr);margin:1rem 0 .5rem}}
.side{{min-width:0}}
.side h3{{font-size:.8rem;font-weight:600;color:var(--own);height:1.6rem;text-transform:uppercase;letter-spacing:.06em}}
.side li{{height:var(--row);display:flex;flex-direction:column;justify-content:center;padding:0 .9rem;line-height:1.2}}
.hubs{{text-align:right}}
.hubs li,.hubs h3{{align-items:flex-end;padding-right:.9rem}}
.hubs li{{padding-left:0}}
.authorities h3{{padding-left:.9rem}}
.authorities li{{padding-right:0}}
.side a,.side small{{max-width:100%}}
.title{{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;line-clamp:2;overflow:hidden;
font-weight:500}}
.side small{{white-space:nowrap;overflow:hidden;text-overflow:ellipsis;font-variant-numeric:tabular-nums}}
em{{font-style:normal;font-weight:600;color:var(--warn)}}
.drawn>svg{{width:100%;height:calc(var(--row)*var(--rows));margin-top:1.6rem;overflow:visible}}
path{{fill:none;stroke:var(--own);vector-effect:non-scaling-stroke;transition:stroke-opacity .12s}}
circle{{stroke:var(--own);stroke-width:1.5;fill:var(--paper)}}
circle.full{{fill:var(--own)}}
details{{margin-top:.4rem}}
summary{{cursor:pointer;color:var(--soft)}}
.noise{{margin-top:.6rem;columns:2 24rem;column-gap:2rem}}
.noise li{{break-inside:avoid;padding:.35rem 0 .35rem .8rem;border-left:2px solid var(--line);margin-bottom:.4rem}}
.noise .title{{-webkit-line-clamp:1;line-clamp:1}}
.noise p{{font-size:.85rem;color:var(--soft)}}
table{{border-collapse:collapse;margin:.6rem 0 1.2rem;font-variant-numeric:tabular-nums;display:block;overflow-x:auto}}
th,td{{border-bottom:1px solid var(--line);padding:.2rem .7rem;text-align:right;white-space:nowrap}}
th:first-child,td:first-child{{text-align:left}}
thead th{{background:var(--pale)}}
.chart{{max-width:100%;overflow-x:auto}}
.chart svg{{max-width:100%;height:auto}}
footer{{margin-top:3rem;border-top:1px solid var(--line);padding-top:.8rem;color:var(--soft);font-size:.8rem}}
@media (max-width:40rem){{:root{{--row:4.4rem}}body{{padding:1rem .8rem 2rem;font-size:14px}}h1{{font-size:1.6rem}}
.drawn{{grid-template-columns:minmax(0,1fr) minmax(2.6rem,4rem) minmax(0,1fr)}}
.title{{-webkit-line-clamp:3;line-clamp:3}}.side li{{padding:0 .6rem 0 .6rem}}.hubs li{{padding-left:0}}
.authorities li{{padding-right:0}}.side small{{font-size:.72rem}}}}
@media print{{details>*{{display:block}}a{{color:inherit}}section{{break-inside:avoid}}}}
{_pointed_at()}
"""
