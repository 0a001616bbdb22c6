"""Write the pages that are made from the package: one per metric, their index, the commands, the public names.

    python docs/generate.py            write them
    python docs/generate.py --check    write nothing; exit with 1 when a page is not current

The pages are kept in the repository, so that they can be read and linked there. `tests/test_generated_docs.py` checks
that they are current.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
import sys
import tempfile
import textwrap
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import hallumeter
from hallumeter.aspects.aggregate.pipeline import aggregate
from hallumeter.aspects.aggregate.tables import column_of
from hallumeter.aspects.catalog import (
    ASPECT_BLAME_METRICS,
    CASE_METRICS,
    GROUNDING_METRICS,
    STAGE_METRICS,
    TUPLE_METRICS,
)
from hallumeter.aspects.score.scorecards import scorecard_of
from hallumeter.claims.catalog import (
    ABSTENTION_METRICS,
    AGREEMENT_METRICS,
    CLAIM_METRICS,
    CONSENSUS_METRICS,
    EXPECTED_METRICS,
    SAMPLE_METRICS,
    UNCERTAINTY_METRICS,
)
from hallumeter.cli.main import main as command_line
from hallumeter.compat.absa import aggregate_single_run
from hallumeter.dialogue.catalog import CLINICAL_METRICS
from hallumeter.report.catalog import metric_facts
from hallumeter.transcripts.catalog import ANCHORING_METRICS, READING_METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hallumeter.records.measurement import MetricSummary
    from hallumeter.records.metric import Metric

DOCS = Path(__file__).parent
NOTE = "<!-- Written by docs/generate.py: change the package, then run it. -->"
HELP_WIDTH = TEXT_WIDTH = 84
"""Columns that a page of the site has room for."""

FAMILIES = {
    "Claims": ("How much of what was said does the evidence not support?", (*CLAIM_METRICS, *EXPECTED_METRICS)),
    "Consensus": ("Do models that answer the same question say the same?", CONSENSUS_METRICS),
    "Agreement": ("Do judges of the same claims give the same verdicts?", AGREEMENT_METRICS),
    "Uncertainty": ("How sure are judges, and answers, of themselves?", UNCERTAINTY_METRICS),
    "Samples": ("Does a model stand by what it said, and how sure was it of its words?", SAMPLE_METRICS),
    "Abstention": ("Is what cannot be answered refused, and what can be answered not?", ABSTENTION_METRICS),
    "Transcripts: by alignment": (
        "What did an engine invent, repeat, leave out and misread, word by word?",
        READING_METRICS,
    ),
    "Transcripts: Picarones' vocabulary metrics": (
        "Is what an engine wrote made of the words and phrases of the page?",
        ANCHORING_METRICS,
    ),
    "Clinical dialogues": (
        "What does an answer about a patient invent, risk, use, contradict and leave out?",
        CLINICAL_METRICS,
    ),
    "Aspects: grounding": (
        "Do the aspects of a sentence stand in it, and where they are said to stand?",
        GROUNDING_METRICS,
    ),
    "Aspects: stages": (
        "What do validators, debates and second stages see, change and ignore?",
        STAGE_METRICS,
    ),
    "Aspects: results": (
        "How well does what agents say fit gold, and what does it take?",
        TUPLE_METRICS,
    ),
    "Aspects: repeated runs": ("Do agents say the same again?", CASE_METRICS),
    "Aspects: blame": (
        "Which step introduced, saw, repaired or broke what?",
        ASPECT_BLAME_METRICS,
    ),
}

SAMPLES = {
    "labels": ("rag_answers.jsonl",),
    "support": ("triplets.jsonl",),
    "ratings": ("rag_answers.jsonl", "panel.jsonl"),
}
"""The bundled files in which each kind of metric finds what it reads."""

ROWS: dict[str, tuple[str, list[dict[str, object]]]] = {
    "distributions": (
        "unsure.jsonl",
        [
            {
                "record_id": "r1",
                "claim_id": "c1",
                "label": "SUPPORTED",
                "probabilities": [0.5, 0.5, 0],
                "inference_samples": [[0.9, 0.1, 0], [0.1, 0.9, 0]],
            }
        ],
    ),
    "probabilities": (
        "probable.jsonl",
        [
            {"record_id": "r1", "claim_id": "c1", "label": "SUPPORTED", "unsupported_probability": 0.1},
            {"record_id": "r1", "claim_id": "c2", "label": "SUPPORTED", "unsupported_probability": 0.2},
            {"record_id": "r2", "claim_id": "c1", "label": "NOT_ENOUGH_INFO", "unsupported_probability": 0.9},
        ],
    ),
    "answers": (
        "questions.jsonl",
        [
            {"record_id": "q1", "response": "X was a painter.", "answerable": False},
            {"record_id": "q2", "response": "I don't know about Y.", "answerable": False},
            {"record_id": "q3", "response": "Marie Curie discovered polonium.", "answerable": True},
            {"record_id": "q4", "response": "Lise Meitner was a physicist.", "answerable": True},
            {"record_id": "q5", "response": "I have no information about her.", "answerable": True},
        ],
    ),
}
"""Rows for what no bundled file has, and the name of the file that a page writes them to."""

KING = "le roi de france"
KING_AND_MORE = f"{KING} et de navarre et des indes"
TRANSCRIPTS: dict[str, list[tuple[str, str]]] = {
    "cer": [("roi", "roy!")],
    "cer_mean": [("le roi", "le roi"), ("ab", "ax")],
    "cer_gini": [("ab", "ab"), ("ab", "ab"), ("ab", "ab"), ("ab", "xy")],
    "wer": [(KING, "le roy de")],
    "mer": [("d a b s", "a b t w x y z")],
    "wil": [("a b c d", "a b c x y z")],
    "true_insertion_rate": [("a b c d", "a b c d a b c d")],
    "invented_rate": [(KING, KING_AND_MORE)],
    "loop_rate": [("le roi dit", "le roi dit le roi dit le roi dit")],
    "omission_rate": [(KING, "le roi")],
    "multiset_insertion_rate": [("a b", "a a a b x")],
    "number_insertion_rate": [("12 May 1890", "12 May 1980")],
    "name_insertion_rate": [("he met Anna", "he met Anna and Paul")],
    "hallucinating_page_rate": [(KING, KING), (KING, ""), (KING, KING_AND_MORE)],
    "empty_output_rate": [(KING, KING), (KING, ""), (KING, KING_AND_MORE)],
    "refusal_page_rate": [(KING, KING), (KING, "I cannot read this image.")],
    "apology_page_rate": [(KING, KING), (KING, "I am sorry, I cannot read this image.")],
    "wrapper_page_rate": [(KING, KING), (KING, f"Here is the transcription: {KING}")],
    "note_page_rate": [(KING, KING), (KING, f"{KING} [illegible]")],
    "description_page_rate": [(KING, KING), (KING, "The image shows a letter of 1850.")],
    "picarones_page_rate": [(KING, KING), (KING, f"{KING} {KING}"), (KING, "")],
    "net_insertion_rate": [(KING, "le roi, de france.")],
    "net_insertion_mean": [(KING, "le roi, de france."), (KING, KING)],
    "anchor_rate": [("a b c d e f", "a x b c y d e f")],
    "anchor_mean": [("a b c d", "a b c d"), ("a b c d", "a b c x")],
    "anchor_min": [("a b c d", "a b c d"), ("a b c d", "a b c x"), ("a b c", "a b c v w x y")],
    "length_ratio": [(KING, "le roi, de france.")],
    "length_ratio_mean": [("a", "a"), ("a", "abcdefghijklmnopqrstuvwxyzabcd")],
}
"""Pages and what an engine wrote for them: those of the example by hand."""

SAMPLED: tuple[dict[str, object], ...] = (
    {
        "id": "r1",
        "response": "It opened in 1889.",
        "evidence": "It opened in 1889.",
        "samples": ["It opened in 1889.", "Nobody knows when."],
        "token_logprobs": [-0.5, -1.5],
    },
)
"""A record whose samples are compared, and whose tokens have probabilities."""

SPOKEN: tuple[dict[str, object], ...] = (
    {
        "patient_id": "p1",
        "turn_id": 1,
        "question": "I am 67 years old. I have type 2 diabetes and I take metformin.",
        "answer": "You are 67 years old with type 2 diabetes, and you are currently taking metformin and warfarin.",
    },
    {
        "patient_id": "p1",
        "turn_id": 3,
        "question": "How should I exercise?",
        "answer": "Walk 30 minutes, five days a week. You are 76 years old and not taking metformin; a beer is fine.",
    },
)
"""Two answers about one patient."""
FACTS: dict[str, object] = {"age": 67, "primary_condition": "Type 2 diabetes mellitus", "key_meds": ["Metformin"]}

READ = """\
from hallumeter.compat.absa import aggregate_single_run, make_scorecard
def output(text, aspects, sentiments, label):
    stage1 = {"ate": {"aspects": aspects}, "atsa": {"aspect_sentiments": sentiments}}
    return {"text_id": text, "input_text": text, "stage1": stage1, "final_result": {"label": label}}

