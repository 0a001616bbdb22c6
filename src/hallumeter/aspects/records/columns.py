"""Scorecards as columns: what the arithmetic of the aspect metrics works on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple
from numpy.typing import NDArray


class AspectCounts(Struct, frozen=True):
    """What one scorecard adds to every sum.

    A sentence whose pipeline broke off adds to `failed` and `attempted`, to what it took, and to what lacks a result.
    """

    samples: float = 0
    """1 for a sentence that was measured."""
    failed: float = 0
    told: float = 0
    """1 when it is known which aspects stage 1 named, were it none."""
    flagged: float = 0
    """1 when an aspect of stage 1 was dropped."""
    classified: float = 0
    """1 when the class of every dropped aspect is known."""
    h1_samples: float = 0
    h2_samples: float = 0
    filter_samples: float = 0
    aspects: float = 0
    """Of stage 1."""
    dropped: float = 0
    classified_aspects: float = 0
    h1_aspects: float = 0
    h2_aspects: float = 0
    filter_aspects: float = 0
    judged_aspects: float = 0
    spans_ok: float = 0
    valid_targets: float = 0
    offsets: float = 0
    """H2 aspects with a span."""
    offset_errors: float = 0
    """How far they are off, added up."""
    offsets_explained: float = 0
    """Those that another way of counting makes right."""
    placed: float = 0
    """Aspects with a span whose term stands in the text; below, whose spans are right by each way of counting."""
    code_points: float = 0
    utf16_units: float = 0
    utf8_bytes: float = 0
    nfd_code_points: float = 0
    nfc_code_points: float = 0
    final_known: float = 0
    """1 when the final aspects are known."""
    final_out_of_text: float = 0
    """1 when one of them does not stand in the text."""
    attributable: float = 0
    """Sentiments about a named aspect."""
    attributed: float = 0
    groundable: float = 0
    grounded: float = 0
    evidence_judged: float = 0
    evidence_relevant: float = 0
    validated: float = 0
    """1 when the validator of stage 1 was asked."""
    risk_flagged: float = 0
    validated_twice: float = 0
    """1 when the validators of both stages were."""
    risks_before: float = 0
    """Of sentences whose validators were both asked."""
    risks_after: float = 0
    risk_flagged_twice: float = 0
    risk_cleared: float = 0
    residual_severity: float = 0
    negation_contrast: float = 0
    """Risks of negation and contrast in both stages."""
    delta_known: float = 0
    changed: float = 0
    guided: float = 0
    unguided: float = 0
    pairs_known: float = 0
    pairs_changed: float = 0
    risk_flagged_delta: float = 0
    """1 when there is a risk of stage 1, and it is known whether anything changed."""
    risk_changed: float = 0
    risk_unchanged: float = 0
    changed_twice: float = 0
    """1 when something changed and both validators were asked."""
    resolved_with_change: float = 0
    unchanged_twice: float = 0
    resolved_without_change: float = 0
    proposals: float = 0
    proposals_applied: float = 0
    turns: float = 0
    """Of debates."""
    turns_mapped: float = 0
    """Directly or by fallback."""
    turns_direct: float = 0
    turns_fallback: float = 0
    turns_none: float = 0
    turns_no_match: float = 0
    turns_neutral: float = 0
    turns_no_aspects: float = 0
    turns_fallback_used: float = 0
    overrides: float = 0
    """Aspects for which an override was weighed."""
    overrides_applied: float = 0
    override_samples: float = 0
    """1 when one was applied."""
    bucketed: float = 0
    implicit: float = 0
    explicit: float = 0
    explicit_failure: float = 0
    unsupported: float = 0
    legacy_judged: float = 0
    legacy_unsupported: float = 0
    gold: float = 0
    """1 with gold."""
    failed_gold: float = 0
    """1 with gold for a sentence that failed."""
    gold_s1: float = 0
    """1 with gold and tuples of stage 1; likewise below."""
    f1_s1: float = 0
    gold_s2: float = 0
    f1_s2: float = 0
    gold_final: float = 0
    f1_final: float = 0
    gold_both: float = 0
    delta_f1: float = 0
    fixed: float = 0
    broken: float = 0
    kept: float = 0
    still: float = 0
    wrong_before: float = 0
    right_before: float = 0
    net_gain: float = 0
    explicit_gold_s1: float = 0
    explicit_f1_s1: float = 0
    explicit_gold_s2: float = 0
    explicit_f1_s2: float = 0
    explicit_gold_final: float = 0
    explicit_f1_final: float = 0
    explicit_gold_both: float = 0
    explicit_delta_f1: float = 0
    implicit_gold_s1: float = 0
    implicit_f1_s1: float = 0
    implicit_gold_s2: float = 0
    implicit_f1_s2: float = 0
    implicit_gold_final: float = 0
    implicit_f1_final: float = 0
    implicit_gold_both: float = 0
    implicit_delta_f1: float = 0
    pairs_s1: float = 0
    """Pairs of gold and of stage 1, added up; below, twice the matched ones."""
    matched_s1: float = 0
    pairs_s2: float = 0
    matched_s2: float = 0
    pairs_final: float = 0
    matched_final: float = 0
    severe: float = 0
    """1 when a named aspect of gold has another polarity."""
    implicit_gold: float = 0
    implicit_invalid: float = 0
    gold_override: float = 0
    """1 with gold when an override was applied."""
    delta_f1_override: float = 0
    tuples_s1: float = 0
    """1 when the tuples of stage 1 are known."""
    conflict_s1: float = 0
    tuples_final: float = 0
    conflict_final: float = 0
    signalled: float = 0
    """1 with a signal of an auxiliary classifier."""
    signal_compared: float = 0
    signal_disagrees: float = 0
    signal_risk: float = 0
    signal_risk_disagrees: float = 0
    polarities_known: float = 0
    polarity_repaired: float = 0
    polarity_invalid: float = 0
    quality_judged: float = 0
    quality_passed: float = 0
    gated: float = 0
    latency_warned: float = 0
    latency_known: float = 0
    latency_ms: float = 0
    tokens_known: float = 0
    tokens: float = 0
    cost_known: float = 0
    cost_usd: float = 0
    unequal_gold: float = 0
    """1 when gold does not match itself."""
    unequal_final: float = 0
    """1 when the result does not match itself."""
    attempted: float = 0
    """1 for every sentence, measured or failed."""


ASPECT_COUNTS = AspectCounts.__struct_fields__
_PLACES = {name: place for place, name in enumerate(ASPECT_COUNTS)}


class AspectColumns(Struct, frozen=True, eq=False):
    """The counts of many scorecards, one row each.

    >>> AspectColumns.of([AspectCounts(samples=1, flagged=1), AspectCounts(samples=1)]).column("flagged").tolist()
    [1.0, 0.0]
    """

    table: NDArray[np.float64]
    """One column for each of `ASPECT_COUNTS`."""

    @classmethod
    def of(cls, cards: Iterable[AspectCounts]) -> AspectColumns:
        """Columns from counts."""
        rows = [astuple(counts) for counts in cards]
        return cls(np.array(rows, dtype=np.float64).reshape(-1, len(ASPECT_COUNTS)))

    def column(self, name: str) -> NDArray[np.float64]:
        """One count of all scorecards."""
        column: NDArray[np.float64] = self.table[:, _PLACES[name]]
        return column

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> AspectColumns:
        return AspectColumns(self.table[rows])


class CaseColumns(Struct, frozen=True, eq=False):
    """Sentences that were run several times, one row each: what could be compared, and what was always the same."""

    labels: NDArray[np.float64]
    """1 when at least two runs have a label."""
    same_labels: NDArray[np.float64]
    risks: NDArray[np.float64]
    same_risks: NDArray[np.float64]
    tuples: NDArray[np.float64]
    same_tuples: NDArray[np.float64]

    @classmethod
    def of(cls, cases: Iterable[tuple[float, float, float, float, float, float]]) -> CaseColumns:
        """Columns from cases, each as its numbers in the order of the fields."""
        table = np.array(list(cases), dtype=np.float64).reshape(-1, len(cls.__struct_fields__))
        return cls(*table.T)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> CaseColumns:
        return CaseColumns(*(getattr(self, name)[rows] for name in self.__struct_fields__))
