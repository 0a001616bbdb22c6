"""Runs in one piece and in shards, by any command: what an export of the shards must be equal to."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

import msgspec
from click.testing import CliRunner, Result

from hallumeter.cli.main import main
from hallumeter.records.manifest import Manifest
from hallumeter.run.progress import PROGRESS
from hallumeter.run.run_folder import JOURNAL, MANIFEST


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def sound(*words: object) -> Result:
    done = run(*words)
    assert done.exit_code == 0, f"{done.stderr}{done.exception!r}"
    return done


def check_export(plain: Path, shards: Path | str, *, but: Container[str] = ()) -> Path:
    """Export a run in shards: its files are those of the run in one piece, byte for byte; gives its folder."""
    exported = plain.with_name(f"{plain.name}-exported")
    sound("export", shards, "--to", "jsonl", "--out", exported)
    kept = {path.name: path for path in plain.iterdir() if path.name not in (JOURNAL, PROGRESS)}
    assert sorted(path.name for path in exported.iterdir()) == sorted(kept)
    for path in kept.values():
        if path.name != MANIFEST and path.name not in but:
            assert (exported / path.name).read_bytes() == path.read_bytes(), path.name
    found, expected = (_manifest(folder) for folder in (exported, plain))
    assert found.inputs == expected.inputs
    assert found.settings == expected.settings
    assert found.judges == expected.judges
    assert found.instrument == expected.instrument
    return exported


def check_equal(folder: Path, words: list[object], *, shards: int) -> None:
    """Run a command in one piece and in shards: what is printed, exported and verified is the same."""
    plain = sound(*words, "--workers", 1, "--out", folder / "plain")
    cut = sound(*words, "--workers", 1, "--out", folder / "shards", "--engine", "local", "--shards", shards)
    assert cut.stdout == plain.stdout
    check_export(folder / "plain", folder / "shards")


def _manifest(folder: Path) -> Manifest:
    return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