staff, view = {"term": "staff", "span": [4, 9]}, {"term": "view", "span": [7, 11]}
bill = {"term": "bill", "span": [0, 4]}  # it is not in the text
kind = {"aspect_term": staff, "polarity": "positive", "evidence": "kind"}
high = {"aspect_term": bill, "polarity": "negative", "evidence": "too high"}
lovely = {"aspect_term": view, "polarity": "positive", "evidence": "Lovely"}
late = {"term": "soup", "span": [27, 31]}  # it begins at 26
no_target = {"term": "a", "span": [24, 25]}
outputs = [
    output("The staff was kind, but a soup came cold.", [staff, late, bill, no_target], [kind, high], "mixed"),
    output("Lovely view.", [view], [lovely], "positive"),
]
scorecards = [make_scorecard(each) for each in outputs]
"""
"""Two sentences with aspects: among them a misplaced one, an invented one, and one that is no target."""
STAGED = """\
from hallumeter.compat.absa import aggregate_single_run
def scorecard(before, after, **delta):
    risk = {"risk_id": "NEGATION_SCOPE", "severity": "high"}
    stages = [("stage1", before), ("stage2", after)]
    validators = [{"stage": stage, "structural_risks": [risk] * number} for stage, number in stages]
    return {"validator": validators, "stage_delta": delta}

