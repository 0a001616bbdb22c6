"""Check that what would be published can be: built twice alike, complete, described, installable where Python is.

python scripts/release_check.py              everything, with every Python from 3.11 to 3.14 that is here
python scripts/release_check.py --quick      without the installations
"""

from __future__ import annotations

import argparse
import email
import email.message
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import readme_renderer.markdown
from trove_classifiers import classifiers

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
LARGEST_WHEEL = 30_000_000
EPOCH = "1700000000"
"""The time that all files of both builds get; any will do."""
NEEDED = ("hallumeter/py.typed", "hallumeter/claims/judges/embedded/model/encoder.onnx", "hallumeter/samples/README.md")


class ReleaseError(Exception):
    """Something that must not be published so."""


def main() -> int:
    """Print what was checked; exit code 1 when something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="leave the installations out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        steps: list[tuple[str, Callable[[], str]]] = [
            ("two builds are equal", lambda: equal_builds(place)),
            ("the wheel from the source archive is the same", lambda: wheel_of_sdist(place)),
            ("the wheel holds what it needs and no more", lambda: contents(wheel_in(place / "first"))),
            ("the description is whole", lambda: description(wheel_in(place / "first"))),
            ("README is shown as the package index would", lambda: rendered(place / "first")),
            ("versions agree", versions),
            ("links between pages lead somewhere", links),
        ]
        if not options.quick:
            steps += [
                (f"Python {number}, {extras or 'no extras'}", partial(installed, python, extras, place))
                for number, python in found_pythons()
                for extras in ("", "[all]")
            ]
        return report(steps)


def report(steps: list[tuple[str, Callable[[], str]]]) -> int:
    """Do every step and say how it ended; the others are done although one fails."""
    failed = 0
    for title, step in steps:
        try:
            print(f"ok      {title}: {step()}", flush=True)
        except (ReleaseError, subprocess.CalledProcessError) as error:
            failed += 1
            output = getattr(error, "stderr", None) or ""
            print(f"FAILED  {title}: {error}\n{output[-2000:]}".rstrip(), flush=True)
    print(f"{len(steps) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _run(*words: str, cwd: Path | None = None, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    ended = subprocess.run(
        words, cwd=cwd, env={**environment, **variables}, capture_output=True, encoding="utf-8", check=True
    )
    return ended.stdout


def equal_builds(place: Path) -> str:
    """Build from two copies of the tracked files, at two places."""
    digests = []
    for name in ("first", "second"):
        source = place / f"source-{name}"
        source.mkdir()
        for tracked in _run("git", "ls-files", "-z", cwd=ROOT).split("\0"):
            if tracked and (ROOT / tracked).is_file():
                (source / tracked).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / tracked, source / tracked)
        _run(sys.executable, "-m", "build", "--outdir", str(place / name), str(source), SOURCE_DATE_EPOCH=EPOCH)
        files = sorted((place / name).iterdir())
        digests.append({file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files})
    if digests[0] != digests[1]:
        raise ReleaseError(f"{digests[0]} and {digests[1]}")
    return ", ".join(digests[0])


def wheel_in(folder: Path) -> Path:
    """The only wheel of a folder."""
    return next(folder.glob("*.whl"))


def wheel_of_sdist(place: Path) -> str:
    """Unpack the source archive and build a wheel from it alone."""
    archive = next((place / "first").glob("*.tar.gz"))
    with tarfile.open(archive) as opened:
        opened.extractall(place / "unpacked", filter="data")
    [source] = (place / "unpacked").iterdir()
    out = place / "from-sdist"
    _run(sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(source), SOURCE_DATE_EPOCH=EPOCH)
    names = [_members(wheel) for wheel in (wheel_in(place / "first"), wheel_in(out))]
    if names[0] != names[1]:
        raise ReleaseError(f"different files: {sorted(set(names[0].items()) ^ set(names[1].items()))[:5]}")
    return f"{len(names[0])} files"


def _members(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as opened:
        return {member.filename: member.CRC for member in opened.infolist()}


def contents(wheel: Path) -> str:
    """Size, the files that it cannot do without, and nothing beside the package."""
    size, names = wheel.stat().st_size, list(_members(wheel))
    if size > LARGEST_WHEEL:
        raise ReleaseError(f"{size / 1e6:.1f} MB, more than {LARGEST_WHEEL / 1e6:.0f}")
    missing = [name for name in NEEDED if name not in names]
    licences = [name for name in ("LICENSE", "NOTICE") if not any(each.endswith(f"licenses/{name}") for each in names)]
    strays = [name for name in names if not re.match(r"hallumeter(-[^/]+\.dist-info)?/", name)]
    compiled = [name for name in names if name.endswith((".pyc", ".pyo"))]
    if missing or licences or strays or compiled:
        raise ReleaseError(f"missing {missing + licences}, beside the package {strays}, compiled {compiled}")
    return f"{size / 1e6:.1f} MB, {len(names)} files"


def _metadata(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as opened:
        name = next(each for each in opened.namelist() if each.endswith(".dist-info/METADATA"))
        return email.message_from_string(opened.read(name).decode())


def description(wheel: Path) -> str:
    """Name, version, licence, classifiers that exist, no address that was made up."""
    found = _metadata(wheel)
    unknown = [each for each in found.get_all("Classifier", []) if each not in classifiers]
    if unknown:
        raise ReleaseError(f"no such classifiers: {unknown}")
    hooks = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["metadata"]["hooks"]
    repository, urls = hooks["custom"]["repository"], found.get_all("Project-URL", [])
    if any(not repository or repository not in url for url in urls):
        raise ReleaseError(f"addresses that the repository setting does not give: {urls}")
    for field in ("Summary", "License-Expression", "Requires-Python", "Description-Content-Type", "Keywords"):
        if not found.get(field):
            raise ReleaseError(f"{field} is missing")
    return f"{found['Name']} {found['Version']}, {found['License-Expression']}"


def rendered(folder: Path) -> str:
    """What twine says of both files, and the page that the index will show: every link on it leads somewhere.

    twine itself takes any Markdown for good.
    """
    _run(sys.executable, "-m", "twine", "check", "--strict", *(str(file) for file in sorted(folder.iterdir())))
    page = readme_renderer.markdown.render(str(_metadata(wheel_in(folder)).get_payload()))
    if not page:
        raise ReleaseError("the description renders to nothing")
    lost = [place for place in re.findall(r'(?:href|src)="([^"]*)"', page) if not place.startswith(("https://", "#"))]
    if lost:
        raise ReleaseError(f"these links lead nowhere on the index: {lost[:5]}")
    return f"{page.count('<h2')} sections, {page.count('<a ')} links"


def versions() -> str:
    """The same version in pyproject.toml, CITATION.cff and the conda recipe, and at the top of the changelog."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    places = {
        "CITATION.cff": rf"^version: {re.escape(version)}$",
        "conda/recipe.yaml": rf'^  version: "{re.escape(version)}"$',
        "CHANGELOG.md": rf"^## (\[?{re.escape(version)}\]?\b|Unreleased)",
    }
    for name, pattern in places.items():
        if not re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE):
            raise ReleaseError(f"{name} does not name version {version}")
    return version


