"""A claim, prepared for comparison: its words, numbers, dates and names, and the sentences that speak of the same."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from msgspec import Struct, structs

from hallumeter.records.response import Quote
from hallumeter.text.dates import Date, find_dates, touches
from hallumeter.text.names import Name, find_names
from hallumeter.text.quantities import Quantity, find_quantities
from hallumeter.text.terms import Terms, terms_of

from .evidence import Evidence

# What a check has found wrong with a claim.


class Finding(Struct, frozen=True):
    """One part of a claim that the evidence denies, or does not have."""

    reason: str
    """A code of `REASONS`."""
    start: int
    """Where the part begins in the claim, in code points."""
    end: int
    note: str
    quotes: tuple[Quote, ...] = ()
    """Where the evidence says otherwise; empty when it is silent."""


MISMATCHES = (
    "number_mismatch",
    "unit_mismatch",
    "money_mismatch",
    "percent_mismatch",
    "date_mismatch",
    "name_mismatch",
    "quotation_mismatch",
    "negation_mismatch",
    "comparison_mismatch",
    "role_mismatch",
    "plan_mismatch",
    "list_mismatch",
    "field_mismatch",
    "hours_mismatch",
    "figure_mismatch",
    "answer_mismatch",
)
"""The evidence says otherwise, in a place that speaks of the same thing."""
PRECISION: dict[str, tuple[int, int]] = {
    "number_mismatch": (15, 19),
    "unit_mismatch": (0, 0),
    "money_mismatch": (19, 20),
    "percent_mismatch": (4, 4),
    "date_mismatch": (10, 10),
    "name_mismatch": (2, 3),
    "quotation_mismatch": (3, 5),
    "negation_mismatch": (7, 13),
    "comparison_mismatch": (2, 4),
    "role_mismatch": (0, 0),
    "plan_mismatch": (2, 4),
    "list_mismatch": (0, 0),
    "field_mismatch": (38, 40),
    "hours_mismatch": (44, 47),
    "figure_mismatch": (19, 21),
    "answer_mismatch": (0, 0),
}
"""For each kind of mismatch: claims in which people marked an error, of those with such a finding.

