"""The claims of a run that can be asked for, each found without reading the others."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.claims.labelled.run import WHOLE, has_claims, headline_judge, read_labelled, whole_claim
from hallumeter.claims.labelled.sources import LabelSettings
from hallumeter.errors import InputError, SettingsError
from hallumeter.records.claim import Claim, Finding, Label, Verdict
from hallumeter.records.columns import LABEL_CODES
from hallumeter.records.response import Response
from hallumeter.report.segmentation import CONSENSUS
from hallumeter.report.tallies import reference_judge
from hallumeter.run.finished import Run
from hallumeter.run.labels import claim_fingerprint
from hallumeter.run.run_folder import placed_records, record_at

# Who is asked, and for what.

UNITS = ("claim", "response")


class AnnotateSettings(Struct, frozen=True, kw_only=True):
    """Settings of a session in which somebody gives labels."""

    annotator: str
    """Whose labels these are."""
    judge: str | None = None
    """Whose verdicts the labels are held against; None for the one that the headline rests on."""
    unit: str = "claim"
    """What is drawn: single claims, or responses of which every claim is asked for."""
    overlap: float = 0.2
    """Share of the questions that another annotator has answered already, where there is one."""
    half_width: float = 0.03
    """Plus or minus how much the rate should be known."""
    seed: int = 0
    """Of the order in which claims are drawn."""

    def __post_init__(self) -> None:
        if not self.annotator.strip():
            raise SettingsError("the annotator has no name; give one")
        if self.unit not in UNITS:
            raise SettingsError(f"the unit is {self.unit!r}; expected one of {', '.join(UNITS)}")
        if not 0 <= self.overlap <= 1:
            raise SettingsError(f"the overlap is {self.overlap}; expected a number from 0 to 1")


_LABELS = {code: label for label, code in LABEL_CODES.items()}


class AskedClaim(Struct, frozen=True):
    """A claim with everything that a person needs to say whether it is supported."""

    number: int
    """Its place among all claims of the run."""
    response: Response
    claim: Claim
    judged: Label | None
    """What the judge says of it; None where it failed."""
    verdicts: tuple[Verdict, ...]
    place: int
    """Which of the claims of its response it is, from 1."""
    siblings: int
    """How many claims its response has."""

    @property
    def fingerprint(self) -> str:
        """Of the claim as it is shown."""
        return claim_fingerprint(self.claim, self.response.response)

    @property
    def text(self) -> str:
        """What the claim says, or what stands at its place."""
        if self.claim.text is not None:
            return self.claim.text
        return (self.response.response or "")[self.claim.start : self.claim.end] if self.claim.start is not None else ""


class ClaimTable:
    """All claims as columns, and each with its response and evidence when it is asked for."""

    def __init__(self, run: Run, judge: str | None) -> None:
        self._has_claims = has_claims(run)
        if judge is None and self._has_claims:
            # The truth has no vote on itself, before there are labels or after.
            judge = headline_judge(run, None, reference=reference_judge(each.name for each in run.manifest.judges))
        self.columns = read_labelled(run, LabelSettings(judge=judge).drawn_as_in(run.manifest), needs_labels=False)
        self.can_be_asked: NDArray[np.bool_] = self.columns.is_decided
        """Claims that count in a rate: those that the judge decided."""
        self._folder = run.path
        if not self.can_be_asked.any():
            raise InputError(f"{run.path}: no claim has a verdict that labels could be held against")
        self._places = [record.place for record in placed_records(run.path)]
        self._records = {record_id: number for number, record_id in enumerate(self.columns.record_ids)}
        self._firsts = np.searchsorted(self.columns.owners, np.arange(len(self._places) + 1))
        self._fingerprints: dict[int, str] = {}
        if not self.claim(int(np.flatnonzero(self.can_be_asked)[0])).text:
            raise InputError(f"{run.path}: the run has neither responses nor the texts of claims: nothing can be shown")

    @property
    def judge(self) -> str | None:
        """Whose verdicts are held against labels; None when several judges settled them."""
        return None if self.columns.judge == CONSENSUS else self.columns.judge

    def judged(self, number: int) -> Label | None:
        """What the judge says of a claim; None where it failed."""
        return _LABELS.get(int(self.columns.codes[number]))

    def claims_of(self, record: int) -> NDArray[np.int64]:
        """The numbers of the claims of a record."""
        return np.arange(self._firsts[record], self._firsts[record + 1])

    def claim(self, number: int) -> AskedClaim:
        """One claim, read from the files of the run.

        Raises:
            InputError: The files were changed meanwhile.
        """
        record = int(self.columns.owners[number])
        response, findings = record_at(self._folder, self._places[record])
        if not self._has_claims:
            findings = (self._whole(response, number),)
        first = int(self._firsts[record])
        finding = findings[number - first]
        return AskedClaim(
            number=number,
            response=response,
            claim=finding.claim,
            judged=self.judged(number),
            verdicts=tuple(verdict for verdict in finding.verdicts if self.judge in (None, verdict.judge)),
            place=number - first + 1,
            siblings=len(findings),
        )

    def _whole(self, response: Response, number: int) -> Finding:
        """The finding that stands for a whole response, where a run has scores instead of claims."""
        claim, label = whole_claim(response), self.judged(number)
        if label is None:
            return Finding(claim, ())
        probability = float(self.columns.probabilities[number])
        return Finding(claim, (Verdict(claim.record_id, WHOLE, self.columns.judge, label, probability),))

    def number_of(self, record_id: str, claim_id: str, *, fingerprint: str) -> int | None:
        """The number of a claim; None when the run has none like it, or it says something else now."""
        record = self._records.get(record_id)
        if record is None:
            return None
        own = self.claims_of(record).tolist()
        number = next((each for each in own if self.columns.claim_ids[each] == claim_id), None)
        if number is None:
            return None
        if number not in self._fingerprints:
            self._fingerprints[number] = self.claim(number).fingerprint
        return number if self._fingerprints[number] == fingerprint else None
