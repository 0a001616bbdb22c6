"""Evaluate the judge on what was held back from it, and print the tables of its model card."""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from hallumeter.claims.judges.embedded.model_files import FILES, FOLDER, LIST, Model, Tier
from hallumeter.records.claim import Label
from hallumeter.records.response import Passage

from .baselines import baseline_table
from .decisions import HeldBack
from .examples import Example
from .folds import FOLDS, HALVES, fold_of, half_of, some_of
from .judged import Judged, all_judged, judged
from .other_languages import read_korean
from .presets import preset_table
from .readers import TO_CHOOSE_BY, read_all
from .readings import passages_of
from .scores import (
    Figure,
    Outcome,
    auroc,
    character_f1,
    f1,
    outcome_of,
    pair_accuracy,
    precision,
    recall,
    said_over_true,
    with_interval,
)
from .sentences import decile_table, rate_table, reason_table, sentences_of

GROUPS = {
    "ragtruth:qa": "QA: RAGTruth",
    "quintd1/gsmarena:data": "data: Quintd-1 phones",
    "quintd1/openweather:data": "data: Quintd-1 weather",
    "quintd1/wikidata:data": "data: Quintd-1 entities",
    "d2t_eval/gsmarena:data": "data: D2T-Eval phones",
    "d2t_eval/openweather:data": "data: D2T-Eval weather",
    "d2t_eval/football:data": "data: D2T-Eval football",
    "written/business:data": "data: written overviews",
    "ragtruth:summary": "summary: RAGTruth",
    "defacto:summary": "summary: DeFacto and its corrections",
    "summedits/ectsum:summary": "summary: SummEdits earnings calls",
    "summedits/sales_call:summary": "summary: SummEdits sales calls",
    "summedits/sales_email:summary": "summary: SummEdits sales e-mails",
    "summedits/scitldr:summary": "summary: SummEdits abstracts",
    "written/articles:summary": "summary: written summaries",
    "begin:dialogue": "dialogue: BEGIN",
    "q2_wow:dialogue": "dialogue: Q²",
    "mts_dialog:dialogue": "dialogue: notes on visits",
}
"""What is reported, by data set and task, in this order."""
KINDS = ("qa", "data", "summary", "dialogue")
_SHUFFLED = 300
"""Texts that are judged once more with the evidence of another."""


Part = tuple[int, int]
"""A half of a fold."""


def part_of(example: Example) -> Part:
    """What was held back together with an example, from the networks and trees and from how they decide."""
    return fold_of(example), half_of(example)


def group_of(example: Example) -> str | None:
    """The line of the tables to which an example belongs."""
    return GROUPS.get(f"{example.data_set}:{example.task}")


