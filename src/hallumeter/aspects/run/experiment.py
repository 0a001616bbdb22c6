"""What an experiment is: which sentences are read, by which agents, with which steps, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, field, structs

from hallumeter.aspects.agents.protocol import ANSWERS, Role
from hallumeter.formats.yaml import Plain, YamlFile, YamlNode, parse_yaml, read_yaml
from hallumeter.run.setting_checks import (
    Checks,
    among,
    amount,
    checked,
    file_path,
    folder_name,
    model_name,
    price_list,
    share,
    whole_number,
    yes_or_no,
)

OFFLINE = "offline"
"""The name of the agents that are no language models: they read by rules, without a network and without a key."""
CALLS_AT_ONCE = 8
"""To language models, where the experiment does not say."""
Profile = Literal["smoke", "regression", "paper_main"]
InputFormat = Literal["csv", "tsv", "jsonl", "json", "parquet", "text"]


class OverrideChoice(Struct, frozen=True, kw_only=True):
    """Which hints of a debate are strong enough; a number given here counts before that of the profile."""

    profile: str | None = None
    """``t0``, ``t1`` or ``t2``, or one of the user's own file; None for the default of the file."""
    min_total: float | None = None
    min_margin: float | None = None
    min_target_conf: float | None = None
    l3_conservative: bool | None = None


class PipelineChoice(Struct, frozen=True, kw_only=True):
    """The steps of the pipeline, and what its agents and its code go by."""

    temperature: float | None = 0.0
    """Of language models; None leaves it to the provider."""
    max_tokens: int = 2048
    """Of an agent's answer."""
    enable_stage2: bool = True
    enable_validator: bool = True
    enable_debate: bool = True
    enable_debate_override: bool = True
    enable_moderator: bool = True
    leakage_guard: bool = True
    """Refuse sentences that carry their own labels."""
    debate_override: OverrideChoice = OverrideChoice()
    debate_override_thresholds: Path | None = None
    """A file in place of the one that ships; so are the next two."""
    debate_thresholds: Path | None = None
    patterns: dict[str, Path] = field(default_factory=dict)
    """Files of words, by language."""
    prompts: Path | None = None
    """A folder of prompts in place of those that ship."""
    aux_hf_enabled: bool = False
    """Ask a sentiment classifier after everything else; for metrics only."""
    aux_hf_checkpoint: str | None = None
    aux_hf_id2label: dict[str, str] = field(default_factory=dict)


class Source(Struct, frozen=True, kw_only=True):
    """Where the sentences are."""

    input: Path
    train_file: Path | None = None
    """Sentences with gold that demonstrations are drawn from, and nothing else."""
    input_format: InputFormat | None = None
    """None to tell by the ending of the file's name."""
    text_column: str | None = None
    """None for the first of the usual names that a file has; so for the next two."""
    id_column: str | None = None
    language_column: str | None = None
    language: str | None = None
    """Of every sentence without one; None to tell by its letters."""
    domain: str | None = None
    """Of every sentence without one."""
    max_length: int | None = None
    """Characters; a longer sentence is a failure, since a part of it would be another sentence."""
    max_sentences: int | None = None


class Demos(Struct, frozen=True, kw_only=True):
    """Examples that agents are shown."""

    k: int = 0
    seed: int | None = None
    """None for that of the run, so that repeated runs are shown others."""
    hash_filter: bool = True
    """Leave out examples whose text is that of a sentence that is read."""


