"""Transcripts to test with: pages in several scripts, read by engines that misread, invent, repeat and leave out."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import structs
from rapidfuzz.distance import Levenshtein

from hallumeter.records.claim import Claim, Failure, Finding, Label, Verdict
from hallumeter.records.manifest import InputFile, JudgeEntry
from hallumeter.records.measurement import Counts, MetricSummary, Summary
from hallumeter.records.page import PageRow
from hallumeter.records.ranking import EnginePair, RankedEngine, Ranking
from hallumeter.records.response import Passage, Quote, Response
from hallumeter.report.build import build_document
from hallumeter.report.document import Document, RecordFindings
from report_samples import manifest

TRUTHS = {
    "letter-1863": (
        "Camp near Falmouth, January 4th.",
        "My dear sister, I received your letter of the 28th and was glad to hear that all are well at home.",
        "We have had snow for three days and the roads are so deep that no waggon can pass.",
        "Captain Hale was taken sick on Friday and is now at the hospital in Aquia.",
        "Send me if you can a pair of stockings and some paper, for I have none left.",
        "Your affectionate brother, Thos. W. Reed",
    ),
    "registre-1742": (
        "L’an mil sept cent quarante-deux, le vingt-troiſième jour d’octobre,",
        "a été baptiſée Marie Françoiſe, fille légitime de Jean Lefèvre, laboureur,",
        "et de Catherine Dubois ſon épouſe, née le jour précédent.",
        "Le parrain a été Nicolas Moreau, la marraine Anne Lefèvre, qui a déclaré ne ſavoir ſigner.",
    ),
    "신문-1925": (
        "경성의 봄은 늦게 찾아왔다.",
        "종로 거리에는 사람들이 모여 새로운 소식을 기다렸고 전차는 쉬지 않고 지나갔다.",
        "쌀값은 지난달보다 크게 올라 시민들의 걱정이 깊어졌다.",
        "학교에서는 다음 주부터 새 학기가 시작된다.",
    ),
    "פנקס-12": (
        "היום התכנסו חברי הוועד בבית הכנסת הגדול.",
        "נדונה השאלה של תיקון הגג והוחלט לאסוף נדבות מן הציבור.",
        "הגזבר מסר דין וחשבון על ההוצאות של השנה שעברה.",
    ),
}
INVENTED = {
    "letter-1863": "The enemy is said to be moving toward Richmond with forty thousand men and many guns.",
    "registre-1742": "Le présent acte a été dressé en la mairie en présence du commissaire du Roi.",
    "신문-1925": "총독부는 어제 새로운 법률을 발표하고 신문사의 발행을 허가하였다.",
    "פנקס-12": "הרב הראשי ביקר בעיר וביקש לבנות בית ספר חדש לילדים.",
}


class Part(NamedTuple):
    """A stretch of a page: what the engine wrote, and what stands there."""

    kind: str
    response: str = ""
    reference: str = ""
    note: str | None = None
    is_moved: bool = False


def reading(page: str, engine: str, parts: Sequence[Part], *, truth: str | None = None) -> RecordFindings:
    """A reading put together from its stretches, with the places of each; `truth` when it is in another order."""
    response = "\n".join(part.response for part in parts if part.response)
    reference = "\n".join(part.reference for part in parts if part.reference) if truth is None else truth
    findings, place, reference_place = [], 0, 0
    record_id = f"{page}@{engine}"
    for number, part in enumerate(parts):
        start = end = None
        quotes: tuple[Quote, ...] = ()
        if part.response:
            start, end = place, place + len(part.response)
            place = end + 1
        if part.reference:
            at = reference_place if truth is None else reference.index(part.reference)
            quotes = (Quote("truth", at, at + len(part.reference)),)
            reference_place = at + len(part.reference) + 1
        is_read = part.kind == "run"
        claim = Claim(
            record_id,
            f"{part.kind}-{number}",
            kind=part.kind,
            start=start,
            end=end,
            text=None if is_read else part.response or part.reference,
            weight=float(len((part.response or part.reference).split())),
        )
        label = Label.SUPPORTED if is_read else Label.REFUTED
        reason = ("moved" if part.is_moved else None) if is_read else part.kind
        verdict = Verdict(record_id, claim.claim_id, "alignment", label, reason=reason, evidence=quotes, note=part.note)
        findings.append(Finding(claim, (verdict,)))
    answer = Response(
        record_id,
        response=response,
        evidence=(Passage("truth", reference),),
        model=engine,
        fields={"page": page, "status": "ok" if response else "empty_output"},
    )
    return RecordFindings(answer, tuple(findings))


def page_row(item: RecordFindings, **changes: object) -> PageRow:
    """A row whose numbers are counted here in the plainest way; good enough to be shown, not to be believed."""
    text, truth = item.response.response or "", item.response.evidence[0].text
    words, true_words = text.split(), truth.split()
    weights = {
        kind: sum(finding.claim.weight for finding in item.findings if finding.claim.kind == kind)
        for kind in ("block", "loop", "insertion", "omission")
    }
    counts = {kind: sum(finding.claim.kind == kind for finding in item.findings) for kind in weights}
    invented = weights["block"] + weights["loop"]
    known = set(itertools.pairwise(true_words))
    pairs = list(itertools.pairwise(words))
    ratio = len(text) / len(truth) if truth else None
    anchor = sum(pair in known for pair in pairs) / len(pairs) if pairs else 0.0
    errors = Levenshtein.distance(words, true_words)
    facts: dict[str, object] = {
        "page": str(item.response.fields["page"]),
        "engine": item.response.model,
        "status": item.response.fields["status"],
        "is_hallucinating": invented >= 8 if text else None,
        "picarones_badge": anchor < 0.5 or (ratio or 0) > 1.2,
        "cer": Levenshtein.distance(text, truth) / len(truth) if truth else None,
        "wer": errors / len(true_words) if true_words else None,
        "mer": errors / max(len(words), len(true_words)) if true_words else None,
        "wil": min(1.0, 1.5 * errors / max(len(words), len(true_words))) if true_words else None,
        "net_insertion_rate": sum(word not in true_words for word in words) / len(words) if words else 0.0,
        "anchor_score": anchor,
        "length_ratio": ratio,
        "length_ratio_capped": 9.99 if ratio is None else min(ratio, 9.99),
        "true_insertion_rate": (invented + weights["insertion"]) / len(words) if words else None,
        "invented_rate": invented / len(words) if words else None,
        "loop_rate": weights["loop"] / len(words) if words else None,
        "omission_rate": weights["omission"] / len(true_words) if true_words else None,
        "reference_words": len(true_words),
        "response_words": len(words),
        "blocks": counts["block"],
        "loops": counts["loop"],
        "omissions": counts["omission"],
        "is_exact": True,
    }
    return PageRow(**{**facts, **changes})  # type: ignore[arg-type]


def misread(line: str, rng: np.random.Generator, share: float) -> Part:
    """A line in which some words have a letter changed."""
    words = line.split()
    wrong = [place for place in range(len(words)) if rng.random() < share]
    for place in wrong:
        words[place] = words[place][:-1] + "x"
    note = f"{len(wrong)} of {len(words)} words misread" if wrong else None
    return Part("run", " ".join(words), line, note)


def made_up_reading(page: str, engine: str, rng: np.random.Generator, *, quality: float) -> RecordFindings:
    """An engine's reading of a page; the worse its quality (1 to 0), the more it misreads, invents and leaves out."""
    parts: list[Part] = []
    base = next(name for name in TRUTHS if page.startswith(name))
    lines = TRUTHS[base]
    if rng.random() < 0.03 * (1 - quality):
        return reading(page, engine, [Part("omission", reference=line) for line in lines])
    for line in lines:
        chance = rng.random()
        if chance < 0.12 * (1 - quality):
            parts.append(Part("omission", reference=line))
        else:
            parts.append(misread(line, rng, 0.25 * (1 - quality)))
        if chance > 1 - 0.10 * (1 - quality):
            parts.append(Part("block", INVENTED[base]))
        elif chance > 1 - 0.2 * (1 - quality):
            parts.append(Part("insertion", "&c. &c."))
    if rng.random() < 0.12 * (1 - quality):
        copies = int(rng.integers(4, 60))
        words = " ".join(lines[-1].split()[:4])
        parts.append(Part("loop", " ".join([words] * copies), note=f"{len(words.split())} words, {copies} times"))
    return reading(page, engine, parts)