def main() -> None:
    """Judge what was held back, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m training.evaluate", description=__doc__)
    parser.add_argument("--work", type=Path, default=Path(".training"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--tiers", nargs="+", default=["fast", "full"])
    parser.add_argument("--folds", type=int, nargs="+", default=list(range(FOLDS)))
    parser.add_argument("--model", type=Path, help="one model for all folds, whatever it has seen")
    parser.add_argument("--texts", type=int, default=10**9, help="of each data set, for a quick look")
    options = parser.parse_args()
    examples = [*pickle.loads((options.work / "examples.pickle").read_bytes()), *read_all(options.data, TO_CHOOSE_BY)]
    reported = [each for each in examples if group_of(each) is not None and fold_of(each) in options.folds]
    reported = some_of(reported, options.texts)
    models = {
        (fold, half): options.model or options.work / f"model-{fold}-{half}"
        for fold in options.folds
        for half in range(HALVES)
    }
    by = options.model or "a model that has seen none of its fold and decides as it was fitted on other sources"
    print(f"{len(reported)} texts, each judged by {by}.\n")
    for tier in options.tiers:
        _print_tier(tier, reported, models)
        if options.model is None:
            _print_presets(tier, options.work, options.folds)
    print("\n".join(["## Baselines\n", *baseline_table(reported)]))
    _print_korean(options.data)


def _print_tier(tier: str, examples: Sequence[Example], models: Mapping[Part, Path]) -> None:
    said: list[Judged] = []
    began = time.monotonic()
    for part, folder in models.items():
        if (folder / FILES[tier][-1]).exists():
            said += all_judged([each for each in examples if part_of(each) == part], tier=tier, folder=folder)
    pace = len(said) / (time.monotonic() - began)
    print(f"## embedded:{tier}\n\n{len(said)} texts, {pace:.0f} a second with two processes.\n\n### Texts\n")
    print("| texts | n | with an error | AUROC | F1 | precision | recall | said / true | span F1 | pairs |")
    print("| --- | --: | --: | --- | --- | --: | --: | --: | --: | --: |")
    for name in GROUPS.values():
        chosen = [each for each in said if group_of(each.example) == name]
        if chosen:
            print(_line(name, chosen))
    for kind in KINDS:
        print(_line(f"**all of {kind}**", [each for each in said if each.example.task == kind]))
    print(_line("**all**", said))
    sentences = sentences_of(said)
    for name, lines in {
        "Sentences": rate_table(sentences),
        "Labels and reasons": reason_table(sentences),
        "Probabilities: said → observed (sentences)": decile_table(sentences),
    }.items():
        print("\n".join([f"\n### {name}\n", *lines]))
    shuffled = _with_other_evidence(said[:: max(1, len(said) // _SHUFFLED)], tier, models)
    print(f"\nWith the evidence of another text: AUROC {with_interval(auroc, shuffled)} ({len(shuffled)} texts).\n")


def _print_presets(tier: str, work: Path, folds: Sequence[int]) -> None:
    held: list[HeldBack] = []
    for fold in folds:
        held += pickle.loads((work / f"held-back-{fold}.pickle").read_bytes())
    held = [each for each in held if tier == "fast" or each.reads is not None]
    tiers = {half: _tier(work / f"model-{folds[0]}-{half}" / LIST, tier) for half in range(HALVES)}
    print(
        "\n".join(
            ["### Presets, texts weighted to the share of errors they are made for\n", *preset_table(held, tiers), ""]
        )
    )


def _tier(path: Path, name: str) -> Tier:
    return msgspec.json.decode(path.read_bytes(), type=Model).tiers[name]


def _line(name: str, said: Sequence[Judged]) -> str:
    outcomes = [outcome_of(each) for each in said]
    marked = [each for each in said if each.example.has_spans]
    cells = [
        name,
        str(len(said)),
        str(sum(each.is_unsupported for each in outcomes)),
        str(with_interval(auroc, outcomes)),
        str(with_interval(f1, outcomes)),
        str(Figure(precision(outcomes))),
        str(Figure(recall(outcomes))),
        str(Figure(said_over_true(outcomes))),
        str(Figure(character_f1(marked))),
        str(Figure(pair_accuracy(said))),
    ]
    return f"| {' | '.join(cells)} |"


def _with_other_evidence(said: Sequence[Judged], tier: str, models: Mapping[Part, Path]) -> list[Outcome]:
    """What is said with the evidence of the next text of the same task: what a judge knows without reading it."""
    outcomes = []
    for part, folder in models.items():
        chosen = [each.example for each in said if part_of(each.example) == part]
        for kind in KINDS:
            texts = [each for each in chosen if each.task == kind]
            outcomes += [
                outcome_of(judged(text, tier=tier, folder=folder, evidence=other))
                for text, other in zip(texts, _others(texts), strict=True)
            ]
    return outcomes


def _others(texts: Sequence[Example]) -> Iterable[tuple[Passage, ...]]:
    return [passages_of(each) for each in (*texts[1:], *texts[:1])]


def _print_korean(data: Path) -> None:
    print("\n## Korean\n\n| pairs | n | unsupported | undecided | AUROC | F1 | precision | recall |")
    print("| --- | --: | --: | --: | --- | --- | --: | --: |")
    pairs = list(read_korean(data))
    for name in dict.fromkeys(each.data_set for each in pairs):
        said = all_judged([each for each in pairs if each.data_set == name], tier="full", folder=FOLDER)
        outcomes = [outcome_of(each) for each in said]
        undecided = sum(verdict.label is Label.UNDECIDED for each in said for verdict in each.verdicts)
        wrong = sum(each.is_unsupported for each in outcomes)
        figures = [with_interval(auroc, outcomes), with_interval(f1, outcomes)]
        plain = [Figure(precision(outcomes)), Figure(recall(outcomes))]
        print(f"| {name} | {len(said)} | {wrong} | {undecided} | {' | '.join(map(str, [*figures, *plain]))} |")


if __name__ == "__main__":
    main()
