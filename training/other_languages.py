"""Korean sentence pairs, for measuring only: the model is trained on English."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from .examples import Example


def read_korean(data: Path) -> Iterator[Example]:
    """Pairs of KLUE-NLI and KorNLI: supported when the premise entails the hypothesis."""
    rows = json.loads((data / "klue_nli" / "klue-nli-v1.1_dev.json").read_text(encoding="utf-8"))
    for row in rows:
        yield _example("KLUE-NLI", row["premise"], row["hypothesis"], row["gold_label"])
    with (data / "kornli_xnli" / "xnli.dev.ko.tsv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield _example("KorNLI", row["sentence1"], row["sentence2"], row["gold_label"])


def _example(name: str, premise: str, hypothesis: str, label: str) -> Example:
    return Example(
        data_set=name,
        source=premise,
        task="claim",
        evidence=(premise,),
        text=hypothesis,
        is_unsupported=label != "entailment",
        has_spans=False,
        is_one_claim=True,
    )
