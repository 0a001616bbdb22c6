"""What the package index is told: README with links that lead somewhere, and addresses where they are known.

The index shows README alone, so that a link to a file beside it leads nowhere there. `repository` in pyproject.toml is
the one place that says where the project lives: with it such links become addresses of that version; without it they
become plain words, pictures are left out, and no address is named.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_CODE = re.compile(r"(^```.*?^```[^\S\n]*$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|mailto:|#)([^)\s]+)\)")


def described(readme: str, repository: str, version: str) -> str:
    """README as the index gets it; code stays as it is."""

    def replaced(link: re.Match[str]) -> str:
        mark, words, target = link.groups()
        if repository:
            return f"{mark}[{words}]({repository}/{'raw' if mark else 'blob'}/v{version}/{target})"
        return "" if mark else words

    # Every second part is code.
    parts = [part if place % 2 else _LINK.sub(replaced, part) for place, part in enumerate(_CODE.split(readme))]
    return re.sub(r"\n{3,}", "\n\n", "".join(parts))


class PackageIndexHook(MetadataHookInterface):
    """Fills `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling for every build."""
        repository, version = self.config["repository"].rstrip("/"), metadata["version"]
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": described(text, repository, version)}
        pages = {"Repository": "", "Changelog": f"/blob/v{version}/CHANGELOG.md", "Documentation": "/tree/main/docs"}
        metadata["urls"] = {name: f"{repository}{page}" for name, page in pages.items()} if repository else {}
