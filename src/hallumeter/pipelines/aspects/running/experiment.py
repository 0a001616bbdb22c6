"""What an experiment is: which sentences are read, by which agents, with which steps, and how often."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from hallumeter.pipelines.aspects.agents.protocol import ANSWERS, Role

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
