"""What an experiment is: which systems answer, which patients ask, and how."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from hallumeter.records import Mode

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
