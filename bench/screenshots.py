"""Screenshots of every view of the web page, wide and narrow, light and dark.

    python bench/screenshots.py [--only NAME …] [--images docs/images]

Opens the views of the bundled sample web in headless Chromium, and keeps each as a PNG of 128 colours, which is a
quarter of the size and looks the same. `related-light.png` and `related-dark.png` are those of the README.
"""

from __future__ import annotations

import argparse
import io
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import sync_playwright

import cocite
from serve import HOST
from serve import cocite as serving

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SAMPLE = ROOT / "src" / "cocite" / "sample" / "pages"
NAMES = ("chromium", "chromium-browser", "google-chrome")
SIZES = {"": (1280, 860), "phone-": (390, 844)}
COLOURS = 128
ATTEMPTS = 20
PAGE, WORDS, WARM_PAGE = "nytimes.com", "museum", "bmw.com"


class View(NamedTuple):
    """A view: its address, and a script that opens or marks something before the picture is taken."""

    path: str
    given: dict[str, str]
    script: str = ""


VIEWS = {
    "start": View("/", {}),
    "related": View("/", {"url": PAGE}),
    "picture": View("/picture", {"url": PAGE}),
    "compare": View("/compare", {"url": PAGE}),
    "hubs": View("/hubs", {"url": PAGE}),
    "keywords": View("/keywords", {"url": PAGE}),
    "search": View("/search", {"q": WORDS}),
    "communities": View("/communities", {"q": WORDS}),
    "recommend": View("/recommend", {"url": PAGE}),
    "unknown": View("/", {"url": "nytimes.example"}),
}


def main() -> None:
    """Take them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="names of views (default: all)")
    parser.add_argument("--images", type=Path, default=IMAGES)
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        raise SystemExit("no Chromium here (apt-get install chromium)")
    options.images.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "sample.cocite"
        cocite.build([str(SAMPLE)], str(store))
        with serving(store, 1, "--quiet") as (port, _), sync_playwright() as playwright:
            take(playwright, program, f"http://{HOST}:{port}", options.images, options.only or list(VIEWS))


def take(playwright: Any, program: str, base: str, images: Path, names: list[str]) -> None:
    """Take and keep the pictures of some views."""
    browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
    for name, picture in pictures(browser, base, names):
        file = images / f"{name}.png"
        file.write_bytes(packed(picture))
        print(f"{file.stat().st_size:9,}  {file}")
    browser.close()


def pictures(browser: Any, base: str, names: list[str]) -> Iterator[tuple[str, bytes]]:
    """The pictures of some views, by name."""
    for prefix, (width, height) in SIZES.items():
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            page = context.new_page()
            for name in names:
                view = VIEWS[name]
                warm = view.given | ({"url": WARM_PAGE} if "url" in view.given else {})
                for given in (warm, view.given):  # the first time, loops are compiled, which takes a second
                    for _ in range(ATTEMPTS):
                        if page.goto(f"{base}{view.path}?{urlencode(given)}").status < 500:
                            break
                if view.script:
                    page.evaluate(view.script)
                    page.wait_for_timeout(300)  # colours change slowly
                yield f"{prefix}{name}-{scheme}", page.screenshot()
            context.close()


def packed(picture: bytes) -> bytes:
    """A PNG with few colours."""
    out = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
        out, "PNG", optimize=True
    )
    return out.getvalue()


if __name__ == "__main__":
    main()