_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")


def links() -> str:
    """Every relative link of the README and of the documentation names a file."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted(ROOT.glob("docs/**/*.md"))]
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in _LINK.findall(_without_code(page.read_text(encoding="utf-8")))
        if not (page.parent / target).exists() and not target.startswith("gallery/")  # made when the site is built
    ]
    if broken:
        raise ReleaseError("; ".join(broken))
    return f"{len(pages)} pages"


def _without_code(text: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def found_pythons() -> Iterator[tuple[str, str]]:
    """Every version that runs here; a name on the path may belong to one that is not installed."""
    for number in PYTHONS:
        try:
            yield number, _run(f"python{number}", "-c", "import sys, venv, ensurepip; print(sys.executable)").strip()
        except (OSError, subprocess.CalledProcessError):
            print(f"skipped Python {number}: it is not here", flush=True)


def installed(python: str, extras: str, place: Path) -> str:
    """The wheel in an environment of its own: a check finds what is wrong, and the demo runs."""
    folder = Path(tempfile.mkdtemp(dir=place))
    _run(python, "-m", "venv", str(folder / "venv"))
    program = folder / "venv" / "bin"
    wheel = wheel_in(place / "first")
    _run(str(program / "python"), "-m", "pip", "install", "--quiet", f"{wheel}{extras}")
    _run(str(program / "python"), "-m", "pip", "check")
    words = ["check", "--evidence-text", "It is 330 m.", "It is 999 m.", "--format", "json"]
    ended = subprocess.run([str(program / "hallumeter"), *words], capture_output=True, cwd=folder, check=False)
    if ended.returncode != 1:
        raise ReleaseError(f"hallumeter check ended with {ended.returncode}: {ended.stderr.decode()}")
    _run(str(program / "hallumeter"), "demo", cwd=folder)
    shutil.rmtree(folder)
    return "check and demo run"


if __name__ == "__main__":
    sys.exit(main())
