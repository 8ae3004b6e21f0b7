"""The worked examples, by family: worked.py makes pages of them."""

# ruff: noqa: E501 - prose

from docs.explanation.worked import Example

HEAD = """# How methods work

"Related" can mean several things. cocite has 20 methods, most of them published, and each is one file that reads like its paper. These pages work each of them out on a graph of a few pages: a drawing, the sum, the score. A test runs the method on the same graph, and the sum must give the same number.

| family | asks | methods |
|---|---|---|
| [Counting](counting.md) | Which pages are listed with it? | `cocitation`, `proximity`, `extended_cocitation`, `lli` |
| [Hubs and authorities](hubs.md) | Which pages do good lists around it link to? | `companion`, `kleinberg`, `hubfinder`, `community` |
| [Walks and recursion](walks.md) | Where do walks from it lead, or meet? | `simrank`, `prank`, `probabilistic_simrank`, `block_simrank`, `matchsim`, `pagesim`, `walk` |
| [Words](words.md) | Which pages are about the same? | `semantic`, `link_similarity`, `integrated` |
| [All together](together.md) | What do links, words and readers say together? | `auto`, `whats_related` |

## Which one?

Use `auto`, the default, unless you have a reason. It is the best on most of [sixteen collections](../lab/portfolio.md). On very sparse citation graphs without text, `walk` is ahead. `cocitation` and `companion` are the published baselines. `proximity` is the best of the fast ones on curated lists. [Judged collections](../lab/judged-collections.md) has figures for all, and `cocite evaluate` measures them on your data.

## Words of these pages

A **parent** of a page links to it, a **child** is linked from it, a **sibling** has a parent in common with it, and a **spouse** a child. The **query page** is `u`. In the drawings it is red, pages that link are grey, others blue. In `A: u s | t`, page `A` links to `u` and `s` in one section and to `t` in another.

See also [all parameters](../methods.md), [the architecture](../ARCHITECTURE.md), and [the decisions](../decisions/README.md).
"""

COUNTING = """
# Counting: pages that are listed together

Somebody who makes a list of links puts pages on one topic together. So the simplest question is a good one: which pages are listed with this page, and how often?
"""
HUBS = """
# Hubs and authorities

A good list (hub) links to good pages (authorities), and a good page is on good lists. These methods take the graph around a page, and let both values reinforce each other until they no longer change.
"""
WALKS = """
# Walks and recursion

Counting stops one step away. These methods go on: two pages are similar if similar pages link to them, or if a walk from one often visits the other.
"""
WORDS = """
# Words, and links to pages with similar words

Keywords are the frequent words of a page. Two keywords are relevant to each other if they are on the same pages.
"""
TOGETHER = """
# All together

Links show what authors group together, words what pages are about, and clicks where readers went. These two methods add them up.
"""

