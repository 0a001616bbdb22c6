"""What an experiment is: which systems answer, which patients ask, and how."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, field, structs

from hallumeter.dialogue.records import Mode
from hallumeter.formats.yaml import YamlFile, YamlNode, parse_yaml, read_yaml
from hallumeter.run import setting_checks

OFFLINE = "offline"
"""The name of the model that is no model: it answers from a script, without a network and without a key."""
CALLS_AT_ONCE = 8
"""To a language model, where the experiment does not say; functions and programs are called one at a time."""


class System(Struct, frozen=True, kw_only=True):
    """A system under test."""

    name: str
    mode: Mode
    """``llm`` is a plain conversation; ``agent`` is reminded of the patient's facts before each answer."""
    model: str | None = None
    """``offline``, or a language model as `hallumeter audit --judge` takes it."""
    python: str | None = None
    """``module:function``, in place of a model."""
    command: tuple[str, ...] | None = None
    """A program and its arguments, in place of a model."""
    temperature: float | None = 0.0
    """None leaves it to the provider."""
    max_tokens: int = 1024
    """Of an answer."""
    concurrency: int = 1
    """How many patients are answered at once."""
    timeout: float = 60
    """Seconds for one attempt."""
    retries: int = 4
    """How often a language model is asked again after a fault that may pass."""

    @property
    def answers_by(self) -> str:
        """Who answers, in one line.

        >>> System(name="s", mode="llm", command=("python", "answer.py")).answers_by
        'command:python answer.py'
        """
        if self.python is not None:
            return f"python:{self.python}"
        if self.command is not None:
            return f"command:{' '.join(self.command)}"
        return self.model or OFFLINE


class Experiment(Struct, frozen=True, kw_only=True):
    """Everything that `experiment.yaml` says, with the defaults filled in."""

    systems: tuple[System, ...]
    scripts: Path | None = None
    """Patients with their facts and questions; None when the questions come alone."""
    questions: Path | None = None
    """Questions without a patient, in place of scripts."""
    run_id: str | None = None
    """The name of the run's folder; None for one that is made of all that decides the answers."""
    output: Path = Path("runs")
    """Where the folders of runs are."""
    seed: int = 0
    language: Literal["ko", "en"] | None = None
    """Of prompts and of offline answers; None for that of each script."""
    max_patients: int | None = None
    max_turns: int | None = None
    budget: float | None = None
    """US dollars."""
    prices: dict[str, str] = field(default_factory=dict)
    """Dollars for a million tokens, as ``0.15/0.60``, by name of the model."""
    requests_per_minute: float | None = None
    """Of one language model at most."""
    tokens_per_minute: float | None = None
    retrieval: Literal["auto", "words", "vectors"] = "auto"
    """How agents look facts up; ``auto`` is by vectors where the extra is installed."""
    facts_per_question: int = 6
    """Facts of the record that an agent is given with a question."""
    fhir_dir: Path | None = None
    """Bundles of the same patients, whose facts agents look up beside those of the scripts."""
    rules: Path | None = None
    """A folder with required_slots_by_turn.yaml and safety_rules.yaml; None for those that ship."""
    faithfulness: Literal["off", "embedded"] = "off"
    answer_relevance: Literal["off", "vectors"] = "off"
    perplexity: Literal["off", "logprobs"] = "off"

    def mode_of(self, number: int) -> str:
        """What the events of a system are filed under: its mode, or its name where two systems share a mode."""
        system = self.systems[number]
        is_shared = sum(other.mode == system.mode for other in self.systems) > 1
        return system.name if is_shared else system.mode


# Reads and writes `experiment.yaml`; what it says wrong is listed, all of it, with its place.

_WHO = ("model", "python", "command")
_SCRIPT_PATHS = ("path", "scripts_path")


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


def _experiment(file: YamlFile) -> Experiment:
    known = ("systems", "multiturn_scripts", *_TOP, *_OF_SYSTEMS)
    given = file.entries(file.root, known=known, needed=("systems",))
    defaults = setting_checks.checked(file, given, _OF_SYSTEMS)
    listed = file.items(given.get("systems"))
    if "systems" in given and not listed and not file.faults:
        file.refuse(given["systems"], "expected at least one system")
    systems = [_system(file, node, defaults) for node in listed]
    scripts = _scripts(file, given)
    values = setting_checks.checked(file, given, _TOP)
    file.raise_faults()
    experiment = Experiment(
        systems=tuple(system for system in systems if system is not None), scripts=scripts, **values
    )
    _check_together(file, experiment, listed)
    file.raise_faults()
    return experiment


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
    return setting_checks.file_path(file, entries[paths[0]])


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
        setting_checks.model_name(file, given["model"], offline=OFFLINE)
        made["concurrency"] = CALLS_AT_ONCE
    made |= dict(defaults) | setting_checks.checked(file, given, _OF_SYSTEMS)
    return None if file.faults else msgspec.convert(made, System)


def _command(file: YamlFile, node: YamlNode) -> tuple[str, ...]:
    words = tuple(str(each.value) for each in file.items(node) if each.value is not None)
    if not words and isinstance(node.value, tuple):
        file.refuse(node, "expected a program and its arguments, such as [python, answer.py]")
    return words


def _check_together(file: YamlFile, experiment: Experiment, listed: tuple[YamlNode, ...]) -> None:
    """Refuse systems whose answers could not be told apart."""
    names = [system.name for system in experiment.systems]
    modes = [experiment.mode_of(number) for number in range(len(names))]
    for number, node in enumerate(listed):
        if names[number] in names[:number]:
            file.refuse(node, f"{names[number]!r} is the name of another system; give each its own")
        elif modes[number] in modes[:number]:
            file.refuse(node, f"another system's answers are filed under {modes[number]!r}; give it another name")


_OF_SYSTEMS: setting_checks.Checks = {
    "temperature": partial(setting_checks.amount, is_zero_allowed=True),
    "max_tokens": partial(setting_checks.whole_number, least=1),
    "concurrency": partial(setting_checks.whole_number, least=1),
    "timeout": partial(setting_checks.amount, is_zero_allowed=False),
    "retries": partial(setting_checks.whole_number, least=0),
}
"""Settings of a system that may also stand at the top, for all of them."""
_TOP: setting_checks.Checks = {
    "run_id": setting_checks.folder_name,
    "seed": partial(setting_checks.whole_number, least=0),
    "max_patients": partial(setting_checks.whole_number, least=1),
    "max_turns": partial(setting_checks.whole_number, least=1),
    "facts_per_question": partial(setting_checks.whole_number, least=1),
    "budget": partial(setting_checks.amount, is_zero_allowed=False),
    "requests_per_minute": partial(setting_checks.amount, is_zero_allowed=False),
    "tokens_per_minute": partial(setting_checks.amount, is_zero_allowed=False),
    "prices": setting_checks.price_list,
    "language": setting_checks.among("ko", "en"),
    "retrieval": setting_checks.among("auto", "words", "vectors"),
    "faithfulness": setting_checks.among("off", "embedded"),
    "answer_relevance": setting_checks.among("off", "vectors"),
    "perplexity": setting_checks.among("off", "logprobs"),
    "questions": setting_checks.file_path,
    "output": setting_checks.file_path,
    "fhir_dir": setting_checks.file_path,
    "rules": setting_checks.file_path,
}
"""Settings at the top that have the same name in Python, and how each is checked."""
