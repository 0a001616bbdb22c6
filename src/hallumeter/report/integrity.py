"""Everything that is not a number: what broke, what was cut, what is in a language that nobody checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from hallumeter.records.claim import Failure, Label

from .document import FailureCount, IntegritySection, RecordSection, Section
from .languages.speaking import message
from .sections import CutCounts, LanguageCount, ReadingSection
from .tallies import Tallies

FAILURES_PER_RECORD = 20
LANGUAGE_WORDS = {
    "de": message("German"),
    "es": message("Spanish"),
    "fr": message("French"),
    "it": message("Italian"),
    "ko": message("Korean"),
    "nl": message("Dutch"),
    "pt": message("Portuguese"),
    "another": message("another language"),
}
_BROKEN_OFF = "truncated_reply"
_EVIDENCE_CUT = "evidence_cut"


class Broken(Struct):
    """Failures, while they are being counted."""

    total: int
    counts: Counter[tuple[str, str | None, str]]
    first: list[Failure]
    by_record: dict[str, list[Failure]]

    def by_kind(self) -> tuple[FailureCount, ...]:
        """How often what broke, most frequent first."""
        counts = sorted(self.counts.items(), key=lambda item: (-item[1], item[0][0], item[0][1] or "", item[0][2]))
        return tuple(FailureCount(*kind, failures) for kind, failures in counts)


def count_failures(failures: Iterable[Failure], chosen: set[str], *, kept: int) -> Broken:
    """Read failures once; those of the chosen records are kept, and the first few of all."""
    broken = Broken(0, Counter(), [], {})
    for failure in failures:
        broken.total += 1
        broken.counts[failure.step, failure.judge, failure.code] += 1
        if len(broken.first) < kept:
            broken.first.append(failure)
        if failure.record_id in chosen:
            own = broken.by_record.setdefault(failure.record_id, [])
            own += [failure] * (len(own) < FAILURES_PER_RECORD)
    return broken


def cut_counts(tallies: Tallies, broken: Broken, sections: Iterable[Section]) -> CutCounts:
    """What was not read to its end by a judge, or is not shown to its end in these sections."""
    undecided = sum(
        verdicts
        for (label, reason, _), verdicts in tallies.reasons().counts.items()
        if label is Label.UNDECIDED and reason == _EVIDENCE_CUT
    )
    passages = readings = 0
    for section in sections:
        if isinstance(section, RecordSection):
            shown = {(passage.text, passage.characters) for view in section.records for passage in view.evidence}
            passages += sum(len(text) < characters for text, characters in shown)
        elif isinstance(section, ReadingSection):
            readings += sum(
                len(view.response) < view.response_characters or len(view.reference) < view.reference_characters
                for view in section.readings
            )
    return CutCounts(
        cut_verdicts=max(tallies.cut_verdicts, undecided),
        undecided_by_cut=undecided,
        cut_replies=sum(times for (_, _, code), times in broken.counts.items() if code == _BROKEN_OFF),
        cut_passages=passages,
        cut_readings=readings,
    )


def language_counts(tallies: Tallies) -> tuple[LanguageCount, ...]:
    """Responses in languages that the model of a judge was not checked in, as that judge noted, most first."""
    found = sorted(tallies.unchecked_languages.items(), key=lambda entry: (-entry[1], entry[0]))
    return tuple(LanguageCount(language, responses) for language, responses in found)


def says_nothing(section: IntegritySection) -> bool:
    """Whether everything was measured: nothing undefined, undecided, failed, left out, cut or unchecked."""
    if section.undefined or section.failures_total or section.cuts != CutCounts() or section.languages:
        return False
    census = section.census
    if census is not None:
        return not (census.empty_outputs or census.empty_references or census.undecided or census.upper_bounds)
    return not (section.tally.unmeasured or section.records_without_claims or section.not_aligned)