FAMILIES = {
    "counting": (
        COUNTING,
        [
            Example(
                "cocitation",
                "Every parent of `u` gives 1 to each page that it also links to. Of a long parent only links near the link "
                "to `u` count: 4 before and 4 after it.",
                "A: u s t\nB: u s\nC: v u",
                {"s": "1 + 1", "t": "1", "v": "1"},
                note="`s` is on two lists with `u`. That nobody else lists `s` doesn't matter, nor how long the lists are.",
            ),
            Example(
                "proximity",
                "Cocitation that looks at the page. Two links that are d links apart give d^−0.81. If both are in one section "
                "of n links, they give 10 / ln(2 + n) more: a short section says more than a long one.",
                "A: u s | t\nB: s u x |",
                {
                    "s": "1^−0.81 + 10 / ln(2 + 2) + 1^−0.81 + 10 / ln(2 + 3)",
                    "x": "1^−0.81 + 10 / ln(2 + 3)",
                    "t": "2^−0.81",
                },
                note="`t` is on a list with `u`, but in another section: it gets little.",
            ),
            Example(
                "extended_cocitation",
                "Counts parents in common, b, and also children in common, f. The score is the larger of the two. Parents on "
                "one site are merged into one parent first, so nobody can vote twice.",
                "A: u s\nb/1: u s\nb/2: u s t\nu: x y\nw: x y",
                {"s": "max(2, 0)", "w": "max(0, 2)", "t": "max(1, 0)"},
                rows="A b/1 b/2 / s u t w / x y",
                note="`b/1` and `b/2` are pages of one site: `s` has two merged parents in common with `u`, not three. "
                "`w` shares no parent with `u`, but both children.",
            ),
            Example(
                "lli",
                "Latent linkage information: siblings are rows of a matrix, parents its columns. Its singular vectors are "
                "directions in which parents agree. The score is the cosine of a sibling and the query page, both written "
                "in the strongest of these directions.",
                "A: u s t\nB: u s v",
                {
                    "s": "q · √(2) / (q · √(2))",
                    "t": "q · (1 / √(2)) / (q · 1)",
                    "v": "q · (1 / √(2)) / (q · 1)",
                },
                names={"q": "√(2) · √(3)"},
                note="The rows are s = (1, 1), t = (1, 0) and v = (0, 1). The directions are (1, 1)/√2 and (1, −1)/√2, with "
                "singular values √3 and 1. In them s = (√2, 0), t = (1/√2, 1/√2), v = (1/√2, −1/√2), and the query page is "
                "(q, 0). So `s` points where `u` does, and the others at 45 degrees.",
            ),
        ],
    ),
    "hubs": (
        HUBS,
        [
            Example(
                "companion",
                "Builds the graph around `u`: parents, what they link to near `u`, children, and other parents of these. A "
                "link from one of k pages of a site counts 1/k. Then hubs and authorities are computed on it.",
                "A: u s\nb/1: u t\nb/2: u t",
                {"s": "1 / √(6)", "t": "(1/2 · 1 + 1/2 · 1) / √(6)"},
                rows="A b/1 b/2 / s u t",
                note="The hub values of the three lists are equal. `t` has two of them, but they are of one site, so each "
                "counts half: `s` and `t` are level.",
            ),
            Example(
                "kleinberg",
                "The same idea, earlier: hubs and authorities around `u`, and every link counts 1. The graph is that of the "
                "last example.",
                "A: u s\nb/1: u t\nb/2: u t",
                {"t": "1 / √(3)", "s": "(3 − √(3)) / 6"},
                rows="A b/1 b/2 / s u t",
                note="With a(u) = (3 + √3)/6, λ = 3 + √3 is the eigenvalue: λ·a(s) = a(u) + a(s). Two pages of one site are "
                "enough to put `t` far ahead. That is what Companion changed.",
            ),
            Example(
                "hubfinder(criterion=out_degree)",
                "Looks for lists, not for results of lists. It goes from the start page to parents and children, keeps the "
                "most interesting ones, and goes on from these, three times. A hub needs at least 3 out-links.",
                "A: u s t v\nB: u s\nC: x y z",
                {"A": "4"},
                rows="A B C / u s t v x y z",
                note="Here a page's number of out-links decides; by default its HubRank does. `B` has too few links, and "
                "`C` can't be reached.",
            ),
            Example(
                "community",
                "Finds communities on a topic. Pages with few links to the root set are noise, and are eliminated; then hubs "
                "and authorities are computed. For one page, the root set is the page and its parents.",
                "A: u s\nB: u s t\nC: u t\nD: t w",
                {"s": "1 / 2", "t": "1 / 2"},
                rows="A B C D / s u t w",
                note="`D` and `w` aren't linked with the root set. The hubs of the rest are A = u + s, B = u + s + t and "
                "C = u + t. As authorities, `u` gets A + B + C, `s` gets A + B, and `t` gets B + C. With u = 1/√2 and "
                "s = t = 1/2 these are in proportion.",
            ),
        ],
    ),
    "walks": (
        WALKS,
        [
            Example(
                "simrank",
                "Two pages are as similar as their parents are, on average, times 0.8. A page is similar to itself by 1.",
                "C: A D\nA: u s\nB: u s\nD: v",
                {"s": "0.8 / (2 · 2) · (1 + 0 + 0 + 1)", "v": "0.8 / (2 · 1) · (AD + 0)"},
                names={"AD": "0.8 / (1 · 1) · 1"},
                rows="C / A B D / u s v",
                note="`v` shares no parent with `u`. But `C` lists `A` and `D`, so these are similar, and so are their children.",
            ),
            Example(
                "prank",
                "SimRank in both directions: half for similar parents, half for similar children.",
                "A: u s\nB: u\nu: x\nw: x",
                {"w": "0.5 · 0.8 / (1 · 1) · 1", "s": "0.5 · 0.8 / (2 · 1) · (1 + AB)"},
                names={"AB": "0.25"},
                rows="A B / s u w / x",
                note="`A` and `B` are similar because their children are. AB = 0.5 · 0.8 / 2 · (1 + score of `s`) has the form "
                "of the score of `s`, so both are 0.25.",
            ),
            Example(
                "probabilistic_simrank",
                "SimRank where a link exists with a probability. A walk against the links goes to one of the parents that "
                "exist, all equally likely.",
                "A: u s\nB: u*0.5 t*0.5",
                {"s": "0.8 · to_A · 1", "t": "0.8 · to_B · 0.5"},
                names={"to_A": "1 · (0.5 · 1/2 + 0.5 · 1)", "to_B": "0.5 · 1/2"},
                note="From `u`, the walk goes to `A` with probability to_A: half of the time `B` competes, half of the time "
                "it doesn't. Dashed links have probability 0.5.",
            ),
            Example(
                "block_simrank",
                "The web is divided into blocks, here sites. Pages of one block have SimRank inside it. Pages of different "
                "blocks have the SimRank of their blocks, times the shares of their in-links that come from outside.",
                "x: y/1 z\ny/0: y/1 y/2",
                {"y/2": "0.8 · 1", "z": "1/2 · 1 · YZ"},
                names={"YZ": "0.8 · 1"},
                rows="x y/0 / z y/1 y/2",
                query="y/1",
                note="Block `x` links to the blocks `y` and `z`, so these are similar by 0.8. One of the two in-links of the "
                "query page comes from outside.",
            ),
            Example(
                "matchsim",
                "Matches each parent of one page with one of the other, as well as possible, and divides by the larger number "
                "of parents. Nothing decays.",
                "A: u s t\nB: u s\nC: s",
                {"s": "(1 + 1) / 3", "t": "1 / 2"},
                note="Two parents of `s` are those of `u`; the third has no partner.",
            ),
            Example(
                "pagesim",
                "Every page passes its PageRank on along its links, divided among them, times 0.8 at each step. Two pages are "
                "similar if the same pages pass much on to both.",
                "A: u s\nB: u t w",
                {"s": "A_u² / A_u", "t": "B_u² / B_u", "w": "B_u² / B_u"},
                names={"A_u": "0.8 · 0.15 / 2", "B_u": "0.8 · 0.15 / 3"},
                note="A page without in-links has the PageRank 0.15. `A` passes more on to each of its two pages than `B` to "
                "each of its three.",
            ),
            Example(
                "walk",
                "A walk starts at `u`, follows links in either direction, and returns to `u` with probability 0.15 at every "
                "step. The score is the share of time that it spends at a page.",
                "A: u s",
                {"A": "0.85 · 0.15 / (1 − 0.85²)", "s": "0.85 · a / 2"},
                names={"a": "0.85 · 0.15 / (1 − 0.85²)"},
                note="The walk comes to `A` from `u` or `s`, which have no other links. So a = 0.85 · (score of `u` + score of "
                "`s`). These two scores sum to 0.15 + 0.85 · a.",
            ),
        ],
    ),
    "words": (
        WORDS,
        [
            Example(
                "semantic",
                "Each keyword of one page looks for the most relevant keyword of the other; the score is the mean. A word is "
                "relevant to itself by 1. Two words are relevant half by how often they are on one page, half by how much "
                "one says about the other.",
                "A: u s t v\nu:\ns:\nt:\nv:",
                {
                    "s": "(1 + roast + 1 + tea) / 4",
                    "t": "(roast + 1 + 1 + roast) / 4",
                },
                names={
                    "M": "0.25·ln(0.25 / 0.125) + 0.25·ln(0.25 / 0.375) + 0.5·ln(0.5 / 0.375)",
                    "tea": "0.5 · 1 + 0.5 · M / ln(2)",
                    "roast": "0.5 · 1 + 0.5 · 0",
                },
                texts={
                    "u": "coffee coffee roast roast",
                    "s": "coffee coffee tea tea",
                    "t": "roast roast grill grill",
                    "v": "grill grill bread bread",
                },
                note="*tea* is the relevance of coffee and tea: together on a page, and tea is only where coffee is (M is "
                "their mutual information; that of coffee and grill, ln 2, is the largest). *roast* is the relevance of "
                "coffee and roast: together on a page, but no more often than chance would have it.",
            ),
            Example(
                "link_similarity",
                "Pages are similar if pages that link to them are similar, and pages that they link to. Each linked page looks "
                "for the most similar one on the other side. A page is similar to itself by 1.",
                "A: u s t\nB: u s\nC: u t\nD: s",
                {"t": "(1 + 0 + 1 + 1 + 1) / (3 + 2)", "s": "(1 + 1 + 0 + 1 + 1 + 0) / (3 + 3)"},
                note="These lists have no words, so each is similar only to itself. `t` has fewer parents than `s`, but all of "
                "them are parents of `u`.",
            ),
            Example(
                "integrated",
                "Half `semantic`, half `link_similarity`: the graph of the last example, with texts of the first.",
                "A: u s t\nB: u s\nC: u t\nD: s\nu:\ns:\nt:",
                {"t": "0.5 · 0.75 + 0.5 · 4/5", "s": "0.5 · 0.75 + 0.5 · 2/3"},
                texts={"u": "coffee coffee roast roast", "s": "coffee coffee tea tea", "t": "roast roast grill grill"},
                note="By words, `s` and `t` are level here: 3/4. Links decide.",
            ),
        ],
    ),
    "together": (
        TOGETHER,
        [
            Example(
                "auto",
                "The default. Pages in one section count most, and more in a short section; being next to each other adds a "
                "little, and another section of the same page counts a tenth. What chance would give a page with that many "
                "in-links is subtracted. Similar words, the words of sections, same names and addresses add to that; where "
                "nobody sorted the links, all neighbours are compared instead.",
                "A: u s | t\nB: s u v | t\nC: w x y z i j k |",
                {
                    "s": "√((s_ − 2/14 · all) · 2^0.18)",
                    "v": "(v_ − 1/14 · all) · 1^0.18 / √((s_ − 2/14 · all) · 2^0.18)",
                    "t": "max(0, t_ − 2/14 · all)",
                },
                names={
                    "elsewhere": "0.1 / ln(2 + 3) + 0.1 / ln(2 + 4)",
                    "s_": "1 / ln(2 + 2) + 0.12 / √(1) + 1 / ln(2 + 3) + 0.12 / √(1) + elsewhere",
                    "v_": "1 / ln(2 + 3) + 0.12 / √(1) + 0.1 / ln(2 + 4)",
                    "t_": "elsewhere",
                    "all": "s_ + v_ + t_",
                },
                rows="A B C / s u v t / w x y z i j k",
                note="The graph has 14 links. `t` is on both lists, but never in the section of `u`, and by chance a page with "
                "two in-links would get more than that.",
            ),
            Example(
                "whats_related",
                "After Netscape's *What's Related*: links, words and clicks. Links and words together weigh as much as 20 "
                "clicks. This store has links and clicks only.",
                "A: u s\nB: u s t",
                {"s": "(5 + 20 · S) / (35 + 20)", "t": "(30 + 20 · T) / (35 + 20)"},
                names={
                    "S": "(1 + 1) / (1 + 1 + 2^−0.81)",
                    "T": "2^−0.81 / (1 + 1 + 2^−0.81)",
                },
                clicks="u\ts\t5\nu\tt\t30\n",
                note="By links (S and T, their shares of `proximity`), `s` is far ahead. 30 of 35 readers went to `t`.",
            ),
        ],
    ),
}
"""Pages of the explanation: an introduction, and the methods."""