def written_readings() -> list[RecordFindings]:
    """A page of every kind: invented, moved, repeated, decomposed Korean, right to left, empty, nothing wrong."""
    letter, registre, news, book = TRUTHS
    lines = TRUTHS[letter]
    korean = [unicodedata.normalize("NFD", line) for line in TRUTHS[news]]
    hebrew, french = TRUTHS[book], TRUTHS[registre]
    return [
        reading(
            letter,
            "vlm-b",
            [
                Part("run", lines[0], lines[0]),
                Part("run", lines[1].replace("28th", "23rd"), lines[1], "1 of 21 words misread"),
                Part("block", INVENTED[letter]),
                Part("omission", reference=lines[2]),
                Part("run", lines[3], lines[3]),
                Part("insertion", "in Virginia"),
                Part("run", lines[4], lines[4]),
                Part("loop", " ".join(["for I have none left"] * 31), note="5 words, 31 times"),
                Part("omission", reference=lines[5]),
            ],
        ),
        reading(letter, "ocr-a", [Part("run", line, line) for line in lines]),
        reading(
            registre,
            "vlm-b",
            [
                Part("run", french[2], french[2], is_moved=True),
                Part("run", french[0].replace("ſ", "s"), french[0], "1 of 10 words misread"),
                Part("run", french[1].replace("ſ", "s"), french[1], "2 of 10 words misread"),
                Part("omission", reference=french[3]),
            ],
            truth="\n".join(french),
        ),
        reading(registre, "ocr-a", [Part("run", line, line) for line in french]),
        reading(
            news,
            "vlm-b",
            [
                Part("run", korean[0], korean[0]),
                Part("block", unicodedata.normalize("NFD", INVENTED[news])),
                Part("run", korean[1], korean[1]),
                Part("omission", reference=korean[2]),
                Part("run", korean[3], korean[3]),
            ],
        ),
        reading(news, "ocr-a", [Part("omission", reference=line) for line in korean]),
        reading(
            book,
            "vlm-b",
            [
                Part("run", hebrew[0], hebrew[0]),
                Part("block", INVENTED[book]),
                Part("run", hebrew[1], hebrew[1]),
                Part("omission", reference=hebrew[2]),
            ],
        ),
        reading(book, "ocr-a", [Part("run", line, line) for line in hebrew]),
    ]


