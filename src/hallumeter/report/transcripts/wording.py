"""How pages and engines are counted in words, the same in every renderer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.report.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .sections import PageCensus, ReadingSection

WITNESS_WORDS = (
    "compared with a witness: figures are disagreement, not error; passages are unconfirmed, not proven invented"
)


def has_witness(signatures: Iterable[str | None]) -> bool:
    """Whether numbers with such signatures rest on the reading of a witness instead of ground truth.

    >>> has_witness(["cer|witness:tesseract|v:1"]), has_witness(["cer|v:1", None])
    (True, False)
    """
    return any("|witness:" in signature for signature in signatures if signature)


def census_words(census: PageCensus, failures: int) -> list[str]:
    """What a run holds, piece by piece."""
    parts = [plural(census.pages, "page"), plural(census.engines, "engine")]
    parts += [plural(census.empty_outputs, "empty output"), plural(failures, "failure")]
    optional = (
        (census.empty_references, "page with empty ground truth", "pages with empty ground truth"),
        (census.undecided, "undecided page", "undecided pages"),
    )
    return parts + [f"{count:,} {one if count == 1 else many}" for count, one, many in optional if count]


def reading_coverage_words(section: ReadingSection) -> str:
    """Which pages can be read here, and where the others are."""
    shown = len(section.readings)
    is_aligned = any(view.stretches for view in section.readings)
    if shown == section.total:
        order = "most invented and left out first" if is_aligned else "not aligned, so that nothing is marked"
        return f"Every page of every engine ({shown:,}), {order}."
    random = sum(view.picked == "random" for view in section.readings)
    what = "with most words invented or left out" if is_aligned else "that came first, not aligned"
    sentence = f"The {shown - random:,} readings {what}"
    if random:
        sentence += f", and {random:,} drawn at random"
    sentence += f", of {section.total:,}; the others are in records.jsonl."
    if section.too_large:
        sentence += f" {section.too_large:,} more would have made this file too large."
    return sentence
