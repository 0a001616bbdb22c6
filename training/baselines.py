"""What is known of a text without a judge: its length, and how many of its words the evidence has not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .examples import Example
from .readings import claims_of
from .scores import Outcome, auroc, f1, with_interval


def baseline_table(examples: Sequence[Example]) -> list[str]:
    """For texts and for sentences of each kind: AUROC of both, and F1 of calling everything wrong."""
    lines = [
        "| texts | n | always: F1 | length: AUROC | words not in the evidence: AUROC |",
        "| --- | --: | --- | --- | --- |",
    ]
    for kind in dict.fromkeys(each.task for each in examples):
        chosen = [each for each in examples if each.task == kind]
        for name, make in {kind: _texts, f"{kind}: sentences": _sentences}.items():
            made = [make(chosen, score) for score in (_always, _length, _missing)]
            figures = [with_interval(f1, made[0]), with_interval(auroc, made[1]), with_interval(auroc, made[2])]
            lines.append(f"| {name} | {len(made[0])} | {' | '.join(map(str, figures))} |")
    return lines


Score = Callable[[Example, str], float]


def _texts(examples: Sequence[Example], score: Score) -> list[Outcome]:
    return [Outcome(each.source, each.is_unsupported, score(each, each.text), is_called=True) for each in examples]


def _sentences(examples: Sequence[Example], score: Score) -> list[Outcome]:
    return [
        Outcome(each.source, claim.is_unsupported, score(each, claim.text), is_called=True)
        for each in examples
        for claim in claims_of(each)
        if claim.is_unsupported is not None
    ]


def _always(_example: Example, _text: str) -> float:
    return 1.0


def _length(_example: Example, text: str) -> float:
    return float(len(text))


def _missing(example: Example, text: str) -> float:
    """The share of a text's words that stand nowhere in the evidence or the question."""
    known = set(" ".join([*example.evidence, example.question]).lower().split())
    words = text.lower().split()
    return sum(word not in known for word in words) / max(1, len(words))
