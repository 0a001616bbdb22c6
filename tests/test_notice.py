"""NOTICE says where every list of words, every table and every rule of the package comes from."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "hallumeter"
FOLDERS = frozenset({"lexicons", "words", "config", "tables", "resources"})
"""Where instruments keep lexicons and rules."""
HEADING = "Lexicons, rules and tables (src/hallumeter)\n"


def files() -> set[str]:
    """Every lexicon and rule file of the package."""
    found = [
        path.relative_to(PACKAGE) for path in PACKAGE.rglob("*") if path.suffix in {".toml", ".tsv", ".yaml", ".json"}
    ]
    return {path.as_posix() for path in found if FOLDERS & set(path.parts) or "cues" in path.name}


def origins() -> dict[str, str]:
    """What NOTICE says of each file, or of files of one name in all languages."""
    section = (ROOT / "NOTICE").read_text(encoding="utf-8").split(HEADING)[1].split("\n\n\n")[0]
    found: dict[str, str] = {}
    for paragraph in section.split("\n\n")[2:]:
        lines = paragraph.strip("\n").split("\n")
        names = [name for line in lines if not line.startswith(" ") for name in line.split(", ")]
        said = " ".join(line.strip() for line in lines if line.startswith(" "))
        found.update(dict.fromkeys(names, said))
    return found


def test_the_origin_of_every_lexicon_and_rule_file_is_told() -> None:
    told = origins()
    assert {name for name in files() if not any(fnmatchcase(name, pattern) for pattern in told)} == set()
    assert all(said.endswith(".") for said in told.values())


def test_no_origin_is_told_of_a_file_that_is_not_there() -> None:
    there = files()
    assert [pattern for pattern in origins() if not any(fnmatchcase(name, pattern) for name in there)] == []
    assert len(there) > 50