class Experiment(Struct, frozen=True, kw_only=True):
    """Everything that `experiment.yaml` says, with the defaults filled in."""

    data: Source
    pipeline: PipelineChoice = PipelineChoice()
    demo: Demos = Demos()
    model: str = OFFLINE
    """Who answers: ``offline``, or a language model as `hallumeter audit --judge` takes it."""
    agents: dict[Role, str] = field(default_factory=dict)
    """Who answers in some roles instead."""
    gold: Path | None = None
    """Gold of the sentences by their ids; no agent ever sees it."""
    run_id: str | None = None
    """The name of the run's folder; None for one that is made of all that decides the answers."""
    mode: str = "proposed"
    """A name for the variant of the pipeline, written into every output; switches decide what is done."""
    profile: Profile = "regression"
    """What the run is for: metrics are counted by it."""
    output: Path = Path("runs")
    """Where the folders of runs are."""
    seeds: tuple[int, ...] = (0,)
    """Every sentence is read once for each."""
    concurrency: int | None = None
    """Sentences at once: threads for language models, processes for offline agents; None for the usual."""
    timeout: float = 60.0
    """Seconds for one attempt."""
    retries: int = 4
    """How often a language model is asked again after a fault that may pass."""
    budget: float | None = None
    """US dollars."""
    prices: dict[str, str] = field(default_factory=dict)
    """Dollars for a million tokens, as ``0.15/0.60``, by name of the model."""
    requests_per_minute: float | None = None
    """Of one language model at most."""
    tokens_per_minute: float | None = None

    @property
    def models(self) -> dict[Role, str]:
        """Who answers in each role, in the order in which they are asked.

        >>> given = Experiment(data=Source(input=Path("a.csv")), model="openai:m", agents={"ate": "offline"})
        >>> given.models["ate"], given.models["atsa"]
        ('offline', 'openai:m')
        """
        return {role: self.agents.get(role, self.model) for role in ANSWERS}

    @property
    def is_offline(self) -> bool:
        """Whether no language model is asked."""
        return all(name == OFFLINE for name in self.models.values())


# Reads and writes `experiment.yaml`; what it says wrong is listed, all of it, with its place.

_VENDORS = ("openai", "anthropic")
_MOCK = ("offline", "mock")
_LANGUAGES = ("ko", "en")


def read_experiment(path: Path) -> Experiment:
    """What a file says; paths in it are taken from the current folder, as those of the command line are.

    Raises:
        InputError: The file cannot be opened.
        SettingsError: It says what it should not, or lacks what it needs; every fault is named with its place.
    """
    return _experiment(read_yaml(path))


def experiment_of(document: Mapping[str, Any]) -> Experiment:
    """An experiment from a mapping in Python, in the form of the file.

    >>> experiment_of({"data": {"input": "reviews.csv"}, "seeds": [1, 2]}).seeds
    (1, 2)
    """
    return _experiment(parse_yaml(msgspec.json.encode(document), "experiment"))


def document_of(experiment: Experiment) -> dict[str, Any]:
    """The same experiment in the form of the file, with every default written out."""
    plain = _plain(experiment)
    gold, mode = plain.pop("gold", None), plain.pop("mode")
    return {**plain, "run_mode": mode, **({} if gold is None else {"eval": {"gold": gold}})}


def _plain(record: msgspec.Struct) -> dict[str, Any]:
    """A record as plain values; what is not said is left out, but for a temperature that is left to the provider."""
    return {
        name: _plain_value(value)
        for name, value in structs.asdict(record).items()
        if (value is not None or name == "temperature") and value != {}
    }


def _plain_value(value: object) -> object:
    if isinstance(value, msgspec.Struct):
        return _plain(value)
    if isinstance(value, Mapping):
        return {key: _plain_value(entry) for key, entry in value.items()}
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Path) else value


def _experiment(file: YamlFile) -> Experiment:
    parts = ("data", "pipeline", "eval", "backbone", "demo", "data_roles", "experiment", "seeds", "model", "agents")
    given = file.entries(file.root, known=(*parts, *_TOP), needed=("data",))
    values = checked(file, given, _TOP)
    for alias, name in _ALIASES.items():
        if alias in values and name in values:
            file.refuse(given[alias], f"{alias} and {name} mean the same; give one of them")
        if alias in values:
            values[name] = values.pop(alias)
    values |= _who_answers(file, given)
    values |= _seeds(file, given)
    values["gold"] = _gold(file, given.get("eval"))
    data, pipeline = _source(file, given.get("data")), _pipeline(file, given.get("pipeline"))
    demo = Demos(**checked(file, file.entries(given.get("demo"), known=_DEMO), _DEMO)) if "demo" in given else Demos()
    _check_pool(file, given, data=data, demo=demo)
    file.raise_faults()
    assert data is not None  # else it is a fault
    assert pipeline is not None
    return Experiment(data=data, pipeline=pipeline, demo=demo, **values)


