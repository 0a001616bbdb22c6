"""Evaluate the judge on what was held back from it, and print the tables of its model card."""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from hallumeter.judges.embedded.model_files import FILES, FOLDER
from hallumeter.records import Label, Passage

from .examples import Example
from .folds import FOLDS, fold_of
from .judged import Judged, all_judged, judged
from .other_languages import read_korean
from .readings import passages_of
from .scores import (
    Figure,
    Outcome,
    auroc,
    calibration_error,
    character_f1,
    f1,
    outcome_of,
    precision,
    recall,
    with_interval,
)

GROUPS: dict[str, tuple[str, ...]] = {
    "QA: RAGTruth": ("ragtruth:qa",),
    "data: Quintd-1 phones": ("quintd1/gsmarena:data",),
    "data: Quintd-1 weather": ("quintd1/openweather:data",),
    "data: Quintd-1 entities": ("quintd1/wikidata:data",),
    "data: written overviews": ("written/business:data",),
    "summary: RAGTruth": ("ragtruth:summary",),
    "summary: SummEdits earnings calls": ("summedits/ectsum:summary",),
    "summary: SummEdits sales calls": ("summedits/sales_call:summary",),
    "summary: SummEdits sales e-mails": ("summedits/sales_email:summary",),
    "summary: SummEdits abstracts": ("summedits/scitldr:summary",),
    "summary: written summaries": ("written/articles:summary",),
}
"""What is reported, by task and data set."""
_SHUFFLED = 300
"""Texts that are judged once more with the evidence of another."""


def group_of(example: Example) -> str | None:
    """The line of the tables to which an example belongs."""
    key = f"{example.data_set}:{example.task}"
    return next((name for name, keys in GROUPS.items() if key in keys), None)


def main() -> None:
    """Judge what was held back, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m training.evaluate", description=__doc__)
    parser.add_argument("--work", type=Path, default=Path(".training"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--tiers", nargs="+", default=["fast", "full"])
    options = parser.parse_args()
    examples: list[Example] = pickle.loads((options.work / "examples.pickle").read_bytes())
    reported = [each for each in examples if group_of(each) is not None]
    print(f"{len(reported)} texts, each judged by a model that has seen none of its fold.\n")
    for tier in options.tiers:
        _print_tier(tier, reported, options.work)
    _print_baselines(reported)
    _print_korean(options.data)


def _print_tier(tier: str, examples: Sequence[Example], work: Path) -> None:
    said: list[Judged] = []
    began = time.monotonic()
    for fold in range(FOLDS):
        folder = work / f"model-{fold}"
        if (folder / FILES[tier][-1]).exists():
            said += all_judged([each for each in examples if fold_of(each) == fold], tier=tier, folder=folder)
    pace = len(said) / (time.monotonic() - began)
    print(f"## embedded:{tier}\n\n{len(said)} texts, {pace:.0f} a second with two processes.\n")
    print("| texts | n | with an error | AUROC | F1 | precision | recall | span F1 | ECE |")
    print("| --- | --: | --: | --- | --- | --: | --: | --: | --: |")
    for name in GROUPS:
        chosen = [each for each in said if group_of(each.example) == name]
        if chosen:
            print(_line(name, chosen))
    for task in ("qa", "data", "summary"):
        print(_line(f"**all of {task}**", [each for each in said if each.example.task == task]))
    print(_line("**all**", said))
    shuffled = _with_other_evidence(said[:: max(1, len(said) // _SHUFFLED)], tier, work)
    print(f"\nWith the evidence of another text: AUROC {with_interval(auroc, shuffled)} ({len(shuffled)} texts).\n")


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
        str(Figure(character_f1(marked))),
        str(Figure(calibration_error(said))),
    ]
    return f"| {' | '.join(cells)} |"


def _with_other_evidence(said: Sequence[Judged], tier: str, work: Path) -> list[Outcome]:
    """What is said with the evidence of the next text of the same task: what a judge knows without reading it."""
    outcomes = []
    for fold in range(FOLDS):
        chosen = [each.example for each in said if fold_of(each.example) == fold]
        for task in ("qa", "data", "summary"):
            texts = [each for each in chosen if each.task == task]
            others = _others(texts)
            folder = work / f"model-{fold}"
            outcomes += [
                outcome_of(judged(text, tier=tier, folder=folder, evidence=other))
                for text, other in zip(texts, others, strict=True)
            ]
    return outcomes


def _others(texts: Sequence[Example]) -> Iterable[tuple[Passage, ...]]:
    return [passages_of(each) for each in (*texts[1:], *texts[:1])]


def _print_baselines(examples: Sequence[Example]) -> None:
    print("## Baselines\n\n| texts | n | always: F1 | length: AUROC | words not in the evidence: AUROC |")
    print("| --- | --: | --- | --- | --- |")
    for task in ("qa", "data", "summary"):
        chosen = [each for each in examples if each.task == task]
        always = [Outcome(each.source, each.is_unsupported, 1.0, is_called=True) for each in chosen]
        lengths = [Outcome(each.source, each.is_unsupported, float(len(each.text)), is_called=False) for each in chosen]
        missing = [Outcome(each.source, each.is_unsupported, _missing(each), is_called=False) for each in chosen]
        cells = [with_interval(f1, always), with_interval(auroc, lengths), with_interval(auroc, missing)]
        print(f"| {task} | {len(chosen)} | {' | '.join(map(str, cells))} |")


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


def _missing(example: Example) -> float:
    """The share of a text's words that stand nowhere in the evidence or the question."""
    known = set(" ".join([*example.evidence, example.question]).lower().split())
    words = example.text.lower().split()
    return sum(word not in known for word in words) / max(1, len(words))


if __name__ == "__main__":
    main()
