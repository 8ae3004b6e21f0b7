"""Addresses for property tests: every part plain, unusual or broken, in any mixture."""

from __future__ import annotations

import random

from hypothesis import strategies as st

SCHEMES = [
    "https://",
    "http://",
    "https://",
    "http://",
    "host:",
    "HTTP://",
    "https:/",
    "//",
    "https:\\\\",
    "ftp://",
    "",
]
USERS = ["", "", "", "", "", "ann@", "ann:secret@"]
HOSTS = [
    *["example.org", "www.example.org", "blog.example.co.uk", "a.b.c.d.example.com", "ex-ample.org", "ex_ample.org"],
    *["www.com", "www.www.com", "www.www.example.org", "www.www", "localhost", "name", "Example.ORG", "github.com"],
    *["www.github.com", "gist.github.com", "youtube.com", "reddit.com", "x.com", "twitter.com", "xn--mnchen-3ya.de"],
    *["münchen.de", "a--b.org", "xn--.org", "example.org.", "a..org", ".org", "-a.org", "1.2.3.4", "1.2.3.256", "530"],
    *["0x1.org", "1.org", "org.1", "[::1]", "a,b.org", "a)b.org", "a%41.org", "a" * 63 + ".org", "a" * 64 + ".org"],
    *["a" * 30 + "." + "b" * 40 + ".org", "www." + "a" * 59 + ".org", "", "ｅxample.org", "example.123a", "example.a1"],
]
PORTS = ["", "", "", "", "", ":80", ":443", ":8080", ":", ":0", ":65536", ":080"]
PARTS = [
    *[
        "a",
        "Bc",
        "a-b_c.d~e",
        "2024",
        "index.html",
        "index.htm",
        "Index.html",
        "index.php",
        "Default.aspx",
        "default.htm",
    ],
    *["default.aspx1", "index.shtml", "index.jsp", "INDEX.ASP", "indexes.html", "index.htmlx", ".", "..", "...", ".a"],
    *[
        "%2e",
        "%2E%2e",
        ".%2e",
        "%41",
        "%7E",
        "%7ea",
        "%28x%29",
        "%c3%a9",
        "%C3%A9",
        "%2F",
        "%2f",
        "%3f",
        "%25",
        "%2541",
    ],
    *[
        "%",
        "%4",
        "%zz",
        "%%34%31",
        "%4%31",
        "%e",
        "é",
        "日本",
        "a b",
        "a'b",
        "a%27b",
        "a[b]",
        "a|b",
        "a^b",
        "a`b",
        "{a}",
    ],
    *["a;b", "a;jsessionid=1;c", ";%6Asessionid=1", "(S(lit3py55t21z5v55vlm25s55))", "a:b@c", "a$&+,=!*()", "a\\b", ""],
    *["<a>", '"', "Alice", "r", "R", "user", "c", "project", "~ann", "@ann", "a\tb", "\x01", "\x7f", "\ud800", "%00"],
    *["inde%78.html", "index%2ehtml", "%69ndex.html", "x" * 20 + ".html", "INDEX.html", "index.aspx"],
]
NAMES = [
    *["a", "id", "q", "a[]", "utm_source", "UTM_x", "utm%5Fsource", "%75tm_a", "gclid", "amp;b", "amp;utm_a", "key"],
    *["PHPSESSID", "sessionid", "token", "auth", "author", "cfid", "cftoken", "sig", "sv", "se", "st", "password"],
    *["X-Amz-Signature", "x-am", "signature", "expires", "awsaccesskeyid", "", "é", "a'b", "page", "utm_", "utm"],
]
VALUES = [
    *[
        "1",
        "secret",
        "a b",
        "a+b",
        "%41",
        "%2f",
        "%2F",
        "%zz",
        "%",
        "é",
        "[x]",
        "a'b",
        "a=b",
        "a/b?c",
        "",
        "a;b",
        "x|y",
    ],
    *[
        "0123456789abcdef0123456789abcdef",
        "0x0123456789abcdef0123456789abcdef",
        "%28",
        "%%34%31",
        "A",
        "\x1f",
        "\ud800",
    ],
]
FRAGMENTS = [
    "",
    "",
    "",
    "#",
    "#a",
    "#!",
    "#!/a/b",
    "#!a?b=1&utm_source=2",
    "#a b",
    "#\t!a",
    "#é",
    "#a#!b",
    "#!a#b",
    "#/a",
]


@st.composite
def addresses(draw: st.DrawFn) -> str:
    """Mostly addresses of pages, of every kind; some are none."""
    if draw(st.integers(0, 19)) == 0:
        head = draw(st.sampled_from(["name:", "mailto:", "host:", "javascript:", "https://", " "]))
        return head + draw(st.text(max_size=12))
    return join(draw(st.randoms(use_true_random=False)))


def join(choose: random.Random) -> str:
    """One address, its parts chosen at random."""
    text = "".join(choose.choice(parts) for parts in (SCHEMES, USERS, HOSTS, PORTS))
    for _ in range(choose.randrange(5)):
        text += "/" + choose.choice(PARTS)
    text += choose.choice(["", "", "/", "/", "//"])
    parameters = [
        choose.choice(NAMES) + choose.choice(["", "=" + choose.choice(VALUES), "=" + choose.choice(VALUES)])
        for _ in range(max(0, choose.randrange(-3, 4)))
    ]
    if parameters or choose.randrange(9) == 0:
        text += "?" + choose.choice(["&", "&", "&", "&&", ";"]).join(parameters)
    return text + choose.choice(FRAGMENTS) + choose.choice(["", "", "", "", "", " ", "&", "\n"])


def sample(count: int, seed: int) -> list[str]:
    """Many addresses, faster than Hypothesis draws them."""
    choose = random.Random(seed)
    return [join(choose) for _ in range(count)]