guided = scorecard(2, 1, changed=True, change_type="guided", pairs_changed=True, proposals=2, proposals_applied=1)
guided["debate"] = {
    "mapping_stats": {"direct": 2, "fallback": 1, "none": 1},
    "mapping_fail_reasons": {"no_match": 1},
    "override_stats": {"applied": 1, "skipped_conflict": 3},
}
same = scorecard(1, 0, changed=False, change_type="none", pairs_changed=False)
drifted = scorecard(0, 0, changed=True, change_type="unguided", pairs_changed=True)
scorecards = [guided, same, drifted]
"""
"""Three sentences of which risks, changes and a debate are known."""
COMPARED = """\
from hallumeter.compat.absa import aggregate_single_run
right = [{"aspect_term": "soup", "polarity": "negative"}, {"aspect_term": "", "polarity": "positive"}]
wrong = [{"aspect_term": "soup", "polarity": "positive"}]
def scorecard(stage1, stage2):
    result = {"stage1_tuples": stage1, "stage2_tuples": stage2, "final_tuples": stage2}
    return {"inputs": {"gold_tuples": right}, "runtime": {"parsed_output": {"final_result": result}}}

scorecards = [scorecard(wrong, right), scorecard(right, right), scorecard(right, wrong)]
scorecards[0]["debate"] = {"override_stats": {"applied": 1}}
"""
"""Three sentences with gold: one that stage 2 puts right, one that stays right, one that it puts wrong."""
REPEATED = """\
from hallumeter.compat.absa import aggregate_single_run
def scorecard(text_id, seed, label):
    result = {"label": label, "final_tuples": [{"aspect_term": "soup", "polarity": label}]}
    runtime = {"seed": seed, "parsed_output": {"final_result": result}}
    return {"meta": {"text_id": text_id}, "runtime": runtime, "validator": [{"stage": "stage1"}]}