def made_up_readings(engines: int, copies: int = 5, seed: int = 0) -> list[RecordFindings]:
    """Many readings by engines of falling quality."""
    rng = np.random.default_rng(seed)
    names = [f"{'vlm' if number % 3 else 'ocr'}-{'preview-' * (number % 2)}{number:02d}" for number in range(engines)]
    qualities = np.linspace(0.97, 0.1, engines)
    return [
        made_up_reading(f"{page}-{copy}", name, rng, quality=float(quality))
        for page in TRUTHS
        for copy in range(copies)
        for name, quality in zip(names, qualities, strict=True)
    ]


def _rate(name: str, values: Iterable[float | None], *, engine: str | None, pages: bool = False) -> MetricSummary:
    given = [value for value in values if value is not None]
    value = sum(given) / len(given) if given else None
    spread = 0.0 if value is None else 1.96 * (max(value * (1 - min(value, 1)), 0.0004) / len(given)) ** 0.5
    return MetricSummary(
        metric=name,
        by={} if engine is None else {"engine": engine},
        judge=None,
        count=sum(given) if pages else None,
        total=float(len(given)),
        value=value,
        interval=None if value is None else (max(0.0, value - spread), value + spread),
        interval_method=None if value is None else "bootstrap",
        direction="higher" if name.startswith("anchor") else "lower",
        undefined=None if value is not None else "no page with text",
        undecided=0,
        failed=0,
        bounds=None,
        signature=f"{name}|spelling:none|ci:bootstrap-2000|confidence:0.95|seed:0|v:0.1.0",
    )


def metrics_of(rows: Sequence[PageRow]) -> list[MetricSummary]:
    """The rows of a summary: over all, then by engine."""
    fields = {
        **{name: name for name in ("cer", "wer", "mer", "wil", "true_insertion_rate", "invented_rate", "loop_rate")},
        "omission_rate": "omission_rate",
        "anchor_mean": "anchor_score",
        "length_ratio_mean": "length_ratio_capped",
    }
    found = []
    for engine in [None, *sorted({row.engine for row in rows})]:
        own = [row for row in rows if engine in {None, row.engine}]
        found += [_rate(name, [getattr(row, field) for row in own], engine=engine) for name, field in fields.items()]
        found.append(_rate("cer_gini", [0.4], engine=engine))
        badges = [None if row.is_hallucinating is None else float(row.is_hallucinating) for row in own]
        found.append(_rate("hallucinating_page_rate", badges, engine=engine, pages=True))
        empty = [float(row.status == "empty_output") for row in own]
        found.append(_rate("empty_output_rate", empty, engine=engine, pages=True))
    return found


