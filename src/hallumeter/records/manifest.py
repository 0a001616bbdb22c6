"""What a run was made from, so that it can be made again."""

from msgspec import Struct, field

MANIFEST_VERSION = 1
"""Of the form of a manifest."""
PLAN, STORE = "plan.json", "store.json"
"""A folder with a plan holds a run in shards; one with the other file stands for a run that is kept elsewhere."""


class InputFile(Struct, frozen=True):
    """A file that was read."""

    name: str
    sha256: str | None
    """None for a stream that could not be read twice."""
    records: int


class JudgeEntry(Struct, frozen=True):
    """A judge that took part."""

    name: str
    spec: str
    """Its settings in one line; ``recorded`` for verdicts that were already on disk."""


class RunFile(Struct, frozen=True):
    """A file of a run as it was written, so that a change is noticed."""

    name: str
    bytes: int
    lines: int
    """Line ends in it."""
    blake2b: str
    """Its BLAKE2b digest of 32 bytes, in hexadecimal."""


class Manifest(Struct, frozen=True):
    """Inputs, settings, versions, seed, times and files of a run; the only file that differs between equal runs."""

    version: int
    hallumeter: str
    instrument: str
    inputs: tuple[InputFile, ...]
    settings: dict[str, str | int | float | bool | list[str] | None] = field(default_factory=dict)
    judges: tuple[JudgeEntry, ...] = ()
    seed: int = 0
    started: str = ""
    finished: str = ""
    files: tuple[RunFile, ...] = ()
    """Every file of the run but this one and the report; none in runs of versions that did not list them."""