def _source(file: YamlFile, node: YamlNode | None) -> Source | None:
    given = file.entries(node, known=(*_SOURCE, "valid_file", "dataset_root"))
    if node is None or not isinstance(node.value, dict):
        return None
    values = checked(file, given, _SOURCE)
    names = [name for name in ("input", "valid_file") if name in given]
    if len(names) != 1:
        both = "input and valid_file mean the same; give one of them"
        file.refuse(node, both if names else "names no input; expected a file such as input: reviews.csv")
        return None
    values["input"] = file_path(file, given[names[0]])
    if values["input"] is None:
        return None
    root = file_path(file, given["dataset_root"]) if "dataset_root" in given else None
    if root is not None:
        values |= {key: root / values[key] for key in ("input", "train_file") if values.get(key) is not None}
    return Source(**values)


def _pipeline(file: YamlFile, node: YamlNode | None) -> PipelineChoice | None:
    if node is None:
        return PipelineChoice()
    given = file.entries(node, known=(*_PIPELINE, "debate_override", "patterns", "aux_hf_id2label"))
    values = checked(file, given, _PIPELINE)
    if "debate_override" in given:
        inner = file.entries(given["debate_override"], known=_OVERRIDE)
        values["debate_override"] = OverrideChoice(**checked(file, inner, _OVERRIDE))
        if "debate_override_thresholds" not in given:
            file.choice(inner.get("profile"), ("t0", "t1", "t2"))
    if "patterns" in given:
        values["patterns"] = _patterns(file, given["patterns"])
    if "aux_hf_id2label" in given:
        entries = file.named(given["aux_hf_id2label"])
        values["aux_hf_id2label"] = {key: file.text(entry) for key, entry in entries.items()}
    _check_classifier(file, given, values)
    return None if file.faults else PipelineChoice(**values)


def _check_classifier(file: YamlFile, given: Mapping[str, YamlNode], values: Mapping[str, Any]) -> None:
    """Refuse a classifier that is named and not asked, asked and not named, or a language model."""
    if values.get("aux_hf_checkpoint") and "aux_hf_enabled" not in given:
        file.refuse(given["aux_hf_checkpoint"], "needs aux_hf_enabled: true, or false: without it nobody is asked")
    if values.get("aux_hf_enabled") and not values.get("aux_hf_checkpoint"):
        file.refuse(given["aux_hf_enabled"], "needs aux_hf_checkpoint: which classifier is asked")
    checkpoint = values.get("aux_hf_checkpoint")
    if isinstance(checkpoint, str) and checkpoint.startswith("llm:"):
        file.refuse(given["aux_hf_checkpoint"], "a language model cannot be the auxiliary classifier; name another")


def _patterns(file: YamlFile, node: YamlNode) -> dict[str, Path]:
    entries = file.entries(node, known=_LANGUAGES)
    return {language: path for language, entry in entries.items() if (path := file_path(file, entry)) is not None}


def _who_answers(file: YamlFile, given: Mapping[str, YamlNode]) -> dict[str, Any]:
    """The model of all agents, and those of single roles."""
    found: dict[str, Any] = {}
    if "model" in given and "backbone" in given:
        file.refuse(given["backbone"], "model and backbone both say who answers; give one of them")
    if "model" in given:
        found["model"] = model_name(file, given["model"], offline=OFFLINE)
    elif "backbone" in given:
        found["model"] = _backbone(file, given["backbone"])
    if "agents" in given:
        entries = file.entries(given["agents"], known=tuple(ANSWERS))
        found["agents"] = {role: model_name(file, entry, offline=OFFLINE) for role, entry in entries.items()}
    return found


def _backbone(file: YamlFile, node: YamlNode) -> str:
    entries = file.entries(node, known=("provider", "model"), needed=("provider",))
    provider = file.text(entries.get("provider"))
    if provider in _MOCK or provider is None:
        return OFFLINE
    if provider not in _VENDORS:
        advice = "for others give model: https://HOST/v1#MODEL, the address of a server that speaks as OpenAI's does"
        file.refuse(entries["provider"], f"expected one of {', '.join((*_VENDORS, *_MOCK))}; {advice}")
        return OFFLINE
    if "model" not in entries:
        file.refuse(node, "lacks 'model'; give it")
        return OFFLINE
    return f"{provider}:{file.text(entries['model'])}"


