"""What a run would take: calls, tokens and dollars, before anything is paid."""

from __future__ import annotations

from collections import Counter

from msgspec import structs

from hallumeter.aspects.agents.by_name import AgentSettings, agent_named
from hallumeter.aspects.agents.language_model import Prompts, read_prompts
from hallumeter.aspects.agents.protocol import Agent, AgentReply, AgentTask, Role, user_message
from hallumeter.models.by_name import provider_spec
from hallumeter.models.prices import estimated_tokens
from hallumeter.run.paced_models import price_for
from hallumeter.run.place import is_finished, opened_journal
from hallumeter.run.plan import PlannedCalls, RunPlan
from hallumeter.run.run_folder import JOURNAL

from .asking import calls_by_record
from .experiment import OFFLINE, Experiment
from .identity import languages_of
from .pipeline import Prepared, prepared
from .roles import is_model
from .sentence import recalled
from .trace import ROLES, TraceLine

TOKENS_OF_AN_ANSWER = 220
"""As an agent writes for a sentence with two aspects."""
SENTENCES_TRIED = 40
"""Sentences that offline agents read, to see how long prompts become; the others are taken to be alike."""


def plan_experiment(experiment: Experiment, *, is_strict: bool = False) -> RunPlan:
    """Go through an experiment without asking anybody; what an earlier run has answered counts as done."""
    ready = prepared(experiment, is_strict=is_strict)
    return plan_of(ready, _answered(ready))


def plan_of(ready: Prepared, answered: Counter[Role]) -> RunPlan:
    """What is left to ask, given how many questions of each role have an answer."""
    experiment = ready.experiment
    # Everything as in the run, with offline agents in the place of all others.
    settings = AgentSettings(languages=languages_of(ready.inputs))
    stand_in = _StandIn(agent_named(OFFLINE, settings), read_prompts(ready.experiment.pipeline.prompts))
    roles = structs.replace(ready.roles, agents=dict.fromkeys(ROLES, stand_in))
    plain = structs.replace(ready.experiment.pipeline, aux_hf_enabled=False)
    setup = structs.replace(ready, experiment=structs.replace(ready.experiment, pipeline=plain)).setup(roles)
    # The calls of some sentences, spread over the input.
    step = max(1, len(setup.records) // SENTENCES_TRIED)
    recall = recalled({})
    tried = [setup.pipeline.read(setup.passage(record), recall).lines for record in setup.records[::step]]
    scale = len(setup.records) / max(1, len(tried))
    models = tuple(
        _planned(name, tried, answered, scale=scale, experiment=experiment)
        for name in dict.fromkeys(experiment.models.values())
    )
    seeds = f", {len(experiment.seeds):,} seeds" if len(experiment.seeds) > 1 else ""
    heading = f"{ready.run_id}: {len(ready.inputs.sentences):,} sentences{seeds}"
    return RunPlan(heading, models, ready.inputs.notices)


class _StandIn:
    """The offline agent in the place of a language model; it notes how long the prompt would be."""

    def __init__(self, agent: Agent, prompts: Prompts) -> None:
        self._agent = agent
        self._prompts = prompts

    @property
    def spec(self) -> str:
        return self._agent.spec

    def answer(self, task: AgentTask) -> AgentReply:
        prompt = estimated_tokens(self._prompts.system(task.role, task.language)) + estimated_tokens(user_message(task))
        reply = self._agent.answer(task)
        return structs.replace(reply, usage=structs.replace(reply.usage, tokens_in=prompt))


def _answered(ready: Prepared) -> Counter[Role]:
    """How many questions of each role have an answer."""
    counted: Counter[Role] = Counter()
    if is_finished(ready.folder):
        counted.update(dict.fromkeys(ROLES, len(ready.inputs.sentences) * len(ready.experiment.seeds)))
    elif (ready.folder / JOURNAL).exists():
        with opened_journal(ready.folder, ready.identity) as journal:
            for known in calls_by_record(journal).values():
                counted.update(known.keys())
    return counted


def _planned(
    name: str, tried: list[tuple[TraceLine, ...]], answered: Counter[Role], *, scale: float, experiment: Experiment
) -> PlannedCalls:
    roles = tuple(role for role, other in experiment.models.items() if other == name)
    lines = [line for sentence in tried for line in sentence if line.role in roles]
    all_calls = round(len(lines) * scale)
    done = min(all_calls, sum(answered[role] for role in roles))
    calls = all_calls - done
    share = calls / all_calls if all_calls else 0.0
    read = sum(line.usage.tokens_in or 0 for line in lines) * scale * share
    written = calls * min(experiment.pipeline.max_tokens, TOKENS_OF_AN_ANSWER)
    asks_model = is_model(name)
    return PlannedCalls(
        name=name,
        title=f"{name} ({', '.join(roles)})",
        calls=calls,
        answered=done,
        done=f"estimated; {done:,} questions are answered already",
        input_tokens=round(read) if asks_model else None,
        output_tokens=written if asks_model else None,
        price=price_for(provider_spec(name), experiment.prices) if asks_model else None,
        free="reads by rules; no call is paid" if name == OFFLINE else None,
    )
