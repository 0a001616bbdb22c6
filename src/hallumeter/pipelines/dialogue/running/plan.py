"""What a run would take: calls, tokens and dollars, before anything is paid."""

from __future__ import annotations

from msgspec import Struct

from hallumeter.pipelines.audit.run_place import is_finished
from hallumeter.pipelines.dialogue.measuring import Equipment
from hallumeter.pipelines.experiments import PlannedCalls, opened_journal, planned_cost, price_for
from hallumeter.providers.language_models import estimated_tokens, provider_spec
from hallumeter.store import JOURNAL

from .asking import answers_by_conversation
from .experiment import OFFLINE, Experiment, System
from .inputs import Conversation, read_inputs
from .messages import agent_question, messages_of
from .patient_words import words_in
from .pipeline import identity_of, retrieval_of
from .recall import record_lines

TOKENS_OF_AN_ANSWER = 350
"""As prompts ask for at most 250 English words, or 600 Korean characters."""


class PlannedSystem(PlannedCalls, frozen=True, kw_only=True):
    """What one system would be asked."""

    answers_by: str


class RunPlan(Struct, frozen=True):
    """What a run would take."""

    run_id: str
    patients: int
    turns: int
    """Questions of all patients."""
    systems: tuple[PlannedSystem, ...]

    @property
    def cost_usd(self) -> float | None:
        """None when some price is not known."""
        return planned_cost(self.systems)


def plan_experiment(experiment: Experiment, *, is_strict: bool = False) -> RunPlan:
    """Go through an experiment without asking anybody; what an earlier run has answered counts as done."""
    inputs = read_inputs(experiment, is_strict=is_strict)
    equipment = Equipment.of(experiment.rules)
    identity = identity_of(experiment, inputs, retrieval=retrieval_of(experiment), equipment=equipment)
    run_id = experiment.run_id or f"run-{identity.digest}"
    path = experiment.output / run_id / JOURNAL
    done: list[dict[int, int]] = [{} for _ in experiment.systems]
    if is_finished(path.parent):
        done = [{place: len(each.turns) for place, each in enumerate(inputs.conversations)}] * len(done)
    elif path.exists():
        with opened_journal(path.parent, identity) as journal:
            done = [
                {place: len(own) for place, own in answers_by_conversation(journal, number).items()}
                for number in range(len(done))
            ]
    systems = tuple(
        _planned(system, inputs.conversations, done[number], experiment=experiment)
        for number, system in enumerate(experiment.systems)
    )
    return RunPlan(run_id, len(inputs.conversations), inputs.turns, systems)


def _planned(
    system: System, conversations: tuple[Conversation, ...], done: dict[int, int], *, experiment: Experiment
) -> PlannedSystem:
    calls = read = 0
    for number, conversation in enumerate(conversations):
        sizes = _prompt_sizes(system, conversation, experiment)[done.get(number, 0) :]
        calls += len(sizes)
        read += sum(sizes)
    is_model = system.model not in (None, OFFLINE)
    price = price_for(provider_spec(system.answers_by), experiment.prices) if is_model else None
    written = calls * min(system.max_tokens, TOKENS_OF_AN_ANSWER)
    return PlannedSystem(
        name=system.name,
        answers_by=system.answers_by,
        calls=calls,
        answered=sum(done.values()),
        input_tokens=read if is_model else None,
        output_tokens=written if is_model else None,
        price=price,
        is_free=system.answers_by == OFFLINE,
    )


def _prompt_sizes(system: System, conversation: Conversation, experiment: Experiment) -> list[int]:
    """Tokens of the prompt of each turn, with answers of the usual length before it."""
    lines = record_lines(conversation.slots, words_in(conversation.language), conversation.facts)
    reminded = lines[: experiment.facts_per_question]
    answer = min(system.max_tokens, TOKENS_OF_AN_ANSWER)
    sizes = []
    for place, turn in enumerate(conversation.turns):
        told = turn.question
        if system.mode == "agent":
            # What the patient has stated is about as long as what the record says of it.
            told = agent_question(told, conversation.language, memory=lines, record=reminded)
        earlier = [(each.question, "") for each in conversation.turns[:place]]
        messages = messages_of(earlier, told, conversation.language)
        sizes.append(sum(estimated_tokens(message.content) for message in messages) + place * answer)
    return sizes
