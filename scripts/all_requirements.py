"""Print every requirement of hallumeter with the extras of `all` and the groups that contributors install."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

GROUPS = ("test", "cluster", "check", "docs")


def requirements() -> list[str]:
    """The requirements, those of training left out: it takes PyTorch from where the machine keeps its wheels."""
    content = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8"))
    project, extras = content["project"], content["project"]["optional-dependencies"]
    found = [*project["dependencies"], *(each for group in GROUPS for each in content["dependency-groups"][group])]
    named = [name for each in [*found, *extras["all"]] for name in _extras_of(each)]
    named += [name for extra in named for each in extras[extra] for name in _extras_of(each)]
    found += [each for extra in named for each in extras[extra]]
    return sorted({each for each in found if not each.startswith("hallumeter[")})


def _extras_of(requirement: str) -> list[str]:
    own = re.fullmatch(r"hallumeter\[([\w,-]+)\]", requirement)
    return own.group(1).split(",") if own else []


if __name__ == "__main__":
    sys.stdout.write("\n".join(requirements()) + "\n")
