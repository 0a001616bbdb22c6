"""What a run would take: calls, tokens and dollars, before anything is paid."""

from __future__ import annotations

from hallumeter.models.by_name import provider_spec
from hallumeter.models.prices import estimated_tokens
from hallumeter.run.paced_models import price_for
from hallumeter.run.place import is_finished, opened_journal
from hallumeter.run.plan import PlannedCalls, RunPlan
from hallumeter.run.run_folder import JOURNAL

from .asking import answers_by_conversation
from .experiment import OFFLINE, Experiment, System
from .inputs import Conversation
from .messages import agent_question, messages_of, words_in
from .pipeline import Prepared, prepared
from .recall import record_lines

TOKENS_OF_AN_ANSWER = 350
"""As prompts ask for at most 250 English words, or 600 Korean characters."""


def plan_experiment(experiment: Experiment, *, is_strict: bool = False) -> RunPlan:
    """Go through an experiment without asking anybody; what an earlier run has answered counts as done."""
    ready = prepared(experiment, is_strict=is_strict)
    return plan_of(ready, _answered(ready))


def plan_of(ready: Prepared, done: list[dict[int, int]]) -> RunPlan:
    """What is left to ask, given how many questions of each conversation have an answer, system by system."""
    inputs = ready.inputs
    systems = tuple(
        _planned(system, inputs.conversations, done[number], experiment=ready.experiment)
        for number, system in enumerate(ready.experiment.systems)
    )
    return RunPlan(f"{ready.run_id}: {len(inputs.conversations):,} patients, {inputs.turns:,} questions", systems)


def _answered(ready: Prepared) -> list[dict[int, int]]:
    """How many questions of each conversation have an answer, system by system."""
    systems = range(len(ready.experiment.systems))
    if is_finished(ready.folder):
        return [{place: len(each.turns) for place, each in enumerate(ready.inputs.conversations)} for _ in systems]
    if not (ready.folder / JOURNAL).exists():
        return [{} for _ in systems]
    with opened_journal(ready.folder, ready.identity) as journal:
        return [
            {place: len(own) for place, own in answers_by_conversation(journal, number).items()} for number in systems
        ]


def _planned(
    system: System, conversations: tuple[Conversation, ...], done: dict[int, int], *, experiment: Experiment
) -> PlannedCalls:
    calls = read = 0
    for number, conversation in enumerate(conversations):
        sizes = _prompt_sizes(system, conversation, experiment)[done.get(number, 0) :]
        calls += len(sizes)
        read += sum(sizes)
    is_model = system.model not in (None, OFFLINE)
    price = price_for(provider_spec(system.answers_by), experiment.prices) if is_model else None
    written = calls * min(system.max_tokens, TOKENS_OF_AN_ANSWER)
    answered = sum(done.values())
    return PlannedCalls(
        name=system.name,
        title=f"{system.name} ({system.answers_by})",
        calls=calls,
        answered=answered,
        done=f"{answered:,} questions are answered already",
        input_tokens=read if is_model else None,
        output_tokens=written if is_model else None,
        price=price,
        free="answers from a script; no call is paid" if system.answers_by == OFFLINE else None,
    )


def _prompt_sizes(system: System, conversation: Conversation, experiment: Experiment) -> list[int]:
    """Tokens of the prompt of each turn, with answers of the usual length before it."""
    lines = record_lines(conversation.slots, words_in(conversation.language), conversation.facts)
    reminded = lines[: experiment.facts_per_question]
    answer = min(system.max_tokens, TOKENS_OF_AN_ANSWER)
    sizes = []
    for place, turn in enumerate(conversation.turns):
        question = turn.question
        if system.mode == "agent":
            # What the patient has stated is about as long as what the record says of it.
            question = agent_question(question, conversation.language, memory=lines, record=reminded)
        earlier = [(each.question, "") for each in conversation.turns[:place]]
        messages = messages_of(earlier, question, conversation.language)
        sizes.append(sum(estimated_tokens(message.content) for message in messages) + place * answer)
    return sizes
