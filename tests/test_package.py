"""Wheel and sdist: built, installed in an environment that has nothing else, and used there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cocite import __version__
from tests.conftest import ROOT, long

UV = Path(sys.executable).with_name("uv")


def uv(*arguments: str | Path) -> None:
    """Run uv; skip the test if the package index can't be reached."""
    done = subprocess.run([UV, *arguments], capture_output=True, text=True, timeout=240, cwd=ROOT)
    if done.returncode and any(why in done.stderr for why in ("Failed to fetch", "error sending request", "dns error")):
        pytest.skip(f"no package index: {done.stderr.strip().splitlines()[-1][:200]}")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def built() -> Iterator[Path]:
    """A folder with both. The wheel is built from the sdist, so that has all that is needed."""
    if not UV.exists():
        pytest.skip("uv is not installed")
    with tempfile.TemporaryDirectory() as folder:
        uv("build", "-q", "--out-dir", folder, ROOT)
        yield Path(folder)


def test_wheel_and_sdist_have_the_expected_files(built: Path) -> None:
    wheel, sdist = built / f"cocite-{__version__}-py3-none-any.whl", built / f"cocite-{__version__}.tar.gz"
    names = zipfile.ZipFile(wheel).namelist()
    for needed in (
        "cocite/pages/platforms.toml",
        "cocite/http/page/static/cocite.css",
        "cocite/http/page/templates/related.html",
        "cocite/py.typed",
    ):
        assert needed in names
    assert any(name.startswith("cocite/sample/pages/") for name in names)
    about = f"cocite-{__version__}"
    assert {name.partition("/")[0] for name in names} == {"cocite", f"{about}.dist-info", f"{about}.data"}
    assert [name for name in names if name.startswith(f"{about}.data")] == [
        f"{about}.data/data/share/man/man1/cocite.1"
    ]
    assert not [name for name in names if name.endswith((".nbi", ".nbc", ".pyc"))]
    with tarfile.open(sdist) as packed:
        inside = {name.partition("/")[2] for name in packed.getnames()}
    assert {"extension/manifest.json", "deploy/Dockerfile", "docs/deploy.md", "tests/conftest.py", "Makefile"} <= inside
    assert not [name for name in inside if "/data/" in name and name.startswith("bench")]
    assert wheel.stat().st_size < 3e6 and sdist.stat().st_size < 6e6


@long
def test_a_fresh_environment(built: Path) -> None:
    """The wheel and what it asks for, nothing else: the version, and the demo, which builds, compiles and answers."""
    env = built / "env"
    uv("venv", "-q", "--python", sys.executable, env)
    uv("pip", "install", "-q", "--python", env / "bin" / "python", next(built.glob("*.whl")))
    clean = {"PATH": os.environ["PATH"], "HOME": str(built), "PYTHONNOUSERSITE": "1"}

    def cocite(*arguments: str | Path) -> str:
        done = subprocess.run(
            [env / "bin" / "cocite", *arguments], capture_output=True, text=True, timeout=280, cwd=built, env=clean
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert cocite("--version") == f"cocite {__version__}\n"
    shown = cocite("demo", "nytimes.com", "-o", "sample.cocite")
    assert "The Washington Post" in shown
    assert "www.washingtonpost.com" in cocite("related", "nytimes.com", "-i", "sample.cocite", "--json")
    lacking = subprocess.run(
        [env / "bin" / "cocite", "mcp", "-i", "sample.cocite"], capture_output=True, text=True, cwd=built, env=clean
    )
    assert lacking.returncode == 2 and "pip install 'cocite[mcp]'" in lacking.stderr


def test_every_development_version_is_locked_with_hashes() -> None:
    """pip then refuses a file that isn't the one that was locked."""
    lock = (ROOT / "requirements-dev.lock").read_text("utf-8")
    pins = re.findall(
        r"^[a-zA-Z0-9_.\[\]-]+==[^\s;]+(.*(?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?)*)", lock, re.MULTILINE
    )
    assert len(pins) > 100
    assert all("--hash=sha256:" in pin for pin in pins)
    assert "://" not in lock
    assert "--generate-hashes" in (ROOT / "Makefile").read_text("utf-8")


@long
def test_the_wheel_is_reproducible(tmp_path: Path) -> None:
    """Built here, and from files with other times in another folder, every byte is the same."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("needs a git checkout")
    for name in listed.stdout.strip("\0").split("\0"):
        if (ROOT / name).is_file():
            (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / "copy" / name)  # with the time of now
    made = []
    for source in (ROOT, tmp_path / "copy"):
        uv("build", "-q", "--wheel", "--out-dir", tmp_path / f"of-{source.name}", source)
        made += [file.read_bytes() for file in (tmp_path / f"of-{source.name}").glob("*.whl")]
    assert len(made) == 2
    assert made[0] == made[1]


@long
def test_no_locked_version_has_a_known_vulnerability() -> None:
    pytest.importorskip("pip_audit", reason="needs pip-audit, which `make trials` installs")
    command = [sys.executable, "-m", "pip_audit", "-r", "requirements-dev.lock", "--disable-pip", "--require-hashes"]
    command += ["--format", "json", "--progress-spinner", "off"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except ValueError:
        pytest.skip(f"no data about vulnerabilities: {done.stderr.strip()[-200:]}")
    audited = [each for each in found if "skip_reason" not in each]
    if not audited:
        pytest.skip(f"no data about vulnerabilities: {found[0]['skip_reason']}")
    assert len(audited) > 0.9 * len(found), [each["name"] for each in found if "skip_reason" in each]
    known = {each["name"]: [one["id"] for one in each["vulns"]] for each in audited if each["vulns"]}
    assert not known, "choose other versions with `make lock`"
