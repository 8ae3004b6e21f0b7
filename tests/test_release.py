"""What a release needs: one version everywhere, files of good conduct, and a site without gaps."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from cocite import __version__
from tests import release
from tests.conftest import ROOT, long

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_every_file_has_the_same_version() -> None:
    assert set(release.versions().values()) == {__version__}, release.versions()


def test_the_conda_recipe_has_our_requirements() -> None:
    recipe = yaml.safe_load((ROOT / "deploy" / "conda" / "recipe.yaml").read_text("utf-8"))
    run = {each.replace(" ", "") for each in recipe["requirements"]["run"]}
    ours = {each.partition(";")[0] for each in PROJECT["dependencies"]}
    assert run == {*ours, f"python{PROJECT['requires-python']}"}
    assert (recipe["package"]["name"], recipe["about"]["summary"]) == (PROJECT["name"], PROJECT["description"])


def test_the_citation_has_the_five_papers() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    found = {(each["authors"][0]["family-names"], each["year"]) for each in citation["references"]}
    assert found == {("Dean", 1999), ("Hou", 2002), ("Hou", 2003), ("Chirita", 2004), ("Zhao", 2016)}
    assert citation["license"] == PROJECT["license"]
    assert all(each["title"] and each["type"] for each in citation["references"])


def test_what_is_left_to_do_is_named() -> None:
    assert release.PLACEHOLDER not in str(PROJECT["urls"]) or any(
        "project.urls" in each for each in release.open_points()
    )
    title = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert title is not None
    assert ("unreleased" in title[1]) == any("CHANGELOG" in each for each in release.open_points())


def test_a_base_image_without_a_digest_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
    assert [line for line in text.splitlines() if line.startswith("FROM")] == ["FROM ${BASE} AS build", "FROM ${BASE}"]
    assert bool(release.PINNED.search(text)) != any("base image" in each for each in release.open_points())
    pinned = re.sub(r"^ARG BASE=.*", f"ARG BASE=python:3.13-slim@sha256:{'0' * 64}", text, flags=re.MULTILINE)
    assert release.PINNED.search(pinned)
    assert not release.PINNED.search(pinned.replace("@sha256:0", "@sha256:"))
    monkeypatch.setattr(release, "STEPS", ())
    monkeypatch.setattr(release, "pin_base", lambda _: None)
    monkeypatch.setattr(release, "open_points", lambda: ["deploy/Dockerfile: the base image has no digest"])
    with pytest.raises(SystemExit) as refused:
        release.main()
    assert refused.value.code == 1


def test_a_release_pins_the_base_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what Docker says, if it says anything; all else in the file stays as it is."""
    file, text = tmp_path / "Dockerfile", (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
    image = release.BASE.findall(text)[0]
    docker = tmp_path / "docker"
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def pinned(says: str, text: str) -> str:
        docker.write_text(f"#!/bin/sh\n{says}\n")
        docker.chmod(0o755)
        file.write_text(text)
        release.pin_base(file)
        return file.read_text()

    for number in (1, 2):  # another digest replaces an earlier one
        digest = f"sha256:{str(number) * 64}"
        text = pinned(f'test "$6" = {image} && echo {digest}', text)
        assert f"ARG BASE={image}@{digest}\n" in text and release.PINNED.search(text)
    for says in ("exit 1", "echo no digest", f"echo sha256:{'3' * 64}; exit 1"):
        assert pinned(says, text) == text
    assert pinned("echo sha256:" + "4" * 64, text).splitlines()[4:] == text.splitlines()[4:]


def test_the_base_image_can_be_renewed_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, docker, digest = tmp_path / "Dockerfile", tmp_path / "docker", f"sha256:{'5' * 64}"
    text = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
    assert release.PINNED.search(text), "an image without a digest may be another one tomorrow"
    file.write_text(text)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    docker.write_text("#!/bin/sh\nexit 1\n")
    docker.chmod(0o755)
    with pytest.raises(SystemExit, match="stays as it is"):
        release.renew_base(file)
    assert file.read_text() == text
    docker.write_text(f"#!/bin/sh\necho {digest}\n")
    assert "renewed" in release.renew_base(file)
    assert f"ARG BASE=python:3.13-slim@{digest}\n" in file.read_text()
    assert "the newest" in release.renew_base(file)


def pages_in(nav: object) -> list[str]:
    """All pages of a navigation."""
    if isinstance(nav, str):
        return [nav]
    return [page for each in (nav.values() if isinstance(nav, dict) else nav) for page in pages_in(each)]  # type: ignore[attr-defined]


def test_every_page_is_in_the_navigation_or_in_an_index() -> None:
    sys.path.insert(0, str(ROOT / "docs" / "site_parts"))
    from hooks import BY_INDEX, ELSEWHERE

    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    named, docs = pages_in(settings["nav"]), ROOT / "docs"
    listed = {
        f"{folder}/{link}"
        for folder in BY_INDEX
        for link in re.findall(r"\]\(([\w.-]+\.md)\)", (docs / folder / "README.md").read_text("utf-8"))
    }
    assert len(named) == len(set(named))
    assert {*named, *listed} == {str(page.relative_to(docs)) for page in docs.rglob("*.md")} | set(ELSEWHERE.values())
    assert settings["theme"]["font"] is False and "offline" in settings["plugins"]


@long
def test_the_site_is_built_without_warnings_and_fetches_nothing(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="needs mkdocs-material")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 60
    loading = re.compile(
        r"""<(?:script|img|iframe|source)[^>]+src(?:set)?=["']?(?:https?:)?//|<link[^>]+rel=["']?(?:stylesheet|preconnect|preload)["']?[^>]*href=["']?(?:https?:)?//"""
    )
    for page in pages:
        assert not loading.search(page.read_text("utf-8")), page
    for style in tmp_path.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//", style.read_text("utf-8")), style
    assert (tmp_path / "search" / "search_index.js").exists()
