"""Run Inspect with its mock model and keep its logs: `python inspect_logs.py FOLDER`, with inspect-ai installed."""

import sys
from pathlib import Path

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Target, mean, model_graded_fact, scorer, stderr
from inspect_ai.solver import Generate, TaskState, solver
from questions import ANSWERS, EVIDENCE, QUESTION

GRADES = {
    "supported": "The answer agrees.\nGRADE: C",
    "refuted": "The length differs.\nGRADE: I",
    "empty": "There is nothing to grade.\nGRADE: I",
    "greeting": "It does not answer.\nGRADE: I",
    "unparsable": "I would rather not say.",
}


@solver
def answering():
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.sample_id == "broken":
            raise RuntimeError("the model's server went away")
        state.output = ModelOutput.from_content("mockllm/model", ANSWERS[str(state.sample_id)])
        state.messages.append(state.output.message)
        return state

    return solve


@scorer(metrics=[mean(), stderr()])
def overlap():
    async def score(state: TaskState, target: Target) -> Score:
        words = set(state.output.completion.split())
        return Score(value=float("nan") if not words else len(words & set(EVIDENCE.split())) / len(words))

    return score


@scorer(metrics={"faithful": [mean()], "complete": [mean()]})
def two_sided():
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value={"faithful": float("777" in state.output.completion), "complete": 0.5})

    return score


def reply(model: str, text: str) -> ModelOutput:
    """With its usage: counting tokens would download a table."""
    output = ModelOutput.from_content(model, text)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def shorten(location: str, path: Path) -> None:
    """Write the log once more without events and tracebacks, which name folders of this machine."""
    log = read_eval_log(location)
    log.eval.scorers = None
    for sample in log.samples or []:
        sample.events, sample.attachments = [], {}
        if sample.error is not None:
            sample.error.traceback = sample.error.traceback_ansi = ""
    write_eval_log(log, str(path))


def main(folder: Path) -> None:
    samples = [
        Sample(input=QUESTION, target=ANSWERS["supported"], id=name, metadata={"context": EVIDENCE, "case": name})
        for name in ANSWERS
    ]
    for form in ("eval", "json"):
        replies = [reply("mockllm/grader", GRADES[name]) for name in ANSWERS if name in GRADES]
        grader = get_model("mockllm/grader", custom_outputs=replies)
        task = Task(
            name="rivers",
            dataset=samples,
            solver=answering(),
            scorer=[model_graded_fact(model=grader), overlap(), two_sided()],
        )
        [log] = evaluate(
            task,
            model="mockllm/model",
            log_dir=str(folder / "logs"),
            log_format=form,
            max_samples=1,
            max_connections=1,
            fail_on_error=False,
            display="none",
        )
        shorten(log.location, folder / f"inspect.{form}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
