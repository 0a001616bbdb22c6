"""What is said of a judge beside null baselines: the same sentences in the report and on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.report.languages.speaking import message, say
from hallumeter.report.overview import (
    confidence,
    count,
    fact,
    name,
    number,
    numbers,
    share,
    shares,
    signed,
    signeds,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hallumeter.records.decisions import (
        Baseline,
        BaselineRow,
        CorrectedRate,
        Correction,
        JudgeBaselines,
        LevelBaselines,
        NullBaselines,
    )
    from hallumeter.report.document import Fact


# What is said of rates that labels corrected.

CORRECTION_CODE = "correction"
_CORRECTED = message(
    "Corrected for the errors that {judge} makes on {labels} labelled claims, the share of unsupported claims is "
    "{value} ({confidence} {interval}) instead of {raw}."
)


def correction_facts(found: Correction) -> Iterator[Fact]:
    """What the overview says: the corrected share of unsupported claims."""
    rate = next((each for each in found.rates if each.metric == "mihr" and not each.by), None)
    if rate is None or rate.corrected.value is None or rate.corrected.interval is None or rate.raw.value is None:
        return
    yield fact(
        CORRECTION_CODE,
        _CORRECTED,
        judge=name(found.judge),
        labels=count(rate.labelled),
        value=share(rate.corrected.value),
        confidence=confidence(found.confidence),
        interval=shares(rate.corrected.interval),
        raw=share(rate.raw.value),
    )


def shown_rates(found: Correction) -> list[CorrectedRate]:
    """The rates of the whole run."""
    return [rate for rate in found.rates if not rate.by]


BASELINES_CODE = "baselines"
BASELINE_WORDS = {
    ("always_positive", "claim"): message("flagging everything"),
    ("always_positive", "response"): message("flagging everything"),
    ("length", "claim"): message("claim length"),
    ("length", "response"): message("answer length"),
    ("overlap", "claim"): message("word overlap with the evidence"),
    ("overlap", "response"): message("word overlap with the evidence"),
    ("shuffled_overlap", "claim"): message("word overlap with the evidence of other answers"),
    ("shuffled_overlap", "response"): message("word overlap with the evidence of other answers"),
    ("shuffled_judge", "claim"): message("itself with the evidence of other answers"),
    ("shuffled_judge", "response"): message("itself with the evidence of other answers"),
}
DIRECTION_WORDS = {"longer": message("longer is more suspicious"), "shorter": message("shorter is more suspicious")}
LEVEL_WORDS = {"claim": message("Claims"), "response": message("Answers")}
SCORE_WORDS = {
    ("probability", "claim"): message("ranked by the probability that the judge gives"),
    ("probability", "response"): message("ranked by the largest probability that the judge gives to a claim"),
    ("label", "claim"): message("ranked by the label, since not every claim has a probability"),
    ("count", "response"): message("ranked by the number of claims that the judge calls unsupported"),
}
NO_LABEL = message("nothing of this kind is labelled")
TOO_FEW = message(
    "the labels do not suffice: two answers or more with something unsupported are needed, and two without"
)
MISSING: dict[Baseline, str] = {
    "always_positive": TOO_FEW,
    "length": message("the words are not known"),
    "overlap": message("there is no evidence, or no word to look for in it"),
    "shuffled_overlap": message("there is no other evidence to exchange it for"),
    "shuffled_judge": message("the judge gave no verdict with other evidence"),
}
"""Why a baseline has no score for any unit."""
TOGETHER = message("it is no judge of its own: each of its judges is asked by itself")
NOT_ASKED = message("it was not asked again; hallumeter baselines does so")
"""Why a judge has no row with other evidence; reasons with numbers in them are shown as they are."""
_STANDINGS = {
    ("not_distinguishable", "claim"): message(
        "On {units} labelled claims, {judge} is not distinguishable from {baseline}: AUROC {auroc} against {other}, "
        "difference {difference} ({confidence} {interval})."
    ),
    ("worse", "claim"): message(
        "On {units} labelled claims, {judge} is worse than {baseline}: AUROC {auroc} against {other}, difference "
        "{difference} ({confidence} {interval})."
    ),
    ("not_distinguishable", "response"): message(
        "On {units} labelled answers, {judge} is not distinguishable from {baseline}: AUROC {auroc} against {other}, "
        "difference {difference} ({confidence} {interval})."
    ),
    ("worse", "response"): message(
        "On {units} labelled answers, {judge} is worse than {baseline}: AUROC {auroc} against {other}, difference "
        "{difference} ({confidence} {interval})."
    ),
}
_ALL_BEATEN = {
    "claim": message(
        "On {units} labelled claims, {judge} is better than every null baseline that was tried: AUROC {auroc} "
        "({confidence} {interval})."
    ),
    "response": message(
        "On {units} labelled answers, {judge} is better than every null baseline that was tried: AUROC {auroc} "
        "({confidence} {interval})."
    ),
}
_UNREAD = message(
    "{judge} tells unsupported from supported no better with its own evidence than with that of other answers: nothing "
    "shows that it reads the evidence."
)
_LOW_F1 = {
    "claim": message("By its own decisions on claims, {judge} has an F1 of {f1}; flagging everything has {other}."),
    "response": message("By its own decisions on answers, {judge} has an F1 of {f1}; flagging everything has {other}."),
}


def baseline_words(row: BaselineRow, level: str) -> str:
    """A baseline in words, with the length that is suspicious."""
    wording = say(BASELINE_WORDS[row.baseline, level])
    return wording if row.direction is None else f"{wording} ({say(DIRECTION_WORDS[row.direction])})"


def level_facts(judge: str, level: LevelBaselines, *, at: float) -> Iterator[Fact]:
    """A sentence for each baseline that the judge does not beat, and what follows from them."""
    for row in level.rows:
        if row.standing != "better":
            found = _standing_fact(judge, level, row, at=at)
            yield from () if found is None else (found,)
    yield from low_f1_facts(judge, level)


def unread_facts(judge: JudgeBaselines) -> Iterator[Fact]:
    """That nothing shows that a judge reads the evidence: neither on claims nor on responses."""
    rows = [row for level in judge.levels for row in level.rows if row.baseline == "shuffled_judge"]
    standings = {row.standing for row in rows} - {None}
    if standings and "better" not in standings:
        yield fact(BASELINES_CODE, _UNREAD, judge=name(judge.judge))


def headline_facts(found: NullBaselines, headline: str | None) -> Iterator[Fact]:
    """What the overview says of the judge that the headline rests on, or of the only one that labels speak of."""
    for judge in found.judges:
        if judge.judge == headline or len(found.judges) == 1:
            yield from _judge_facts(judge, found.confidence)


def _standing_fact(judge: str, level: LevelBaselines, row: BaselineRow, *, at: float) -> Fact | None:
    """How a judge stands to a baseline that it does not beat; None where that is not known."""
    if row.standing is None or row.difference is None or row.interval is None or row.judge_auroc is None:
        return None
    return fact(
        BASELINES_CODE,
        _STANDINGS[row.standing, level.level],
        judge=name(judge),
        baseline=words(BASELINE_WORDS[row.baseline, level.level]),
        units=count(row.found.units),
        auroc=number(row.judge_auroc),
        other=number(row.found.auroc or 0.0),
        difference=signed(row.difference),
        confidence=confidence(at),
        interval=signeds(row.interval),
    )


def _judge_facts(judge: JudgeBaselines, at: float) -> Iterator[Fact]:
    for level in judge.levels:
        yield from level_facts(judge.judge, level, at=at)
        tested = [row.standing for row in level.rows if row.standing is not None]
        whole = level.judge
        if tested and set(tested) == {"better"} and whole.auroc is not None and whole.interval is not None:
            yield fact(
                BASELINES_CODE,
                _ALL_BEATEN[level.level],
                judge=name(judge.judge),
                units=count(whole.units),
                auroc=number(whole.auroc),
                confidence=confidence(at),
                interval=numbers(whole.interval),
            )
    yield from unread_facts(judge)


def low_f1_facts(judge: str, level: LevelBaselines) -> Iterator[Fact]:
    """That the decisions of a judge are worth less than flagging everything."""
    everything = next((row.found for row in level.rows if row.baseline == "always_positive"), None)
    if everything is None or everything.f1 is None or level.judge.auroc is None:
        return
    if level.judge.f1 is not None and level.judge.f1 < everything.f1:
        figures = {"f1": number(level.judge.f1), "other": number(everything.f1)}
        yield fact(BASELINES_CODE, _LOW_F1[level.level], judge=name(judge), **figures)