def ranking_of(rows: Sequence[PageRow], critical_difference: float | None = None) -> Ranking:
    """Mean ranks of the CER on every page, and a made-up test of every pair."""
    engines = sorted({row.engine for row in rows})
    table = {(row.page, row.engine): row.cer if row.cer is not None else 0.0 for row in rows}
    pages = sorted({row.page for row in rows})
    ranks = np.zeros(len(engines))
    for page in pages:
        ranks += np.argsort(np.argsort([table[page, engine] for engine in engines])) + 1
    means = dict(zip(engines, (ranks / len(pages)).tolist(), strict=True))
    order = sorted(engines, key=lambda engine: (means[engine], engine))
    limit = critical_difference or 2.5 * (len(engines) * (len(engines) + 1) / (6 * len(pages))) ** 0.5
    pairs = []
    for first, second in itertools.combinations(order, 2):
        difference = float(np.median([table[page, first] - table[page, second] for page in pages]))
        p_value = min(1.0, float(np.exp(-3 * abs(means[first] - means[second]) / limit)))
        pairs.append(EnginePair(first, second, len(pages), difference, p_value, min(1.0, 2 * p_value)))
    groups: list[tuple[str, ...]] = []
    for place, engine in enumerate(order):
        group = tuple(name for name in order[place:] if means[name] - means[engine] < limit)
        if len(group) > 1 and not (groups and set(group) <= set(groups[-1])):
            groups.append(group)
    return Ranking(
        metric="cer",
        pages=len(pages),
        dropped=1,
        engines=tuple(RankedEngine(engine, means[engine]) for engine in order),
        statistic=41.5,
        p_value=2e-9,
        critical_difference=limit,
        groups=tuple(groups),
        pairs=tuple(pairs),
    )


FAILURES = (Failure(None, None, "read", None, "bad_xml", "truth/letter-9.xml: not well-formed (line 3)"),)


def transcripts_summary(rows: Sequence[PageRow], **changes: object) -> Summary:
    """A summary of these rows."""
    facts: dict[str, object] = {
        "version": 1,
        "instrument": "transcripts",
        "counts": Counts(records=len(rows), failures=len(FAILURES), models=len({row.engine for row in rows})),
        "metrics": tuple(metrics_of(rows)),
        "ranking": ranking_of(rows),
        "notices": ("letter-7: no transcript by vlm-b",),
    }
    return Summary(**{**facts, **changes})  # type: ignore[arg-type]


def witnessed_summary(rows: Sequence[PageRow]) -> Summary:
    """A summary of these rows as if a witness stood in for ground truth."""
    metrics = tuple(
        structs.replace(metric, signature=(metric.signature or "").replace("|ci:", "|witness:tesseract|ci:"))
        for metric in metrics_of(rows)
    )
    return transcripts_summary(rows, metrics=metrics, ranking=None)


def rows_of(records: Iterable[RecordFindings]) -> list[PageRow]:
    """The table of pages of these readings, sorted as in a run."""
    return sorted((page_row(item) for item in records), key=lambda row: (row.page, row.engine))


def transcripts_document(records: Sequence[RecordFindings] | None = None, **changes: object) -> Document:
    """A whole document of the written readings, or of others."""
    records = written_readings() if records is None else records
    rows = [] if "own" in changes and "summary" in changes else rows_of(records)
    arguments: dict[str, object] = {
        "summary": None if "summary" in changes else transcripts_summary(rows),
        "manifest": manifest(
            instrument="transcripts",
            inputs=(InputFile("truth/", None, 4), InputFile("vlm-b/", None, 4)),
            judges=(JudgeEntry("alignment", "words"),),
            settings={"normalize": "none"},
        ),
        "metric_texts": {},
        "records": records,
        "failures": FAILURES,
        "own": rows,
    }
    return build_document(**{**arguments, **changes})  # type: ignore[arg-type]
