"""Labels as judges of all kinds spell them."""

from __future__ import annotations

from hallumeter.records import Label

LABEL_SYNONYMS = {
    **{label.value: label for label in Label},
    **dict.fromkeys(
        ("SUPPORT", "SUPPORTS", "ENTAILMENT", "ENTAILED", "ENTAILS", "TRUE", "FAITHFUL", "FACTUAL", "CONFIRMED"),
        Label.SUPPORTED,
    ),
    **dict.fromkeys(
        ("REFUTE", "REFUTES", "CONTRADICTION", "CONTRADICTED", "CONTRADICTS", "CONTRADICTORY", "FALSE", "CONFLICT"),
        Label.REFUTED,
    ),
    **dict.fromkeys(
        (
            *("NEI", "NOT_ENOUGH_INFORMATION", "NOT_ENOUGH_EVIDENCE", "INSUFFICIENT_INFORMATION", "NOT_MENTIONED"),
            *("INSUFFICIENT_INFO", "INSUFFICIENT_EVIDENCE", "NEUTRAL", "UNVERIFIABLE", "UNKNOWN", "BASELESS"),
            *("NOT_SUPPORTED", "UNSUPPORTED"),  # no support is not a contradiction
        ),
        Label.NOT_ENOUGH_INFO,
    ),
    **dict.fromkeys(("UNSURE", "UNCLEAR", "CANNOT_TELL", "ABSTAIN"), Label.UNDECIDED),
}
"""What judges and other tools call the labels, in capitals with underscores."""


def label_of(text: str) -> Label | None:
    """The label that a text names, whatever its case and the marks around it; None when it names none.

    >>> label_of(" not enough info. ")
    <Label.NOT_ENOUGH_INFO: 'NOT_ENOUGH_INFO'>
    """
    return LABEL_SYNONYMS.get(spelled(text))


def spelled(text: str) -> str:
    """A label as it would be written here: in capitals with underscores, without the marks around it."""
    return "_".join(text.strip(" \t\r\n.,;:!*`'\"[]()").upper().replace("-", " ").replace("_", " ").split())
