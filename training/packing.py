"""Put the parts of the model into the package: files, their digests, and how the tiers decide."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from hallumeter.claims.judges.embedded.model_files import FOLDER, LIST, Model, Tier

VERSION = 3


def pack(tiers: dict[str, Tier], folder: Path = FOLDER) -> Model:
    """Write the list of the files in a folder, with how the tiers decide."""
    names = sorted(path.name for path in folder.iterdir() if path.name != LIST)
    files = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    model = Model(version=VERSION, files=files, tiers=tiers)
    (folder / LIST).write_bytes(msgspec.json.format(msgspec.json.encode(model), indent=2) + b"\n")
    return model


def copied(folder: Path, to: Path) -> Path:
    """A folder with the same files, by links."""
    to.mkdir(exist_ok=True)
    for path in folder.iterdir():
        link = to / path.name
        link.unlink(missing_ok=True)
        if path.name != LIST:
            link.symlink_to(path.resolve())
    return to
