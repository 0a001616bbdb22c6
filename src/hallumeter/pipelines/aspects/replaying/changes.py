"""What may be changed when a run is replayed: all that decides what code makes of agents' answers, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hallumeter.errors import SettingsError
from hallumeter.formats.yaml_nodes import Plain, nearest
from hallumeter.formats.yaml_places import parse_yaml
from hallumeter.pipelines.aspects.running.experiment import Experiment
from hallumeter.pipelines.aspects.running.experiment_file import document_of, experiment_of

CHANGEABLE = (
    "pipeline.enable_stage2",
    "pipeline.enable_validator",
    "pipeline.enable_debate",
    "pipeline.enable_debate_override",
    "pipeline.enable_moderator",
    "pipeline.debate_override.profile",
    "pipeline.debate_override.min_total",
    "pipeline.debate_override.min_margin",
    "pipeline.debate_override.min_target_conf",
    "pipeline.debate_override.l3_conservative",
    "pipeline.debate_override_thresholds",
    "pipeline.debate_thresholds",
    "pipeline.patterns.ko",
    "pipeline.patterns.en",
    "profile",
)
"""Settings that can be given; ``pipeline.`` may be left out."""
_PREFIX = "pipeline."


def changed_experiment(experiment: Experiment, given: Sequence[str]) -> tuple[Experiment, dict[str, str]]:
    """The experiment with settings such as ``enable_validator=false`` in place of its own, and what was set.

    Raises:
        SettingsError: Something cannot be set, or not so.
    """
    document: dict[str, Any] = document_of(experiment)
    changes: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        key = _changeable(name.strip())
        if not equals or not value.strip():
            raise SettingsError(f"--set {text!r}: expected NAME=VALUE, such as enable_validator=false")
        _put(document, key.split("."), _value(key, value))
        changes[key] = value.strip()
    if not changes:
        return experiment, changes
    try:
        return experiment_of(document), changes
    except SettingsError as error:
        first = str(error).splitlines()[0].rstrip(";").partition(": ")[2]
        raise SettingsError(f"--set {first}") from None


def _changeable(name: str) -> str:
    key = name if name in CHANGEABLE else f"{_PREFIX}{name}"
    if key not in CHANGEABLE:
        short = [each.removeprefix(_PREFIX) for each in CHANGEABLE]
        hint = nearest(name.removeprefix(_PREFIX), short)
        raise SettingsError(
            f"--set {name}: a replay can change switches, thresholds, patterns and the profile alone; {hint}"
        )
    return key


def _value(key: str, text: str) -> Plain:
    file = parse_yaml(text.encode(), key)
    file.raise_faults()
    return None if file.root is None else file.root.plain


def _put(document: dict[str, Any], keys: list[str], value: Plain) -> None:
    for key in keys[:-1]:
        inner = document.setdefault(key, {})
        assert isinstance(inner, Mapping)
        document = inner  # type: ignore[assignment]
    document[keys[-1]] = value
