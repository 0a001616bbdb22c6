"""Reads and writes `experiment.yaml`; what it says wrong is listed, all of it, with its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from hallumeter.errors import HallumeterError, SettingsError
from hallumeter.formats.yaml_nodes import YamlFile, YamlNode
from hallumeter.formats.yaml_places import parse_yaml, read_yaml
from hallumeter.providers.language_models import parse_price, provider_spec

from .experiment import CALLS_AT_ONCE, OFFLINE, Experiment, System

_WHO = ("model", "python", "command")
_SCRIPT_PATHS = ("path", "scripts_path")
_MOST = 1_000_000_000
"""A larger whole number is a slip of the pen."""


def read_experiment(path: Path) -> Experiment:
    """What a file says; paths in it are taken from the current folder, as those of the command line are.

    Raises:
        InputError: The file cannot be opened.
        SettingsError: It says what it should not, or lacks what it needs; every fault is named with its place.
    """
    return _experiment(read_yaml(path))


def experiment_of(document: Mapping[str, Any]) -> Experiment:
    """An experiment from a mapping in Python, in the form of the file.

    >>> experiment_of({"systems": [{"mode": "llm"}], "multiturn_scripts": {"path": "s.jsonl"}}).systems[0].name
    'llm'
    """
    return _experiment(parse_yaml(msgspec.json.encode(document), "experiment"))


def document_of(experiment: Experiment) -> dict[str, Any]:
    """The same experiment in the form of the file, with every default written out."""
    plain = {key: value for key, value in structs.asdict(experiment).items() if value is not None and value != {}}
    scripts = plain.pop("scripts", None)
    systems = [structs.asdict(system) for system in plain.pop("systems")]
    return {
        "systems": [
            {key: value for key, value in system.items() if value is not None or key == "temperature"}
            for system in systems
        ],
        "multiturn_scripts": {"enabled": False} if scripts is None else {"enabled": True, "path": str(scripts)},
        **{key: str(value) if isinstance(value, Path) else value for key, value in plain.items()},
    }


def is_folder_name(name: str) -> bool:
    """Whether a run may be called so on every system.

    >>> is_folder_name("pilot-2"), is_folder_name("../pilot"), is_folder_name("")
    (True, False, False)
    """
    return name[:1].isalnum() and all(sign.isalnum() or sign in "._-" for sign in name)


def _experiment(file: YamlFile) -> Experiment:
    known = ("systems", "multiturn_scripts", *_TOP, *_OF_SYSTEMS)
    given = file.entries(file.root, known=known, needed=("systems",))
    defaults = _checked(file, given, _OF_SYSTEMS)
    listed = file.items(given.get("systems"))
    if "systems" in given and not listed and not file.faults:
        file.refuse(given["systems"], "expected at least one system")
    systems = [_system(file, node, defaults) for node in listed]
    scripts = _scripts(file, given)
    values = _checked(file, given, _TOP)
    file.raise_faults()
    experiment = Experiment(
        systems=tuple(system for system in systems if system is not None), scripts=scripts, **values
    )
    _check_together(file, experiment, listed)
    file.raise_faults()
    return experiment


def _checked(
    file: YamlFile, given: Mapping[str, YamlNode], checks: Mapping[str, Callable[[YamlFile, YamlNode], Any]]
) -> dict[str, Any]:
    """The entries that are settings under the same name; nothing stands for the default, but of a temperature."""
    return {
        key: None if given[key].value is None else check(file, given[key])
        for key, check in checks.items()
        if key in given and (given[key].value is not None or key == "temperature")
    }


def _scripts(file: YamlFile, given: Mapping[str, YamlNode]) -> Path | None:
    """The file of scripts, unless they are switched off; there must be questions then."""
    node = given.get("multiturn_scripts")
    has_questions = "questions" in given
    if node is None:
        if not has_questions and file.root is not None:
            file.refuse(file.root, "lacks multiturn_scripts: path: SCRIPTS.jsonl, or questions: FILE")
        return None
    entries = file.entries(node, known=("enabled", *_SCRIPT_PATHS))
    is_enabled = file.choice(entries["enabled"], (True, False)) if "enabled" in entries else True
    paths = [key for key in _SCRIPT_PATHS if key in entries]
    if is_enabled is not True:
        if not has_questions:
            file.refuse(node, "scripts are not enabled, so questions: and a file of questions is needed")
        return None
    if len(paths) != 1:
        both = "path and scripts_path mean the same; give one of them"
        file.refuse(node, both if paths else "names no path; expected one such as path: scripts_5turn.jsonl")
        return None
    if has_questions:
        file.refuse(given["questions"], "scripts have questions of their own; set multiturn_scripts.enabled: false")
    return _path(file, entries[paths[0]])


def _system(file: YamlFile, node: YamlNode, defaults: Mapping[str, Any]) -> System | None:
    given = file.entries(node, known=("name", "mode", *_WHO, *_OF_SYSTEMS), needed=("mode",))
    who = [key for key in _WHO if key in given]
    if len(who) > 1:
        file.refuse(node, f"has {' and '.join(who)}; a system has one of {', '.join(_WHO)}")
    made: dict[str, Any] = {"mode": file.choice(given.get("mode"), ("llm", "agent")), "model": None if who else OFFLINE}
    made["name"] = file.text(given["name"]) if "name" in given else made["mode"]
    made |= {key: file.text(given[key]) for key in ("model", "python") if key in given}
    if "command" in given:
        made["command"] = _command(file, given["command"])
    if made["model"] not in (None, OFFLINE):
        _check_model(file, given["model"], str(made["model"]))
        made["concurrency"] = CALLS_AT_ONCE
    made |= dict(defaults) | _checked(file, given, _OF_SYSTEMS)
    return None if file.faults else msgspec.convert(made, System)


def _command(file: YamlFile, node: YamlNode) -> tuple[str, ...]:
    words = tuple(str(each.value) for each in file.items(node) if each.value is not None)
    if not words and isinstance(node.value, tuple):
        file.refuse(node, "expected a program and its arguments, such as [python, answer.py]")
    return words


def _check_model(file: YamlFile, node: YamlNode, name: str) -> None:
    if not name.startswith(("http://", "https://")) and not all(name.partition(":")):
        file.refuse(node, f"{name!r} names no model; expected offline, openai:MODEL, anthropic:MODEL or an address")
        return
    try:
        provider_spec(name)
    except HallumeterError as error:
        file.refuse(node, str(error))


def _check_together(file: YamlFile, experiment: Experiment, listed: tuple[YamlNode, ...]) -> None:
    """Refuse systems whose answers could not be told apart."""
    names = [system.name for system in experiment.systems]
    modes = [experiment.mode_of(number) for number in range(len(names))]
    for number, node in enumerate(listed):
        if names[number] in names[:number]:
            file.refuse(node, f"{names[number]!r} is the name of another system; give each its own")
        elif modes[number] in modes[:number]:
            file.refuse(node, f"another system's answers are filed under {modes[number]!r}; give it another name")


def _run_id(file: YamlFile, node: YamlNode) -> str | None:
    name = file.text(node)
    if name is not None and not is_folder_name(name):
        file.refuse(node, f"{name!r} cannot be the name of a folder; use letters, digits, dots and dashes")
    return name


def _prices(file: YamlFile, node: YamlNode) -> dict[str, str]:
    prices = {model: str(entry.value) for model, entry in file.named(node).items()}
    for model, entry in file.named(node).items():
        try:
            parse_price(prices[model])
        except SettingsError as error:
            file.refuse(entry, str(error))
    return prices


def _path(file: YamlFile, node: YamlNode) -> Path | None:
    found = file.text(node)
    return None if found is None else Path(found)


def _whole(file: YamlFile, node: YamlNode, least: int) -> int | None:
    found = file.number(
        node, f"a whole number from {least}", accepts=lambda value: value == int(value) and least <= value <= _MOST
    )
    return None if found is None else int(found)


def _number(file: YamlFile, node: YamlNode, *, is_zero_allowed: bool) -> float | None:
    bound = "from 0" if is_zero_allowed else "above 0"
    return file.number(node, f"a number {bound}", accepts=lambda value: value > 0 or (is_zero_allowed and value == 0))


def _among(*words: str) -> Callable[[YamlFile, YamlNode], object]:
    return lambda file, node: file.choice(node, words)


_OF_SYSTEMS: dict[str, Callable[[YamlFile, YamlNode], Any]] = {
    "temperature": partial(_number, is_zero_allowed=True),
    "max_tokens": partial(_whole, least=1),
    "concurrency": partial(_whole, least=1),
    "timeout": partial(_number, is_zero_allowed=False),
    "retries": partial(_whole, least=0),
}
"""Settings of a system that may also stand at the top, for all of them."""
_TOP: dict[str, Callable[[YamlFile, YamlNode], Any]] = {
    "run_id": _run_id,
    "seed": partial(_whole, least=0),
    "max_patients": partial(_whole, least=1),
    "max_turns": partial(_whole, least=1),
    "facts_per_question": partial(_whole, least=1),
    "budget": partial(_number, is_zero_allowed=False),
    "requests_per_minute": partial(_number, is_zero_allowed=False),
    "tokens_per_minute": partial(_number, is_zero_allowed=False),
    "prices": _prices,
    "language": _among("ko", "en"),
    "retrieval": _among("auto", "words", "vectors"),
    "faithfulness": _among("off", "embedded"),
    "answer_relevance": _among("off", "vectors"),
    "perplexity": _among("off", "logprobs"),
    "questions": _path,
    "output": _path,
    "fhir_dir": _path,
    "rules": _path,
}
"""Settings at the top that have the same name in Python, and how each is checked."""