runs = [("s1", 1, "positive"), ("s1", 2, "positive"), ("s2", 1, "positive"), ("s2", 2, "negative")]
scorecards = [scorecard(*run) for run in runs]
"""
"""Two sentences in two runs, one of which gets another label."""
SPENT = """\
from hallumeter.compat.absa import aggregate_single_run
def scorecard(milliseconds, gate, **runtime):
    disagrees = {"stage1_final": gate == "PASS"}
    latency = {"total_ms": milliseconds, "gate_status": gate}
    return {"latency": latency, "runtime": runtime, "aux_signals": {"hf": {"disagrees_with": disagrees}}}

cheap = {"tokens_in": 800, "tokens_out": 100, "cost_usd": 0.002}
dear = {"tokens_in": 1000, "tokens_out": 100, "cost_usd": 0.004}
scorecards = [
    scorecard(1200, "PASS", polarities_repaired=1, polarities_invalid=0, **cheap),
    scorecard(40000, "WARN", polarities_repaired=0, polarities_invalid=2, **dear),
    {"flags": {"generate_failed": True}},
]
scorecards[0]["validator"] = [{"stage": "stage1", "structural_risks": [{"risk_id": "OTHER"}]}]
"""
"""Two sentences of which effort and an auxiliary classifier are known, and one that failed."""
BLAMED = """\
import msgspec
from hallumeter.aspects.blame.tables import blame_table
from hallumeter.aspects.records.outputs import PipelineOutput
def battery(**more):
    return {"term": "battery", "span": {"start": 4, "end": 11}, **more}