def _seeds(file: YamlFile, given: Mapping[str, YamlNode]) -> dict[str, Any]:
    """Seeds at the top, or under `experiment.repeat`, where the number of calls at once may stand too."""
    found: dict[str, Any] = {}
    nodes = [given["seeds"]] if "seeds" in given else []
    if "experiment" in given:
        inner = file.entries(given["experiment"], known=("repeat",))
        repeat = file.entries(inner.get("repeat"), known=("mode", "seeds", "concurrency"))
        file.choice(repeat.get("mode"), ("seed",))
        nodes += [repeat["seeds"]] if "seeds" in repeat else []
        if "concurrency" in repeat and "concurrency" not in given:
            found |= checked(file, repeat, {"concurrency": _TOP["concurrency"]})
    if len(nodes) > 1:
        file.refuse(nodes[1], "seeds stand at the top already; give them once")
    for node in nodes[:1]:
        seeds = [whole_number(file, item, 0) for item in file.items(node)]
        if not seeds and isinstance(node.value, tuple):
            file.refuse(node, "expected at least one seed, such as [0]")
        known = [seed for seed in seeds if seed is not None]
        if len(set(known)) < len(known):
            file.refuse(node, "a seed stands twice; the same seed gives the same run")
        found["seeds"] = tuple(seeds)
    return found


def _gold(file: YamlFile, node: YamlNode | None) -> Path | None:
    entries = file.entries(node, known=("gold", "gold_valid_jsonl"))
    if len(entries) > 1 and node is not None:
        file.refuse(node, "gold and gold_valid_jsonl mean the same; give one of them")
    return next((file_path(file, entry) for entry in entries.values()), None)


def _check_pool(file: YamlFile, given: Mapping[str, YamlNode], *, data: Source | None, demo: Demos) -> None:
    """Refuse demonstrations from anywhere but the training file."""
    if "data_roles" in given:
        pool = file.entries(given["data_roles"], known=("demo_pool",)).get("demo_pool")
        names: list[Plain] = [item.plain for item in file.items(pool)]
        if pool is not None and isinstance(pool.value, tuple) and names != ["train"]:
            file.refuse(pool, "expected [train]: demonstrations come from the training file alone")
    if "demo" in given and demo.k and data is not None and data.train_file is None:
        file.refuse(given["demo"], "needs data.train_file: demonstrations are drawn from it alone")
    if data is not None and data.train_file is not None and data.train_file == data.input:
        file.refuse(given["data"], "train_file and input are the same file; sentences must not be shown to agents")


_ALIASES = {"run_purpose": "profile", "run_mode": "mode"}
"""Names of settings in the file that are called otherwise in Python."""
_profile = among("smoke", "regression", "paper_main")
_positive = partial(amount, is_zero_allowed=False)
_from_zero = partial(amount, is_zero_allowed=True)
_from_one = partial(whole_number, least=1)
_TOP: Checks = {
    "run_id": folder_name,
    "run_mode": folder_name,
    "run_purpose": _profile,
    "profile": _profile,
    "output": file_path,
    "concurrency": _from_one,
    "timeout": _positive,
    "retries": partial(whole_number, least=0),
    "budget": _positive,
    "prices": price_list,
    "requests_per_minute": _positive,
    "tokens_per_minute": _positive,
}
"""Settings at the top, and how each is checked."""
_SOURCE: Checks = {
    "input": file_path,
    "train_file": file_path,
    "input_format": among("csv", "tsv", "jsonl", "json", "parquet", "text"),
    "text_column": YamlFile.text,
    "id_column": YamlFile.text,
    "language_column": YamlFile.text,
    "language": among(*_LANGUAGES),
    "domain": YamlFile.text,
    "max_length": _from_one,
    "max_sentences": _from_one,
}
_PIPELINE: Checks = {
    "temperature": _from_zero,
    "max_tokens": _from_one,
    "enable_stage2": yes_or_no,
    "enable_validator": yes_or_no,
    "enable_debate": yes_or_no,
    "enable_debate_override": yes_or_no,
    "enable_moderator": yes_or_no,
    "leakage_guard": yes_or_no,
    "debate_override_thresholds": file_path,
    "debate_thresholds": file_path,
    "prompts": file_path,
    "aux_hf_enabled": yes_or_no,
    "aux_hf_checkpoint": YamlFile.text,
}
_OVERRIDE: Checks = {
    "profile": YamlFile.text,
    "min_total": _from_zero,
    "min_margin": _from_zero,
    "min_target_conf": share,
    "l3_conservative": yes_or_no,
}
_DEMO: Checks = {"k": partial(whole_number, least=0), "seed": partial(whole_number, least=0), "hash_filter": yes_or_no}
