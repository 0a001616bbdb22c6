"""Every judge of a run beside the baselines, with its tables: what `hallumeter baselines` runs."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct, structs

from hallumeter.claims.audit.entries import CaseJournal, Judged, Prepared
from hallumeter.claims.audit.judging import JudgeWorker, Judging
from hallumeter.claims.audit.setup import judge_setup
from hallumeter.claims.labelled.baselines import Asked, Material, gathered, held_against, keep_baselines
from hallumeter.claims.labelled.run import drawing_order
from hallumeter.claims.labelled.scoring import BaselineSettings, Texts
from hallumeter.claims.report.labels import BASELINE_WORDS, LEVEL_WORDS, SCORE_WORDS, low_f1_facts, unread_facts
from hallumeter.claims.settings import AuditSettings, LanguageModelSettings
from hallumeter.errors import HallumeterError, SettingsError
from hallumeter.models.pace import Interrupted, PaceSettings
from hallumeter.models.protocol import ProviderFault
from hallumeter.records.claim import Claim
from hallumeter.records.decisions import BaselineRow, Discrimination, LevelBaselines, NullBaselines, ShuffledVerdict
from hallumeter.records.manifest import JudgeEntry
from hallumeter.records.response import Passage, Response
from hallumeter.report.overview import tell_fact
from hallumeter.report.segmentation import CONSENSUS
from hallumeter.report.table import Line, Table, escaped, left, markdown, right, terminal
from hallumeter.report.wording import (
    NO_VALUE,
    format_count,
    format_number,
    format_pair,
    interval_words,
    plural,
    unit_word,
)
from hallumeter.run.context import RunContext
from hallumeter.run.finished import Run, load
from hallumeter.run.journal import decoded
from hallumeter.run.progress import NoProgress, ProgressListener
from hallumeter.run.run_folder import JOURNAL
from hallumeter.run.stopping import stopping_on_signals

# Judges asked again, with the evidence of other responses: one who reads the evidence then does worse.

RECORDED = "recorded"
_HERE = ("rules", "embedded")
"""Judges that run on this machine, and cost nothing."""
_RECORDED = re.compile(rf"\b{RECORDED}\b")
_BATCH = re.compile(r"\bbatch=(\d+)")
_STOPPED = "asking judges again was interrupted"


class ShuffledCase(Struct, frozen=True):
    """A response beside the evidence of another."""

    response: Response
    claims: tuple[Claim, ...]
    passages: tuple[Passage, ...]

    def prepared(self) -> Prepared:
        """With the other evidence; whether the question has an answer is not known of that."""
        response = structs.replace(self.response, evidence=self.passages, samples=(), token_logprobs=None)
        return Prepared(response, self.claims, response.record_id)


def asked_again(
    judges: Sequence[JudgeEntry],
    cases: Sequence[ShuffledCase],
    costs: dict[str, float],
    *,
    settings: BaselineSettings,
    progress: ProgressListener,
) -> Asked:
    """Ask every judge that may be asked; `costs` are what the judges took for the same responses."""
    reasons: dict[str, str] = {}
    verdicts: list[ShuffledVerdict] = []
    notices: list[str] = []
    for judge in judges:
        reason = _why_not(judge, cases, costs.get(judge.name), settings=settings)
        if reason is not None:
            reasons[judge.name] = reason
            continue
        try:
            said, spec = _ask(judge, cases, settings=settings, progress=progress)
        except (HallumeterError, ProviderFault) as error:
            reasons[judge.name] = f"it could not be asked again: {error}"
            continue
        verdicts += said
        if spec != judge.spec:
            notices.append(f"{judge.name} was asked again as {spec}; in the run it was {judge.spec}")
    return Asked(tuple(verdicts), reasons, tuple(notices))


def chosen_cases(material: Material, *, limit: int) -> list[ShuffledCase]:
    """Labelled responses with other evidence, at most so many, those that a report draws first."""
    run, texts, exchange = material.runs[0], material.texts, material.exchange
    possible = [record_id for record_id in run.record_ids if exchange.other.get(record_id) is not None]
    found = []
    for record_id in sorted(possible, key=drawing_order)[:limit]:
        response, findings = texts.responses[record_id]
        number = exchange.other[record_id]
        assert number is not None
        claims = tuple(finding.claim for finding in findings)
        if claims:
            found.append(ShuffledCase(response, claims, texts.evidence[number].passages))
    return found


def _why_not(
    judge: JudgeEntry, cases: Sequence[ShuffledCase], cost: float | None, *, settings: BaselineSettings
) -> str | None:
    if not cases:
        return "there is no other evidence to ask it with" if settings.limit else "it was not asked again (--limit 0)"
    if _RECORDED.search(judge.spec):
        return "its verdicts came with the run; audit the same answers with a judge that can be asked"
    if judge.name.partition("@")[0].partition(":")[0] in _HERE or settings.is_any_judge_asked:
        return None
    calls = _calls(judge, cases)
    spent = f", about ${cost:.2f} by what the run paid" if cost else ""
    return (
        f"it is not asked again by itself; --shuffle asks it about {plural(len(cases), 'answer')} "
        f"({format_count(calls)} calls{spent})"
    )


def _calls(judge: JudgeEntry, cases: Sequence[ShuffledCase]) -> int:
    found = _BATCH.search(judge.spec)
    size = int(found[1]) if found else 1
    return sum(math.ceil(len(case.claims) / size) for case in cases)


def _ask(
    judge: JudgeEntry, cases: Sequence[ShuffledCase], *, settings: BaselineSettings, progress: ProgressListener
) -> tuple[list[ShuffledVerdict], str]:
    name = judge.name.partition("@")[0] if judge.name.startswith(_HERE) else judge.name
    judging = AuditSettings(
        judges=(name,),
        cache=settings.cache,
        workers=settings.workers,
        language_model=LanguageModelSettings(seed=settings.seed),
        pace=PaceSettings(timeout_seconds=settings.timeout_seconds),
        concurrency=settings.concurrency,
    )
    with ExitStack() as opened:
        stop = opened.enter_context(stopping_on_signals())
        place = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        setup = judge_setup(judging, stop=stop, progress=progress)
        if setup.cache is not None:
            opened.enter_context(setup.cache)
        journal = CaseJournal.create(place / JOURNAL, settings=b"")
        assert isinstance(journal, CaseJournal)
        opened.enter_context(journal)
        journal.cases = cases
        [made] = setup.judges
        worker = JudgeWorker(0, made, setup.cache if made.spec.is_remote else None)
        context = RunContext(journal, stop, progress, setup.spending)
        work = Judging(context, (worker,), concurrency=judging.concurrency, workers=judging.workers)
        try:
            is_finished = work.run(sum(len(case.claims) for case in cases))
        except Interrupted:
            raise KeyboardInterrupt(_STOPPED) from None
        except ProviderFault as fault:
            raise SettingsError(fault.message) from None
        if not is_finished:
            raise KeyboardInterrupt(_STOPPED)
        judged = decoded((entry.body for entry in journal.entries(worker.step)), Judged)
        return [
            ShuffledVerdict(judge.name, said.record_id, said.claim_id, said.label.value, said.unsupported_probability)
            for each in judged
            for said in each.verdicts
        ], str(made.spec)


def baselines(
    run: Run | str | Path,
    settings: BaselineSettings | None = None,
    *,
    is_kept: bool = False,
    progress: ProgressListener | None = None,
) -> NullBaselines:
    """Hold every judge of a labelled run against what needs no judge: length, shared words, other evidence.

    Judges that run on this machine are asked again, with the evidence of other responses. `is_kept` writes the result
    into the run folder, for its report, as `hallumeter baselines` does.

    Raises:
        InputError: There are no labels, or they do not fit the run.
        SettingsError: The run has no such judge.
    """
    run = run if isinstance(run, Run) else load(run)
    settings = settings or BaselineSettings()
    material = gathered(run, settings, keeps_responses=True)
    cases = chosen_cases(material, limit=settings.limit)
    known = {judge.name: judge for judge in run.manifest.judges}
    names = [each.judge for each in material.runs if each.judge != CONSENSUS]
    judges = [known.get(name, JudgeEntry(name, RECORDED)) for name in names]
    costs = _costs(material.texts, {case.response.record_id for case in cases})
    asked = asked_again(judges, cases, costs, settings=settings, progress=progress or NoProgress())
    found = held_against(run, material, asked, settings=settings)
    if is_kept:
        keep_baselines(run.path, found)
    return found


def null_baselines(
    run: Run | str | Path, settings: BaselineSettings | None = None, *, progress: ProgressListener | None = None
) -> NullBaselines:
    """The same as `baselines`, under its first name."""
    return baselines(run, settings, progress=progress)


def _costs(texts: Texts, chosen: set[str]) -> dict[str, float]:
    """What each judge took for the chosen responses, as far as it is known."""
    costs: dict[str, float] = {}
    findings = [finding for record_id in chosen for finding in texts.responses[record_id][1]]
    for verdict in (verdict for finding in findings for verdict in finding.verdicts):
        if verdict.cost_usd is not None:
            costs[verdict.judge] = costs.get(verdict.judge, 0.0) + verdict.cost_usd
    return costs


_NAMES: dict[str, str] = {
    "always_positive": "flagging everything",
    "length": "{level} length",
    "overlap": "word overlap",
    "shuffled_overlap": "word overlap, other evidence",
    "shuffled_judge": "the judge, other evidence",
}
_STANDINGS = {
    "better": "better than",
    "not_distinguishable": "not distinguishable from",
    "worse": "worse than",
}
_NOTE = (
    "AUROC: how probable it is that something unsupported is ranked above something supported. difference: the judge "
    "less the baseline, on the same units; p is corrected for all baselines of a table. F1: the judge by its own "
    "decisions, a baseline at a threshold that other answers chose. --format markdown has all columns."
)


def is_inconclusive(found: NullBaselines) -> bool:
    """Whether the labels suffice for no judge at any level."""
    return all(level.judge.auroc is None for judge in found.judges for level in judge.levels)


def baselines_text(found: NullBaselines, *, width: int | None = None, has_color: bool = False) -> str:
    """A table for every judge and level, and a sentence for every baseline."""
    return terminal(_parts(found), width=width, has_color=has_color)


def _parts(found: NullBaselines) -> Iterator[Table | Line]:
    yield Line(f"{found.run} · {_labels(found)}", "bold")
    for judge in found.judges:
        for level in judge.levels:
            yield from _level_parts(found, judge=judge.judge, level=level)
            yield Line()
        for each in unread_facts(judge):
            yield from (Line(tell_fact(each)), Line())
        if judge.shuffled is not None:
            yield from (Line(f"{judge.judge} with the evidence of other answers: {judge.shuffled}"), Line())
    yield Line(_NOTE, "dim")


def baselines_markdown(found: NullBaselines) -> str:
    """The same for a comment on a pull request."""
    return "\n".join(_lines(found)) + "\n"


def _labels(found: NullBaselines) -> str:
    people = ", ".join(found.census.annotators)
    return f"{plural(found.census.labels, 'label')} ({people})"


def _level_parts(found: NullBaselines, *, judge: str, level: LevelBaselines) -> Iterator[Table | Line]:
    title = f"{judge}, {LEVEL_WORDS[level.level].lower()}"
    if level.judge.auroc is None:
        yield Line(title, "bold")
        yield Line(f"undefined: {level.judge.undefined}")
        return
    if level.level != found.cluster:
        title += f" of {plural(level.judge.clusters, unit_word(found.cluster))}"
    yield _brief_table(f"{title}: {SCORE_WORDS[level.score, level.level]}", found, judge=judge, level=level)
    yield from map(Line, _below(judge, level))


def _below(judge: str, level: LevelBaselines) -> Iterator[str]:
    """What stands under a table."""
    if level.left_out:
        yield f"left out: {plural(level.left_out, f'labelled {level.level}')} that the judge did not decide"
    yield from (f"- {sentence}" for sentence in _sentences(judge, level))
    yield from (f"undefined: {_name(row, level)}: {row.found.undefined}" for row in level.rows if row.found.undefined)


def _table(title: str, found: NullBaselines, *, judge: str, level: LevelBaselines) -> Table:
    interval = interval_words(found.confidence)
    numbers = right("labelled", "unsupported", "AUROC", interval, "difference", "interval", "p (Holm)", "F1")
    return Table([*left("compared"), *numbers], list(_rows(judge, level)), title)


def _brief_table(title: str, found: NullBaselines, *, judge: str, level: LevelBaselines) -> Table:
    """The same for a terminal: counts stand in the title, and the interval of a difference in the sentences below."""
    units, positives = format_count(level.judge.units), format_count(level.judge.positives)
    columns = [*left("compared", wrap="words"), *right("AUROC", interval_words(found.confidence))]
    columns += right("difference", "p (Holm)", "F1")
    rows = []
    for (_, _, _, auroc, interval, difference, _, p_value, f1), name in zip(
        _rows(judge, level), _counted_names(judge, level), strict=True
    ):
        rows.append([name, auroc, interval, difference, p_value, f1])
    return Table(columns, rows, f"{title}; {positives} of {units} are unsupported")


def _counted_names(judge: str, level: LevelBaselines) -> Iterator[str]:
    """The judge and its baselines; one that was tried on fewer says so."""
    yield judge
    for row in level.rows:
        units = row.found.units
        yield _name(row, level) + ("" if units == level.judge.units else f" ({format_count(units)} labelled)")


def _rows(judge: str, level: LevelBaselines) -> Iterator[list[str]]:
    yield [judge, *_figures(level.judge), NO_VALUE, NO_VALUE, NO_VALUE, _number(level.judge.f1)]
    for row in level.rows:
        yield [_name(row, level), *_figures(row.found), *_difference(row), _number(row.found.f1)]


def _name(row: BaselineRow, level: LevelBaselines) -> str:
    """A baseline, short enough for a table."""
    text = _NAMES[row.baseline].format(level="claim" if level.level == "claim" else "answer")
    return text if row.direction is None else f"{text}, {row.direction}"


def _sentences(judge: str, level: LevelBaselines) -> Iterator[str]:
    """How the judge stands to each baseline, in one sentence, and what follows."""
    for row in level.rows:
        if row.standing is not None and row.interval is not None:
            low, high = row.interval
            text = f"{_STANDINGS[row.standing]} {BASELINE_WORDS[row.baseline, level.level]}"
            yield f"{text} (difference {row.difference:+.3f}, {low:+.3f} to {high:+.3f})"
    yield from map(tell_fact, low_f1_facts(judge, level))


def _figures(found: Discrimination) -> list[str]:
    return [
        format_count(found.units),
        format_count(found.positives),
        _number(found.auroc),
        format_pair(found.interval),
    ]


def _difference(row: BaselineRow) -> list[str]:
    if row.difference is None or row.interval is None:
        return [NO_VALUE, NO_VALUE, NO_VALUE]
    low, high = row.interval
    return [f"{row.difference:+.3f}", f"{low:+.3f} to {high:+.3f}", format_number(row.adjusted_p_value or 0.0, 4)]


def _number(value: float | None) -> str:
    return NO_VALUE if value is None else format_number(value)


def _lines(found: NullBaselines) -> Iterator[str]:
    yield f"### hallumeter baselines: {escaped(found.run)}"
    yield f"\n{escaped(_labels(found))}"
    for judge in found.judges:
        for level in judge.levels:
            title = f"{judge.judge}, {LEVEL_WORDS[level.level].lower()}"
            yield f"\n**{escaped(title)}**\n"
            if level.judge.auroc is None:
                yield f"undefined: {level.judge.undefined}"
                continue
            yield from markdown(_table(title, found, judge=judge.judge, level=level))
            yield ""
            yield from (f"- {escaped(sentence)}" for sentence in _sentences(judge.judge, level))
        yield from (f"\n{escaped(tell_fact(each))}" for each in unread_facts(judge))
        if judge.shuffled is not None:
            yield f"\n{escaped(judge.judge)} with the evidence of other answers: {escaped(judge.shuffled)}"