stated = [battery(has_sentiment=False), {"term": "screen", "has_sentiment": False}]
felt = [battery(polarity="positive"), {"term": "screen", "polarity": "negative"}]
proposal = {"target_aspect": "screen", "proposal_type": "DROP_ASPECT"}
output = {
    "text_id": "s1",
    "input_text": "The battery is great.",
    "gold_tuples": [{"aspect_term": "battery", "polarity": "positive"}],
    "stage1": {"validator": {"correction_proposals": [proposal]}},
    "states": [
        {"step": "ate", "aspects": stated},
        {"step": "atsa", "aspects": felt},
        {"step": "validator_proposals", "aspects": [battery(polarity="positive")]},
        {"step": "debate_override", "aspects": [battery(polarity="negative")]},
    ],
    "final_result": {"label": "negative", "confidence": 0.8},
}
rows = blame_table([msgspec.convert(output, PipelineOutput)]).rows
"""
"""A sentence with an invented aspect that the validator gets dropped, and a polarity that the debate spoils."""
BLAME_PLACES = {
    "step_introduction_rate": ("ate", "ungrounded"),
    "step_detection_rate": ("validator", "ungrounded"),
    "step_false_alarm_rate": ("validator", "polarity"),
    "step_repair_rate": ("validator_proposals", "ungrounded"),
    "step_regression_rate": ("debate_override", "polarity"),
}
"""The step and the kind of error whose rate a page shows."""

CONSTANTS = {"METRICS": "Every metric of the catalog, as a tuple; [Metrics](../metrics/index.md) lists them."}


def pages() -> dict[Path, str]:
    """Every generated page by its place under docs/."""
    found = {Path("metrics/index.md"): metrics_index()}
    found |= {Path(f"metrics/{metric.id}.md"): metric_page(metric) for metric in hallumeter.METRICS}
    return found | {Path("reference/commands.md"): commands_page(), Path("reference/python.md"): python_page()}


def metrics_index() -> str:
    """The metrics by family."""
    lines = [NOTE, "# Metrics", ""]
    lines += ["↑ higher is better, ↓ lower is better. `hallumeter metrics ID` tells the same in a terminal.", ""]
    for family, (question, metrics) in FAMILIES.items():
        lines += [f"## {family}", "", question, "", "| metric | id | question |", "| --- | --- | --- |"]
        for metric in metrics:
            arrow = {"lower": " ↓", "higher": " ↑", "none": ""}[metric.direction]
            lines.append(f"| [{metric.alias}]({metric.id}.md){arrow} | `{metric.id}` | {metric.question} |")
        lines.append("")
    return "\n".join(lines)


def metric_page(metric: Metric) -> str:
    """Everything about one metric, and how to get it."""
    facts = metric_facts(metric)
    lines = [NOTE, f"# {metric.alias}", "", f"`{metric.id}`: {metric.name}.", ""]
    for title, text in facts.items():
        shown = _linked(f"When {text.removeprefix('when ')}." if title == "Undefined" else text, metric.id)
        if title == "Formula":
            shown = f"```text\n{textwrap.fill(text, TEXT_WIDTH)}\n```"
        lines += [f"## {title}", "", shown, ""]
    if metric.reads == "pages":
        return "\n".join([*lines, "## In Python", "", how_to_compare(metric)])
    if metric.reads == "turns":
        return "\n".join([*lines, "## In Python", "", how_to_talk(metric)])
    if metric.reads in {"aspects", "aspect_cases"}:
        return "\n".join([*lines, "## In Python", "", how_to_aggregate(metric)])
    if metric.reads == "blame":
        return "\n".join([*lines, "## In Python", "", how_to_blame(metric)])
    if metric.reads in {"meanings", "token_logprobs"}:
        return "\n".join([*lines, "## In Python", "", how_to_sample(metric)])
    return "\n".join([*lines, "## On the command line", "", how_to_measure(metric)])


def how_to_measure(metric: Metric) -> str:
    """A command that prints the metric, what it prints, and the signature."""
    prepared = ""
    if metric.reads in ROWS:
        name, rows = ROWS[metric.reads]
        prepared = _written_rows(name, rows)
        names: tuple[str, ...] = (name,)
    else:
        names = SAMPLES[metric.reads]
    found = _measured(metric, names)
    asked = "--verbose --model-consensus" if metric.reads == "support" else "--verbose"
    lines = [f"{prepared}```console", f"$ hallumeter measure {' '.join(names)} {asked}", "```", ""]
    lines += ["prints among others:", "", "| judge | value | counts |", "| --- | ---: | ---: |"]
    lines += [f"| {row.judge or '–'} | {row.value:.3f} | {_counts(row)} |" for row in found]
    signature = re.sub(r"\|v:.*", "|v:VERSION", found[0].signature)
    lines += ["", "Its [signature](../explanation/reproducibility.md), with the version in place of `VERSION`:", ""]
    return "\n".join([*lines, "```text", signature, "```", ""])


def how_to_compare(metric: Metric) -> str:
    """The example by hand in Python, what it gives, and the signature."""
    given = TRANSCRIPTS[metric.id]
    found = {row.metric: row for row in hallumeter.transcripts(given).summary.metrics if not row.by}[metric.id]
    assert found.value is not None, f"{metric.id} is undefined for its example"
    lines = ["```pycon", ">>> import hallumeter", ">>> pages = ["]
    lines += [f"...     ({json.dumps(reference)}, {json.dumps(response)})," for reference, response in given]
    lines += ["... ]", ">>> run = hallumeter.transcripts(pages)"]
    lines += [">>> values = {row.metric: row.value for row in run.summary.metrics}"]
    lines += [f">>> round(values[{json.dumps(metric.id)}], 3)", f"{round(found.value, 3)}", "```", ""]
    lines += [
        "`hallumeter transcripts TRUTH ENGINE... --format json` prints it for every engine, with its interval.",
        "",
    ]
    lines += ["Its [signature](../explanation/reproducibility.md), with the version in place of `VERSION`:", ""]
    return "\n".join([*lines, "```text", re.sub(r"\|v:.*", "|v:VERSION", found.signature), "```", ""])


def how_to_sample(metric: Metric) -> str:
    """An audit of a record with samples, what it gives, and the signature."""
    settings = hallumeter.AuditSettings(samples="rules")
    found = {row.metric: row for row in hallumeter.audit(SAMPLED, settings=settings).summary.metrics}[metric.id]
    assert found.value is not None, f"{metric.id} is undefined for its example"
    lines = ["```pycon", ">>> import hallumeter", ">>> record = {"]
    lines += [f"...     {json.dumps(name)}: {json.dumps(value)}," for name, value in SAMPLED[0].items()]
    lines += ["... }", '>>> settings = hallumeter.AuditSettings(samples="rules")']
    lines += [">>> run = hallumeter.audit([record], settings=settings)"]
    lines += [">>> values = {row.metric: row.value for row in run.summary.metrics}"]
    lines += [f">>> round(values[{json.dumps(metric.id)}], 3)", f"{round(found.value, 3)}", "```", ""]
    lines += ["`hallumeter audit FILE --samples` prints it, with its interval.", ""]
    lines += ["Its [signature](../explanation/reproducibility.md), with the version in place of `VERSION`:", ""]
    return "\n".join([*lines, "```text", re.sub(r"\|v:.*", "|v:VERSION", found.signature), "```", ""])


def how_to_talk(metric: Metric) -> str:
    """A measurement of two answers, what it gives, and the signature."""
    run = hallumeter.dialogue([{**event, "slots_truth": FACTS} for event in SPOKEN])
    found = {row.metric: row for row in run.summary.metrics if not row.by}[metric.id]
    assert found.value is not None, f"{metric.id} is undefined for its example"
    lines = ["```pycon", ">>> import hallumeter", f">>> facts = {json.dumps(FACTS)}", ">>> events = ["]
    for event in SPOKEN:
        lines += ["...     {", '...         "slots_truth": facts,']
        lines += [f"...         {json.dumps(name)}: {json.dumps(value)}," for name, value in event.items()]
        lines += ["...     },"]
    lines += ["... ]", ">>> run = hallumeter.dialogue(events)"]
    lines += [">>> values = {row.metric: row.value for row in run.summary.metrics if not row.by}"]
    lines += [f">>> round(values[{json.dumps(metric.id)}], 3)", f"{round(found.value, 3)}", "```", ""]
    lines += ["`hallumeter dialogue measure EVENTS` prints it by mode and by turn, with its interval.", ""]
    lines += ["Its [signature](../explanation/reproducibility.md), with the version in place of `VERSION`:", ""]
    signature = re.sub(r"\|v:.*", "|v:VERSION", re.sub(r"reader:[^|]*", "reader:LEXICON", found.signature))
    return "\n".join([*lines, "```text", signature, "```", ""])


def how_to_aggregate(metric: Metric) -> str:
    """A few scorecards, what they come to, and the signature."""
    code = _example(metric)
    cards = _executed(code)["scorecards"]
    name = column_of(metric.id)
    value = aggregate_single_run(cards)[name]
    assert value is not None, f"{metric.id} is undefined for its example"
    rows = {row.metric: row for row in aggregate(map(scorecard_of, cards)).summary.metrics if not row.by}
    lines = ["```pycon", *_session(code)]
    lines += [f'>>> round(aggregate_single_run(scorecards)["{name}"], 3)', f"{round(value, 3)}", "```", ""]
    lines += ["`hallumeter aspects aggregate SCORECARDS` prints it for all runs and for each, with its interval.", ""]
    lines += ["Its [signature](../explanation/reproducibility.md), with the version in place of `VERSION`:", ""]
    return "\n".join([*lines, "```text", re.sub(r"\|v:.*", "|v:VERSION", rows[metric.id].signature), "```", ""])


def _example(metric: Metric) -> str:
    """The scorecards that show a metric."""
    for metrics, code in (
        (GROUNDING_METRICS, READ),
        (STAGE_METRICS, STAGED),
        (CASE_METRICS, REPEATED),
    ):
        if metric in metrics:
            return code
    is_compared = aggregate_single_run(_executed(COMPARED)["scorecards"])[column_of(metric.id)] is not None
    return COMPARED if is_compared and metric.id != "parse_generate_failure_rate" else SPENT


@cache
def _executed(code: str) -> dict[str, Any]:
    """The names that a piece of code gives."""
    names: dict[str, Any] = {}
    exec(code, names)
    return names


def _session(code: str) -> Iterator[str]:
    """A piece of code as a session shows it: what continues a statement, or a function, stands after dots."""
    for statement in ast.parse(code).body:
        first, *rest = code.splitlines()[statement.lineno - 1 : statement.end_lineno]
        yield f">>> {first}"
        yield from (f"... {line}".rstrip() for line in rest)


def how_to_blame(metric: Metric) -> str:
    """A sentence with two errors, who is to blame for them, and the signature."""
    step, error = BLAME_PLACES[metric.id]
    rows = {(row.metric, row.by["step"], row.by["error"]): row for row in _executed(BLAMED)["rows"]}
    found = rows[metric.id, step, error]
    assert found.value is not None, f"{metric.id} is undefined for its example"
    lines = ["```pycon", *_session(BLAMED)]
    lines += [f'>>> found = [row for row in rows if row.metric == "{metric.id}"]']
    lines += [f'>>> [row.value for row in found if row.by == {{"step": "{step}", "error": "{error}"}}]']
    lines += [f"[{found.value}]", "```", ""]
    lines += [
        "`hallumeter aspects run` writes it for every step and kind of error, with its interval, to blame.csv.",
        "",
    ]
    lines += ["Its [signature](../explanation/reproducibility.md), with the version in place of `VERSION`:", ""]
    return "\n".join([*lines, "```text", re.sub(r"\|v:.*", "|v:VERSION", found.signature), "```", ""])


def commands_page() -> str:
    """The help pages of all commands."""
    lines = [NOTE, "# Commands", ""]
    codes = "0 fine; 2 the command, a file or a setting cannot be used, said in one line; 3 not measured to the end"
    lines += [f"Exit codes: {codes}.", ""]
    for name, command in _commands(command_line, "hallumeter"):
        context = click.Context(command, info_name=name, max_content_width=HELP_WIDTH, terminal_width=HELP_WIDTH)
        context.help_option_names = ["-h", "--help"]
        lines += [f"## {name}", "", "```text", command.get_help(context), "```", ""]
    return "\n".join(lines)


def python_page() -> str:
    """The public names, functions first."""
    groups: dict[str, list[str]] = {"Functions": [], "Records and results": [], "Errors": [], "Constants": []}
    for name in hallumeter.__all__:
        groups[_group_of(getattr(hallumeter, name))].append(name)
    lines = [NOTE, "# Python", "", "Everything below is in `hallumeter` itself; all else may change.", ""]
    for title, names in groups.items():
        lines += [f"## {title}", ""]
        for name in names:
            lines += [f"### {name}", "", *_described(name, getattr(hallumeter, name))]
    return "\n".join(lines)


def _linked(text: str, own: str) -> str:
    """A text in which the ids of other metrics lead to their pages; `far` is also a word and stays one."""
    ids = {metric.id for metric in hallumeter.METRICS} - {own, "far"}
    return re.sub(r"\b[a-z_0-9]+\b", lambda word: f"[{word[0]}]({word[0]}.md)" if word[0] in ids else word[0], text)


def _written_rows(name: str, rows: Iterable[dict[str, object]]) -> str:
    """A block of code that writes rows to a file."""
    content = "\n".join(json.dumps(row) for row in rows)
    write = f'Path("{name}").write_text(rows, encoding="utf-8")'
    return f'```python\nfrom pathlib import Path\n\nrows = """\\\n{content}\n"""\n{write}\n```\n\n'


def _measured(metric: Metric, names: tuple[str, ...]) -> list[MetricSummary]:
    """The rows of a metric over all responses of the named files."""
    if metric.reads in ROWS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / names[0]
            path.write_text("\n".join(map(json.dumps, ROWS[metric.reads][1])), encoding="utf-8")
            summary = hallumeter.measure(path)
    else:
        with as_file(files("hallumeter") / "samples") as samples:
            summary = hallumeter.measure([samples / name for name in names])
    return [row for row in summary.metrics if row.metric == metric.id and not row.by]


def _counts(row: MetricSummary) -> str:
    if row.count is not None:
        return f"{row.count:,.4g} / {row.total:,g}"
    return "" if row.total is None else f"{row.total:,g} claims"


def _commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """A command, and all below it."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None, f"{name} lists {below} and does not have it"
            yield from _commands(found, f"{name} {below}")


