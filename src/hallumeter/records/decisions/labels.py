"""What people say is true of claims and of responses."""

from msgspec import Struct

from hallumeter.records.claim import Label


class GivenLabel(Struct, frozen=True):
    """What one person, or a reference, says of a claim or of a whole response."""

    record_id: str
    claim_id: str | None
    """None for the whole response."""
    annotator: str
    is_unsupported: bool | None
    """None when the annotator could not tell."""
    is_refuted: bool | None = None
    """None where only support was asked for."""
    fingerprint: str | None = None
    """Of the claim that was looked at; None where it was not kept."""

    @classmethod
    def saying(cls, label: Label, record_id: str, claim_id: str | None, *, annotator: str) -> "GivenLabel":
        """From the label itself; UNDECIDED is an annotator who could not tell."""
        if label is Label.UNDECIDED:
            return cls(record_id, claim_id, annotator, None)
        return cls(record_id, claim_id, annotator, label is not Label.SUPPORTED, label is Label.REFUTED)

    @classmethod
    def of_verdict(
        cls, judged: Label, record_id: str, claim_id: str | None, *, is_right: bool, annotator: str
    ) -> "GivenLabel":
        """From right or wrong: a wrong SUPPORTED is unsupported, a wrong REFUTED or NOT_ENOUGH_INFO is supported.

        >>> GivenLabel.of_verdict(Label.SUPPORTED, "r1", "c1", is_right=False, annotator="kim").is_unsupported
        True
        """
        if is_right:
            return cls.saying(judged, record_id, claim_id, annotator=annotator)
        if judged is Label.UNDECIDED:
            return cls(record_id, claim_id, annotator, None)
        is_unsupported = judged is Label.SUPPORTED
        # What was wrongly called supported may be refuted or not; what is supported after all is not refuted.
        return cls(record_id, claim_id, annotator, is_unsupported, None if is_unsupported else False)


class LabelCensus(Struct, frozen=True):
    """What the labels of a run amount to."""

    labels: int
    """All that count: the last word of every annotator on every claim."""
    claims: int
    """Claims with a truth."""
    responses: int
    """Responses with a truth of their own, or with a labelled claim."""
    annotators: dict[str, int]
    """How many labels each of them gave."""
    disputed: int = 0
    """Claims on which annotators disagree; they count by their shares."""
    unsure: int = 0
    """Labels of annotators who could not tell."""
    detached: int = 0
    """Labels of claims that now say something else, or are gone; they do not count."""
