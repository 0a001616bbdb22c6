"""List what is installed: versions, licences and, where an advisory database can be reached, advisories.

python scripts/audit_dependencies.py            the table, then what pip-audit says
python scripts/audit_dependencies.py --sbom F   write the bill of materials of an installed hallumeter (CycloneDX)
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Print the table, or write the bill."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--sbom", type=Path, metavar="FILE")
    options = parser.parse_args()
    packages = required_packages()
    if options.sbom is not None:
        options.sbom.write_text(json.dumps(bill_of(packages), indent=2) + "\n", encoding="utf-8")
        return 0
    width = max(len(each.name) for each in packages)
    for each in packages:
        print(f"{each.name:{width}}  {each.version:12}  {licence_of(each)}")
    return advisories([f"{each.name}=={each.version}" for each in packages])


def required_packages() -> list[metadata.Distribution]:
    """What hallumeter requires, with what that requires, as installed here; in the order of their names."""
    project = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]
    waiting, found = list(project["dependencies"]), {}
    while waiting:
        requirement = Requirement(waiting.pop())
        name = _plain(requirement.name)
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        found[name] = metadata.distribution(name)
        waiting += found[name].requires or []
    return [found[name] for name in sorted(found)]


def licence_of(package: metadata.Distribution) -> str:
    """The licence as the package states it, in a few words."""
    stated = package.metadata["License-Expression"] or package.metadata["License"] or ""
    classifiers = [
        line.rpartition(" :: ")[2] for line in package.metadata.get_all("Classifier") or [] if "License" in line
    ]
    short = stated if stated and "\n" not in stated and len(stated) < 60 else ", ".join(classifiers)
    return short or "not stated"


def advisories(pinned: list[str]) -> int:
    """Ask pip-audit; 1 when it knows of a hole."""
    command = [
        *(sys.executable, "-m", "pip_audit", "--progress-spinner=off", "--disable-pip", "--no-deps"),
        *("--format=json", "-r", "/dev/stdin"),
    ]
    try:
        done = subprocess.run(
            command, input="\n".join(pinned), capture_output=True, encoding="utf-8", timeout=120, check=False
        )
        answered = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        print("advisories: pip-audit is not installed or reaches no database; not checked")
        return 0
    return told(answered)


def told(answered: list[dict[str, Any]]) -> int:
    """Print what pip-audit answered for each package; one that the database does not know was not checked."""
    checked = [each for each in answered if "skip_reason" not in each]
    holes = [(each["name"], each["version"], hole) for each in checked for hole in each["vulns"]]
    for name, version, hole in holes:
        print(f"{name} {version}: {hole['id']}, mended in {', '.join(hole['fix_versions']) or 'no version yet'}")
    if not checked:
        print("advisories: the database knows none of the packages; not checked")
        return 0
    print(f"advisories: {len(holes)} for the {len(checked)} of {len(answered)} packages that the database knows")
    return int(bool(holes))


def bill_of(packages: list[metadata.Distribution]) -> dict[str, object]:
    """The wheel and what it requires, as CycloneDX 1.6; no time and no serial number, so that it repeats."""
    project = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = f"pkg:pypi/{project['name']}@{project['version']}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": project["name"],
                "version": project["version"],
                "purl": own,
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": [_component(each) for each in packages],
        "dependencies": [
            {"ref": own, "dependsOn": _needed(project["dependencies"], packages)},
            *({"ref": _reference(each), "dependsOn": _needed(each.requires or [], packages)} for each in packages),
        ],
    }


def _needed(requirements: list[str], packages: list[metadata.Distribution]) -> list[str]:
    """References of the packages that these requirements are for, here."""
    wanted = map(Requirement, requirements)
    names = {_plain(each.name) for each in wanted if not each.marker or each.marker.evaluate({"extra": ""})}
    return [_reference(each) for each in packages if _plain(each.name) in names]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _component(package: metadata.Distribution) -> dict[str, object]:
    return {
        "type": "library",
        "bom-ref": _reference(package),
        "name": package.name,
        "version": package.version,
        "purl": _reference(package),
        "licenses": [{"license": {"name": licence_of(package)}}],
    }


def _reference(package: metadata.Distribution) -> str:
    return f"pkg:pypi/{_plain(package.name)}@{package.version}"


if __name__ == "__main__":
    sys.exit(main())