Counted by `python -m training.rules_judge` on the fold held back, of RAGTruth, Quintd-1 and D2T-Eval; where these have
fewer than 20 findings, of all sets. People's marks are not complete, so these are lower bounds. Kinds without a single
finding there are not known to be right.
"""
# 0.75: the least share of right findings with which a verdict may say that the evidence denies a claim.
CONTRADICTIONS = frozenset(reason for reason, (right, found) in PRECISION.items() if found and right >= 0.75 * found)
"""The kinds of mismatches that are right often enough to refute a claim; the others only leave it without support."""
MISSING = (
    "number_not_found",
    "date_not_found",
    "name_not_found",
    "quotation_not_found",
    "words_not_found",
    "field_empty",
)
"""The evidence does not say so."""
REASONS = MISMATCHES + MISSING
DOUBTS = ("negation_unclear", "uncertain")
"""The evidence has nearly the same words, but may say something else."""
CONFIRMED = "confirmed"
"""The field of a record that a claim names says the same: nothing is wrong there."""


def is_mismatch(finding: Finding) -> bool:
    """Whether the evidence says otherwise, and does not merely keep silent."""
    return finding.reason in MISMATCHES


def denies(finding: Finding) -> bool:
    """Whether a finding is sure enough to call the claim refuted, with both sides quoted."""
    return finding.reason in CONTRADICTIONS and bool(finding.quotes) and finding.start < finding.end


def is_confirmed(finding: Finding) -> bool:
    """Whether it says that a field of a record agrees with the claim."""
    return finding.reason == CONFIRMED


def wrong(findings: Iterable[Finding]) -> list[Finding]:
    """What is not in order: all but what a record confirms."""
    return [finding for finding in findings if not is_confirmed(finding)]


def confirmed(text: str, span: tuple[int, int], quotes: tuple[Quote, ...]) -> Finding:
    """The part of a claim that a field of a record confirms."""
    return Finding(CONFIRMED, *span, f"evidence says the same as “{text[span[0] : span[1]]}”", quotes)


def as_doubt(finding: Finding) -> Finding:
    """The same, where the evidence has what the claim says in another place, so that it may be right after all."""
    return Finding("uncertain", finding.start, finding.end, finding.note, finding.quotes)


def is_doubt(finding: Finding) -> bool:
    """Whether it cannot be told if the evidence says the same."""
    return finding.reason in DOUBTS


_AT_ENDS = " \t\r\n,;:!?'\"“”‘’«»()[]{}*_•"


def on_whole_words(text: str, finding: Finding) -> Finding:
    """The finding on whole words or values: no part of a word, no marks at the ends.

    >>> said = "The steak was (overcooked)."
    >>> found = on_whole_words(said, Finding("words_not_found", 13, 20, ""))
    >>> said[found.start : found.end]
    'overcooked'
    """
    start, end = finding.start, finding.end
    while start < end and text[start] in _AT_ENDS:
        start += 1
    while start < end and (text[end - 1] in _AT_ENDS or _is_full_stop(text, start, end)):
        end -= 1
    while 0 < start < end and _is_inside(text, start):
        start -= 1
    while start < end < len(text) and _is_inside(text, end):
        end += 1
    return finding if start >= end else structs.replace(finding, start=start, end=end)


def _is_full_stop(text: str, start: int, end: int) -> bool:
    """Whether the last character ends a sentence and not an abbreviation such as "p.m."."""
    return text[end - 1] == "." and "." not in text[start : end - 1].rpartition(" ")[2]


def _is_inside(text: str, place: int) -> bool:
    """Whether a place is inside a word of Latin letters; in Korean a value may end before a particle."""
    return text[place - 1].isalpha() and text[place].isalpha() and text[place - 1] < "ᄀ" and text[place] < "ᄀ"


# What stands in an answer and claims nothing: citation marks, addresses, tags and signs of formulas.

_SOURCES = (
    "documents?|docs?|sources?|src|refs?|references?|passages?|pages?|pp?|cit(?:e|ations?)|evidence|context|notes?|fn"
    "|chunk|footnotes?|출처|문서|자료|근거|각주|참고"
)
_MARKS = re.compile(
    # [1], [2, 3], [4-6], [^7]
    r"\[\^?[1-9]\d{0,2}(?:\s?[,;–-]\s?[1-9]\d{0,2}){0,20}\]"
    # 【4†source】
    r"|【\d{1,4}(?::\d{1,4})?(?:†[^【】\n]{0,80})?】"
    # [doc_4, p. 12]
    rf"|\[(?:{_SOURCES})(?![^\W\d_])[^\[\]\n]{{0,60}}\]"
    # a raised number after a word or a full stop, but not that of m²
    r"|(?:(?<=[^\W\d_]{3})|(?<=[.,;:!?)\]”\"»]))[⁰¹²³⁴-⁹]{1,3}"
    r"|(?<!\d)<sup>[^<>\n]{1,20}</sup>"
    # the target of a link
    r"|(?<=\])\([^()\s]{1,500}(?:\s\"[^\"\n]{0,200}\")?\)"
    r"|(?:https?://|www\.)[^\s<>\[\](){}\"”»]+"
    # a tag
    r"|</?[A-Za-z][A-Za-z0-9]{0,20}(?:\s[\w-]{1,40}=(?:\"[^\"]{0,500}\"|'[^']{0,500}'|[^\s>\"']{1,500})){0,20}\s?/?>",
    re.IGNORECASE,
)
_FORMULA = re.compile(
    r"(?<!\\)\$(?=[^$\n]{0,300}[\\^_])[^\s$](?:[^$\n]{0,300})\$(?!\d)|\\\([^\n]{1,300}?\\\)|\\\[[^\n]{1,300}?\\\]"
)
_FORMULA_SIGNS = re.compile(r"\\[A-Za-z]+|[\^_](?:\{[^{}\n]{0,40}\}|\w)")


def without_marks(text: str) -> str:
    """The text with spaces in the place of whatever claims nothing, so that all else stays where it is.

    >>> without_marks("Paris [1] is big.")
    'Paris     is big.'
    >>> without_marks("See [Paris](http://x.org?y=1).")
    'See [Paris]                  .'
    """
    return _FORMULA.sub(_plain_formula, _MARKS.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _plain_formula(match: re.Match[str]) -> str:
    """A formula without its commands and exponents: its numbers still claim something."""
    return _FORMULA_SIGNS.sub(_blank, match.group())


_BEST = 4


class Statement:
    """A claim beside its evidence."""

    def __init__(self, text: str, evidence: Evidence, *, language: str, given: frozenset[str] = frozenset()) -> None:
        self.text = text
        self.terms: Terms = terms_of(without_marks(text))
        self.evidence = evidence
        self.language = language
        self.given = given
        """Keys of the question: an answer may repeat them."""
        self.keys = list(dict.fromkeys(key for key in self.terms.keys if key))
        weights, unknown = evidence.weights, evidence.weight_of_unknown
        self.weights = {key: weights.get(key, unknown) for key in self.keys}
        self.total = sum(self.weights.values())
        self._scores = self._sentence_scores()
        self.best = self._best_sentences()
        """Numbers and scores of the sentences with the largest share of the claim's words, best first."""

    def _sentence_scores(self) -> dict[int, float]:
        """Weights of the claim's words that a sentence has, by the number of the sentence."""
        scores: dict[int, float] = {}
        for key in self.keys:
            weight = self.weights[key]
            for number in self.evidence.postings.get(key, ()):
                scores[number] = scores.get(number, 0.0) + weight
        return scores

    def _best_sentences(self) -> list[tuple[int, float]]:
        best = sorted(self._scores.items(), key=lambda item: (-item[1], item[0]))[:_BEST]
        return [(number, score / self.total) for number, score in best]

    def share_in(self, sentence: int) -> float:
        """The weighted share of the claim's words that a sentence has."""
        return self._scores.get(sentence, 0.0) / self.total if self.total else 0.0

    @cached_property
    def words(self) -> frozenset[str]:
        """All folded words."""
        return frozenset(self.terms.folded)

    @cached_property
    def dates(self) -> list[Date]:
        """Dates and times."""
        return find_dates(self.terms)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Numbers that are no part of a date."""
        found = find_quantities(self.terms, language=self.language)
        spans = [(date.start, date.end) for date in self.dates]
        return [each for each in found if not touches(spans, each.start, each.end)]

    @cached_property
    def names(self) -> list[Name]:
        """Names."""
        return find_names(self.terms)
