"""What a judge says of single sentences: its labels, its reasons, its rates and its probabilities against people's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct
from sklearn.metrics import roc_auc_score

from hallumeter.records.claim import Label, Verdict

from .examples import Example
from .judged import Judged
from .readings import LabelledClaim

_UNSUPPORTED = (Label.REFUTED, Label.NOT_ENOUGH_INFO)
BINS = 10


class Sentence(Struct, frozen=True):
    """One claim that people judged, and the verdict on it."""

    kind: str
    """Of the text: qa, data, summary, dialogue or claim."""
    source: str
    label: Label
    reason: str
    probability: float
    is_unsupported: bool
    is_conflict: bool
    """People marked a part of it as one that the evidence denies."""

    @property
    def is_called(self) -> bool:
        """Whether the judge calls it unsupported."""
        return self.label in _UNSUPPORTED


def sentences_of(judged: Iterable[Judged]) -> list[Sentence]:
    """All claims with a label of their own."""
    return [
        _sentence(each.example, claim, verdict)
        for each in judged
        for claim, verdict in zip(each.claims, each.verdicts, strict=True)
        if claim.is_unsupported is not None
    ]


def _sentence(example: Example, claim: LabelledClaim, verdict: Verdict) -> Sentence:
    touching = [span for span in example.spans if span.start < claim.end and claim.start < span.end]
    return Sentence(
        kind=example.task,
        source=example.source,
        label=verdict.label,
        reason=verdict.reason or "",
        probability=verdict.unsupported_probability or 0.0,
        is_unsupported=bool(claim.is_unsupported),
        is_conflict=any(span.is_conflict for span in touching),
    )


def rate_table(sentences: Sequence[Sentence]) -> list[str]:
    """By kind of text: how many are unsupported, are said to be, and are to be expected by the probabilities."""
    lines = [
        "| sentences | n | true | said | said / true | expected | precision | recall | F1 | AUROC | ECE |",
        "| --- | --: | --: | --: | --- | --: | --: | --: | --: | --: | --: |",
    ]
    for kind in [*dict.fromkeys(each.kind for each in sentences), ""]:
        chosen = [each for each in sentences if not kind or each.kind == kind]
        wrong, called, said = _arrays(chosen)
        low, high = _ratio_interval(chosen)
        both = (wrong & called).sum()
        ratio = called.sum() / max(1, wrong.sum())
        cells = [
            f"{wrong.mean():.3f}",
            f"{called.mean():.3f}",
            f"{ratio:.2f} ({low:.2f}–{high:.2f})",
            f"{said.mean():.3f}",
            f"{both / max(1, called.sum()):.3f}",
            f"{both / max(1, wrong.sum()):.3f}",
            f"{2 * both / max(1, called.sum() + wrong.sum()):.3f}",
            f"{roc_auc_score(wrong, said):.3f}" if 0 < wrong.sum() < len(wrong) else "–",
            f"{decile_error(chosen):.3f}",
        ]
        lines.append(f"| {kind or '**all**'} | {len(chosen)} | {' | '.join(cells)} |")
    return lines


def _arrays(sentences: Sequence[Sentence]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    wrong = np.asarray([each.is_unsupported for each in sentences])
    called = np.asarray([each.is_called for each in sentences])
    return wrong, called, np.asarray([each.probability for each in sentences])


def _ratio_interval(sentences: Sequence[Sentence], *, draws: int = 400) -> tuple[float, float]:
    """The 95 % interval of the said rate over the true one, by a bootstrap of sources."""
    numbers = {source: number for number, source in enumerate(dict.fromkeys(each.source for each in sentences))}
    counts = np.zeros((len(numbers), 2))
    for each in sentences:
        counts[numbers[each.source]] += each.is_called, each.is_unsupported
    generator = np.random.default_rng(0)
    drawn = counts[generator.integers(len(counts), size=(draws, len(counts)))].sum(axis=1)
    low, high = np.quantile(drawn[:, 0] / np.maximum(1, drawn[:, 1]), [0.025, 0.975])
    return float(low), float(high)


def reason_table(sentences: Sequence[Sentence]) -> list[str]:
    """For every label and reason how often it was right: an error at all, and one that the evidence denies."""
    lines = [
        "| label | reason | said | an error | no error | right | a conflict |",
        "| --- | --- | --: | --: | --: | --: | --: |",
    ]
    for label in Label:
        of_label = [each for each in sentences if each.label is label]
        reasons = sorted({each.reason for each in of_label}, key=lambda r: -sum(each.reason == r for each in of_label))
        for reason in [None, *reasons] if len(reasons) > 1 else reasons:
            chosen = [each for each in of_label if reason is None or each.reason == reason]
            wrong = sum(each.is_unsupported for each in chosen)
            right = wrong if label in _UNSUPPORTED else len(chosen) - wrong
            conflicts = sum(each.is_conflict for each in chosen) / len(chosen)
            name = "**all**" if reason is None else f"`{reason}`" if reason else ""
            cells = [len(chosen), wrong, len(chosen) - wrong, f"{right / len(chosen):.0%}", f"{conflicts:.0%}"]
            lines.append(f"| {label.name} | {name} | {' | '.join(map(str, cells))} |")
    return lines


def decile_table(sentences: Sequence[Sentence]) -> list[str]:
    """Said against observed, by tenths of the probability, for each kind of text."""
    kinds = [*dict.fromkeys(each.kind for each in sentences), ""]
    lines = [
        f"| said | {' | '.join(kind or '**all**' for kind in kinds)} |",
        f"| --- | {' | '.join('---' for _ in kinds)} |",
    ]
    for place in range(BINS):
        cells = []
        for kind in kinds:
            chosen = [each for each in sentences if _bin(each) == place and (not kind or each.kind == kind)]
            said = np.mean([each.probability for each in chosen]) if chosen else 0.0
            seen = np.mean([each.is_unsupported for each in chosen]) if chosen else 0.0
            cells.append(f"{said:.2f} → {seen:.2f} ({len(chosen)})" if chosen else "–")
        lines.append(f"| {place / BINS:.1f}–{(place + 1) / BINS:.1f} | {' | '.join(cells)} |")
    return lines


def decile_error(sentences: Sequence[Sentence]) -> float:
    """The mean gap between said and observed, by tenths of the probability."""
    bins: dict[int, list[Sentence]] = {}
    for each in sentences:
        bins.setdefault(_bin(each), []).append(each)
    gaps = [abs(sum(each.probability - each.is_unsupported for each in chosen)) for chosen in bins.values()]
    return sum(gaps) / max(1, len(sentences))


def _bin(sentence: Sentence) -> int:
    return min(int(sentence.probability * BINS), BINS - 1)
