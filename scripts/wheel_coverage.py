"""Which required packages have no wheel for one of the platforms that hallumeter promises.

    python scripts/wheel_coverage.py [--python 3.11 ...] [package ...]

The list of files of each package is read once from the index that pip is set to; nothing is installed. Asked is whether
the newest release for a Python has a wheel. Without an index that answers, one line says so and the exit code is 3; a
gap that is not known is 1.
"""

from __future__ import annotations

import argparse
import html
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import urlopen

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
_MACS = ("14_0", "13_0", "12_0", "11_0")
_INTEL_MACS = (*_MACS, "10_15", "10_14", "10_13", "10_12", "10_9")
PLATFORMS = {
    "Linux x86-64": ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "Linux arm64": (
        *("manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_17_aarch64"),
        "manylinux2014_aarch64",
    ),
    "Alpine x86-64": ("musllinux_1_2_x86_64", "musllinux_1_1_x86_64"),
    "Alpine arm64": ("musllinux_1_2_aarch64", "musllinux_1_1_aarch64"),
    "macOS arm64": tuple(f"macosx_{each}_{kind}" for each in _MACS for kind in ("arm64", "universal2")),
    "macOS x86-64": tuple(f"macosx_{each}_{kind}" for each in _INTEL_MACS for kind in ("x86_64", "universal2")),
    "Windows x86-64": ("win_amd64",),
    "Windows arm64": ("win_arm64",),
}
# What is known to be missing, and why it is let pass.
_FROM_SOURCE = {
    "google-re2": ("Alpine x86-64", "Alpine arm64"),
}
KNOWN = {
    (
        "pyyaml",
        "Windows arm64",
        "3.11",
    ): "its source needs no compiler: the loader is then pure Python, as ours always is",
    **{
        (name, platform, python): f"{name} is built from source there"
        for name, platforms in _FROM_SOURCE.items()
        for platform in platforms
        for python in PYTHONS
    },
}
_LINK = re.compile(r"<a\s([^>]*)>([^<]+)</a>")
_NEEDED = re.compile(r'data-requires-python="([^"]*)"')
_SECONDS = 20


class File(NamedTuple):
    """A file of a package on the index."""

    version: Version
    pythons: SpecifierSet
    tags: frozenset[Tag]
    """Of a source none."""


def main() -> int:
    """Print the gaps; 1 when one is not known."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("packages", nargs="*")
    parser.add_argument("--python", nargs="*", default=list(PYTHONS))
    options = parser.parse_args()
    packages = options.packages or required()
    try:
        index = index_address()
        files = {name: files_of(name, index) for name in packages}
    except (URLError, TimeoutError):
        print("wheel coverage: no package index can be reached; nothing was checked")
        return 3
    asked = [(name, platform, python) for name in packages for platform in PLATFORMS for python in options.python]
    gaps = [
        (name, platform, python) for name, platform, python in asked if not has_wheel(files[name], platform, python)
    ]
    for gap in gaps:
        print(f"{gap[0]}: no wheel for {gap[1]}, Python {gap[2]}" + (f" ({KNOWN[gap]})" if gap in KNOWN else ""))
    print(f"{len(packages)} packages, {len(PLATFORMS)} platforms, {len(options.python)} versions of Python: ", end="")
    print(f"{len(gaps)} without a wheel, {sum(gap not in KNOWN for gap in gaps)} of them unexpected")
    return int(any(gap not in KNOWN for gap in gaps))


def required() -> list[str]:
    """The names of the packages that every installation needs, with those that they bring."""
    project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]
    names: list[str] = []
    asked = [Requirement(each) for each in project["dependencies"]]
    while asked:
        each = asked.pop(0)
        if each.name.lower() not in names and (each.marker is None or each.marker.evaluate({"extra": ""})):
            names.append(each.name.lower())
            asked += [Requirement(needed) for needed in metadata.requires(each.name) or []]
    return names


def index_address() -> str:
    """Where pip looks for packages."""
    command = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    return os.environ.get("PIP_INDEX_URL") or done.stdout.strip() or "https://pypi.org/simple"


def files_of(name: str, index: str) -> list[File]:
    """All files of a package, as its page on the index lists them."""
    with urlopen(f"{index.rstrip('/')}/{name}/", timeout=_SECONDS) as page:
        text = page.read().decode()
    files = (file_of(match.group(2).strip(), match.group(1)) for match in _LINK.finditer(text))
    return [each for each in files if each is not None]


def file_of(name: str, attributes: str) -> File | None:
    """A file as its link describes it; None for what pip would not install."""
    if "data-yanked" in attributes:
        return None
    needed = _NEEDED.search(attributes)
    pythons = SpecifierSet(html.unescape(needed.group(1)) if needed else "")
    try:
        if name.endswith(".whl"):
            _, version, _, tags = parse_wheel_filename(name)
        else:
            (_, version), tags = parse_sdist_filename(name), frozenset()
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None
    return None if version.is_prerelease else File(version, pythons, tags)


def has_wheel(files: list[File], platform: str, python: str) -> bool:
    """Whether the newest release for a Python has a wheel for it on a platform."""
    fitting = [each for each in files if each.pythons.contains(f"{python}.0")]
    newest = max((each.version for each in fitting), default=None)
    major, minor = map(int, python.split("."))
    machine = PLATFORMS[platform]
    known = {*cpython_tags((major, minor), platforms=machine), *compatible_tags((major, minor), platforms=machine)}
    return any(each.version == newest and not known.isdisjoint(each.tags) for each in fitting)


if __name__ == "__main__":
    sys.exit(main())
