"""How well refusals are detected in real biographies: recall on those marked by people, false alarms on the rest.

    python benchmarks/abstention_detection.py --factscore DIR [--half held-out|development|all] [--errors]

DIR holds ``ChatGPT.jsonl`` and ``InstructGPT.jsonl`` of FActScore's human annotations (Min et al. 2023, MIT licence).
A row without annotations is a response that its annotators marked as an abstention. The cues were written while
looking at the development half alone: the half where the first byte of SHA-256 of model and topic is even. When the
other half was first opened, 12 of its 13 refusals were found, with no false alarm in 147 biographies. The refusal that
was missed led to a change, so what this prints for that half today is no longer a figure on unseen responses.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from hallumeter.claims.abstention import AbstentionDetector
from hallumeter.stats.intervals import wilson_interval

MODELS = ("ChatGPT", "InstructGPT")


class Row(Struct):
    """A biography, or a refusal to write one."""

    topic: str
    output: str
    annotations: list[msgspec.Raw] | None


def is_held_out(model: str, topic: str) -> bool:
    """Whether a row was kept unseen while the cues were written."""
    return hashlib.sha256(f"{model}{topic}".encode()).digest()[0] % 2 == 1


def rows_of(folder: Path, model: str, half: str) -> list[Row]:
    """The rows of one model that belong to a half."""
    lines = (folder / f"{model}.jsonl").read_bytes().splitlines()
    rows = [msgspec.json.decode(line, type=Row) for line in lines]
    return [row for row in rows if half == "all" or is_held_out(model, row.topic) == (half == "held-out")]


def share(count: int, total: int) -> str:
    """A rate with its counts and its 95 % Wilson interval."""
    interval = wilson_interval(count, total)
    if interval is None:
        return "none to count"
    return f"{count} of {total} = {count / total:.1%} [{interval.low:.1%}, {interval.high:.1%}]"


def report(title: str, rows: list[Row], detector: AbstentionDetector, *, with_errors: bool) -> None:
    """Print recall and false alarms of some rows."""
    started = time.process_time()
    found = [detector.detect(row.output) for row in rows]
    seconds = time.process_time() - started
    pairs = list(zip(found, rows, strict=True))
    refused = [each.did_abstain for each, row in pairs if row.annotations is None]
    answered = [each.did_abstain for each, row in pairs if row.annotations is not None]
    print(f"{title}: {len(rows)} responses, {len(rows) / seconds:,.0f} per second")
    print(f"  refusals found   {share(sum(refused), len(refused))}")
    print(f"  false alarms     {share(sum(answered), len(answered))}")
    for each, row in pairs if with_errors else ():
        if each.did_abstain != (row.annotations is None):
            print(f"  - {row.topic}: cue {each.cue!r} in {row.output[:200]!r}")


def main() -> None:
    """Print the figures for each model, and for both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--factscore", type=Path, required=True, metavar="DIR")
    parser.add_argument("--half", choices=["held-out", "development", "all"], default="held-out")
    parser.add_argument("--errors", action="store_true", help="print the responses that are judged wrongly")
    options = parser.parse_args()

    detector = AbstentionDetector()
    everything: list[Row] = []
    for model in MODELS:
        rows = rows_of(options.factscore, model, options.half)
        everything += rows
        report(f"{model}, {options.half}", rows, detector, with_errors=options.errors)
    report(f"both, {options.half}", everything, detector, with_errors=False)


if __name__ == "__main__":
    main()
