"""How often is the rules judge right when it refutes a French or Korean claim?

    python benchmarks/other_language_claims.py [FOLDER] [--show]

French claims stand in french_claims.jsonl: 94 claims on 14 passages, written and labelled before the judge was run on
them. With a FOLDER that has klue_nli/klue-nli-v1.1_dev.json and kornli_xnli/xnli.dev.ko.tsv, Korean pairs that people
labelled are judged as well. REFUTED is right when the label is a contradiction.
"""

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from hallumeter.claims.judges.rules.judge import RulesJudge
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.records.response import Passage, Response
from hallumeter.stats.intervals import wilson_interval

FRENCH = Path(__file__).parent / "french_claims.jsonl"


def french() -> Iterator[tuple[str, str, str, str]]:
    """Data set, evidence, claim and label of the French claims."""
    for line in FRENCH.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield "French", row["evidence"], row["claim"], "contradiction" if row["label"] == "REFUTED" else row["label"]


def korean(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    """Data set, premise, hypothesis and label of every Korean pair."""
    for row in json.loads((folder / "klue_nli" / "klue-nli-v1.1_dev.json").read_text(encoding="utf-8")):
        yield "KLUE-NLI", row["premise"], row["hypothesis"], row["gold_label"]
    with (folder / "kornli_xnli" / "xnli.dev.ko.tsv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield "KorNLI", row["sentence1"], row["sentence2"], row["gold_label"]


def judged(premise: str, hypothesis: str) -> Verdict:
    """What the judge says of one pair."""
    response = Response("r", response=hypothesis, evidence=(Passage("e", premise),))
    claim = Claim("r", "c", start=0, end=len(hypothesis), text=hypothesis)
    (verdict,) = RulesJudge().judge(JudgeTask(response, (claim,)))
    assert isinstance(verdict, Verdict)
    return verdict


def main(folder: Path | None, *, shows: bool) -> None:
    """One line for each data set and reason."""
    found: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    total: Counter[str] = Counter()
    for name, premise, hypothesis, label in chain(french(), korean(folder) if folder is not None else ()):
        total[name] += label == "contradiction"
        verdict = judged(premise, hypothesis)
        if verdict.label is not Label.REFUTED:
            continue
        for reason in ("all", verdict.reason or ""):
            found[name, reason] += 1
            right[name, reason] += label == "contradiction"
        if shows and label != "contradiction":
            print(f"{label} | {hypothesis} | {premise} | {verdict.reason} | {verdict.note}")
    print("| data | reason | refuted | contradictions | precision | recall |\n" + "| --- " * 6 + "|")
    for (name, reason), count in sorted(found.items()):
        hits = right[name, reason]
        interval = wilson_interval(hits, count)
        assert interval is not None
        share = f"{hits / count:.3f} ({interval.low:.3f}–{interval.high:.3f})"
        print(f"| {name} | {reason} | {count} | {hits} | {share} | {hits / total[name]:.3f} |")


if __name__ == "__main__":
    named = [Path(each) for each in sys.argv[1:] if each != "--show"]
    main(named[0] if named else None, shows="--show" in sys.argv)