def _group_of(item: object) -> str:
    if inspect.isclass(item):
        return "Errors" if issubclass(item, Exception) else "Records and results"
    return "Functions" if inspect.isfunction(item) else "Constants"


def _described(name: str, item: object) -> list[str]:
    """Signature, first sentence, fields and methods, read off the source so that types stay as written there."""
    if name in CONSTANTS:
        return [CONSTANTS[name], ""]
    assert inspect.isclass(item) or inspect.isfunction(item), f"{name} needs a line in CONSTANTS"
    node = ast.parse(textwrap.dedent(inspect.getsource(item))).body[0]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [f"```text\n{_signature(node)}\n```", "", _first_sentence(node), ""]
    assert isinstance(node, ast.ClassDef), f"{name} is neither a function nor a class"
    entries = [*_fields(node), *_methods(node)]
    table = ["| name | type | what it is |", "| --- | --- | --- |", *entries, ""] if entries else []
    return [_first_sentence(node), "", *table]


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Name, parameters and result; a parameter to a line when they do not fit on one."""
    parameters = _parameters(node.args)
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    name = f"async {node.name}" if isinstance(node, ast.AsyncFunctionDef) else node.name
    one_line = f"{name}({', '.join(parameters)}){result}"
    if len(one_line) <= TEXT_WIDTH:
        return one_line
    return "\n".join([f"{name}(", *(f"    {parameter}," for parameter in parameters), f"){result}"])


def _parameters(arguments: ast.arguments) -> list[str]:
    """Every parameter as it is written in the source; the public names have no other kinds than these."""
    defaults: list[ast.expr | None] = [None] * (len(arguments.args) - len(arguments.defaults))
    positional = zip(arguments.args, [*defaults, *arguments.defaults], strict=True)
    by_name = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    shown = [_parameter(*pair) for pair in positional]
    further = [f"**{ast.unparse(arguments.kwarg)}"] if arguments.kwarg else []
    named = ["*", *(_parameter(*pair) for pair in by_name)] if arguments.kwonlyargs else []
    return [*shown, *named, *further]


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(argument) + (f" = {ast.unparse(default)}" if default else "")


def _first_sentence(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    paragraph = (ast.get_docstring(node) or "").partition("\n\n")[0]
    return " ".join(paragraph.split())


def _fields(node: ast.ClassDef) -> Iterator[str]:
    """One line per field or member: name, type with its default, and the text under it."""
    for statement, following in zip(node.body, [*node.body[1:], None], strict=True):
        is_text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        told = str(following.value.value) if is_text else ""  # type: ignore[union-attr]
        if isinstance(statement, ast.AnnAssign):
            default = f" = {ast.unparse(statement.value)}" if statement.value else ""
            default = default.replace("field(default_factory=dict)", "{}")
            yield _entry(ast.unparse(statement.target), f"{ast.unparse(statement.annotation)}{default}", told)
        elif isinstance(statement, ast.Assign):
            yield _entry(ast.unparse(statement.targets[0]), ast.unparse(statement.value), told)


def _methods(node: ast.ClassDef) -> Iterator[str]:
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
            returned = ast.unparse(method.returns) if method.returns else ""
            arguments = "" if method.decorator_list else f"({', '.join(_parameters(method.args)[1:])})"
            yield _entry(f"{method.name}{arguments}", returned, _first_sentence(method))


def _entry(name: str, kind: str, told: str) -> str:
    cells = (f"`{name}`", f"`{kind}`", " ".join(told.replace("``", "`").split()))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def main() -> int:
    """Write the pages, or tell which are not current."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a page is not current")
    is_check = parser.parse_args().check
    wanted = {DOCS / place: text for place, text in pages().items()}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        sys.stdout.write(f"{'not current' if is_check else 'written'}: {path.relative_to(DOCS.parent)}\n")
        if not is_check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
    return int(is_check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
