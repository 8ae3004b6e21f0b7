"""Build a release, check it, install it in a fresh environment and use it there: `python -m tests.release`.

docs/release.md has the whole checklist; this does what a machine can do. `python -m tests.release base` does one step
of it alone: it renews the digest of the base image.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

from cocite import __version__

ROOT = Path(__file__).parents[1]
PLACEHOLDER = ".example/"
BASE, PINNED = (re.compile(rf"^ARG BASE=([^\s@]+){rest}$", re.MULTILINE) for rest in (r"\S*", "@sha256:[0-9a-f]{64}"))
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
FIND_DIGEST = ("docker", "buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}")
DIGEST_SECONDS = 60
STEPS = (
    [sys.executable, "docs/reference.py", "docs"],
    [sys.executable, "-m", "docs.explanation.worked"],
    ["git", "diff", "--exit-code", "--stat", "--", "docs"],
    [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"],
    [sys.executable, "extension/pack.py", "dist"],
    [Path(sys.executable).with_name("uv"), "build", "--quiet", "--out-dir", "dist", "."],
    [sys.executable, "deploy/sbom.py", "dist"],
    [sys.executable, "-m", "pytest", "-q", "tests/test_package.py", "tests/test_release.py"],
)
"""Generated pages are current; the site, the extension, wheel and sdist; a fresh installation that answers."""


def versions(root: Path = ROOT) -> dict[str, str]:
    """The version in every file that has it."""
    patterns = {
        "src/cocite/__init__.py": r'^__version__ = "(.+)"',
        "CITATION.cff": r"^version: (.+)",
        "deploy/conda/recipe.yaml": r'^  version: "(.+)"',
        "deploy/Dockerfile": r'image\.version="(.+?)"',
    }
    found = {}
    for file, pattern in patterns.items():
        match = re.search(pattern, (root / file).read_text("utf-8"), re.MULTILINE)
        found[file] = match[1] if match else ""
    return found


def digest_of(image: str) -> str:
    """The digest of an image now, by its name; empty if it can't be found out here."""
    try:
        said = subprocess.run([*FIND_DIGEST, image], capture_output=True, text=True, timeout=DIGEST_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = said.stdout.strip()
    return found if said.returncode == 0 and DIGEST.fullmatch(found) else ""


def pin_base(dockerfile: Path, digest_of: Callable[[str], str] = digest_of) -> None:
    """Write the digest of today's base image into a Dockerfile; one of earlier stays if that can't be found out."""
    text = dockerfile.read_text("utf-8")
    named = BASE.search(text)
    if named and (digest := digest_of(named[1])):
        line = f"ARG BASE={named[1]}@{digest}"
        dockerfile.write_text(f"{text[: named.start()]}{line}{text[named.end() :]}", "utf-8")


def renew_base(dockerfile: Path = ROOT / "deploy" / "Dockerfile") -> str:
    """Write the digest of today's base image into a Dockerfile, or fail; returns what changed."""
    named = BASE.search(before := dockerfile.read_text("utf-8"))
    if not named or not (digest := digest_of(named[1])):
        raise SystemExit(
            f"No digest of the base image, so {dockerfile.name} stays as it is: Docker has no network here"
        )
    pin_base(dockerfile, lambda _: digest)
    changed = dockerfile.read_text("utf-8") != before
    return f"{named[1]}@{digest}: " + ("renewed; write into the comment from when it is" if changed else "the newest")


def open_points() -> list[str]:
    """What a person has to do before this version can be published."""
    first = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    title = first[1] if first else ""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"].get("urls", {})
    found = []
    if title.split(" ")[0] != __version__ or "unreleased" in title:
        found.append(f"CHANGELOG.md begins with {title!r}: give it the version {__version__} and a date")
    if not PINNED.search((ROOT / "deploy" / "Dockerfile").read_text("utf-8")):
        found.append("deploy/Dockerfile: the base image has no digest; run this where Docker has a network")
    if any(PLACEHOLDER in url for url in urls.values()):
        found.append("pyproject.toml: project.urls are placeholders; put the project's real addresses there")
    if subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True).stdout:
        found.append("there are uncommitted changes")
    return found


def main() -> None:
    """Run all steps; stop at the first that fails. A release with open points is refused."""
    if sys.argv[1:] == ["base"]:
        return print(renew_base())
    for step in STEPS:
        print(*step, flush=True)
        environment = os.environ | {"COCITE_LONG": "1", "NO_MKDOCS_2_WARNING": "1"}
        if code := subprocess.run(step, cwd=ROOT, env=environment).returncode:
            raise SystemExit(code)
    print(*sorted(f"dist/{file.name}" for file in (ROOT / "dist").glob(f"cocite-*{__version__}*")), sep="\n")
    pin_base(ROOT / "deploy" / "Dockerfile")
    if left := open_points():
        print("Before you publish:", *(f"- {each}" for each in left), sep="\n")
        raise SystemExit(1)


if __name__ == "__main__":
    main()
