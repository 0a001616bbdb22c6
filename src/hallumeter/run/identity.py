"""What makes two runs the same, so that one can go on where the other stopped, and what a manifest says of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import SettingsError
from hallumeter.records.manifest import MANIFEST_VERSION, InputFile, JudgeEntry, Manifest


class RunWording(Struct, frozen=True, kw_only=True):
    """How a command words why a run cannot begin or go on; `{folder}` and the like are filled in."""

    unfinished: str = "{folder}: holds a run that was not finished"
    """There is a journal, and nobody asked to resume it."""
    taken: str = "{folder}: exists already and holds no run; choose another run_id, or remove it first"
    unmakable: str = "{folder}: cannot be made ({cause}); choose another output"
    foreign: str = "{folder}: holds a run of another command, or of another version; choose another run_id"
    changed: str = "{folder}: holds a run that was begun with {changes}; give what it was begun with, or another run_id"
    """To be resumed with other settings."""
    finished: str = "{folder}: holds a finished run of another experiment; choose another run_id"
    """Finished, with other settings: `{name}`, `{was}` and `{now}`."""
    damaged: str = "{folder}: damaged, or a run of another command ({cause}); choose another run_id"
    """Finished, and its files cannot be read."""
    fault: str = "{fault}; what was answered is kept in {folder}: mend it and give the same command again"
    """A model cannot be asked at all."""


class RunIdentity(Struct, frozen=True):
    """Everything that decides what a run asks and finds; runs with equal identities are the same run."""

    hallumeter: str
    """The version."""

    wording: ClassVar[RunWording] = RunWording()
    makes_parents: ClassVar[bool] = True
    """Whether the folders above that of the run are made too."""

    @property
    def digest(self) -> str:
        """Short, and another for every other identity."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:12]

    def changes(self, wanted: RunIdentity) -> Iterator[str]:
        """What is wanted otherwise than the run was begun with, in words."""
        now = structs.asdict(wanted)
        for name, was in structs.asdict(self).items():
            if was != now[name]:
                yield f"{name.replace('_', ' ')} {was} (now {now[name]})"

    def check_resumable(self, settings: bytes, folder: Path) -> None:
        """Refuse to go on with a run that was begun with something else; `settings` are those of its journal."""
        try:
            begun = msgspec.json.decode(settings, type=type(self))
        except msgspec.DecodeError:
            raise SettingsError(self.wording.foreign.format(folder=folder)) from None
        if changes := ", ".join(begun.changes(self)):
            raise SettingsError(self.wording.changed.format(folder=folder, changes=changes))

    def check_finished(self, found: Manifest, wanted: Manifest, folder: Path) -> None:
        """Refuse to take a finished run for what is wanted when it was made from something else."""
        was, now = _deciding(found), _deciding(wanted)
        for name in dict.fromkeys((*now, *was)):
            if was.get(name) != now.get(name):
                values = {"was": shown_value(was.get(name)), "now": shown_value(now.get(name))}
                shown = {"name": name.replace("_", " "), **values}
                raise SettingsError(self.wording.finished.format(folder=folder, **shown))


def manifest_of(
    identity: RunIdentity | None,
    instrument: str,
    settings: Mapping[str, Any],
    *,
    inputs: tuple[InputFile, ...],
    seed: int,
    judges: tuple[JudgeEntry, ...] = (),
) -> Manifest:
    """What a run says of itself, but for the times; without an identity it is of the version that is installed."""
    return Manifest(
        version=MANIFEST_VERSION,
        hallumeter=version("hallumeter") if identity is None else identity.hallumeter,
        instrument=instrument,
        inputs=inputs,
        settings=dict(settings),
        judges=judges,
        seed=seed,
    )


def timed(manifest: Manifest, started: datetime) -> Manifest:
    """The manifest of a run that ends now."""
    return structs.replace(
        manifest, started=started.isoformat(timespec="seconds"), finished=ended(started).isoformat(timespec="seconds")
    )


def ended(started: datetime) -> datetime:
    """The time at which something ends; not before its start, should the clock have been set back since."""
    return max(started, datetime.now(UTC))


def shown_value(value: object) -> str:
    """A setting for a message.

    >>> shown_value((InputFile("a.jsonl", "0123456789", 3), InputFile("b.jsonl", None, 2)))
    'a.jsonl (01234567), b.jsonl (unknown)'
    """
    if isinstance(value, tuple | list):
        return ", ".join(shown_value(item) for item in value) or "none"
    if isinstance(value, InputFile):
        return f"{value.name} ({(value.sha256 or 'unknown')[:8]})"
    if isinstance(value, JudgeEntry):
        return value.spec
    return str(value)


def _deciding(manifest: Manifest) -> dict[str, object]:
    """What decides the numbers of a finished run: its identity where the manifest has it, else all but the budget."""
    identity = manifest.settings.get("identity")
    if identity is not None:
        return {"identity": identity}
    plain: dict[str, object] = {
        "hallumeter": manifest.hallumeter,
        "inputs": tuple(structs.replace(file, records=0) for file in manifest.inputs),
        "judges": manifest.judges,
        "seed": manifest.seed,
    }
    # The budget does not: it was not reached.
    return plain | {name: value for name, value in manifest.settings.items() if name != "budget_usd"}
