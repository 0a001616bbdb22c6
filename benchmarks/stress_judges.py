"""Which errors do judges catch? The rules, both tiers of the embedded judge, and a local language model.

    python benchmarks/stress_judges.py --gguf MODEL.gguf --work DIR [--limit 40] [--threads 2]

Sentences of the evidence of the bundled answers, with one error of a known kind in each, as by `hallumeter stress`;
the embedded judge has learned from none of these sources. The language model is served on this machine by xllamacpp (a
package to install by hand); without --gguf it is left out. What it said is kept in DIR and not asked again.
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from importlib.resources import as_file, files
from pathlib import Path

from hallumeter.challenge.stress.cases import StressSettings
from hallumeter.challenge.stress.pipeline import stress_files
from hallumeter.challenge.stress.result import JudgeResult
from hallumeter.claims.settings import AuditSettings, LanguageModelSettings
from hallumeter.models.pace import PaceSettings
from hallumeter.run.progress import NoProgress
from language_model_agreement import served

LOCAL = ("rules", "embedded:fast", "embedded")


def row(result: JudgeResult) -> str:
    """A judge as a row of a table: what it caught of each kind, and its false alarms."""
    errors = [kind for kind in result.kinds if kind.is_error]
    shares = [f"{kind.caught} / {kind.total}" for kind in errors]
    scores = [
        f"{score.value:.3f} ({score.interval[0]:.3f}–{score.interval[1]:.3f})" if score.interval else "undefined"
        for score in (result.mutation_score, result.false_alarms)
    ]
    places = f"{sum(kind.localised for kind in errors)} / {sum(kind.located for kind in errors)}"
    return " | ".join(["", result.judge, *scores, *shares, places, ""]).strip()


def main() -> None:
    """Read the arguments, put the judges to the test, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gguf", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--port", type=int, default=8932)
    arguments = parser.parse_args()
    arguments.work.mkdir(exist_ok=True, parents=True)
    serving = served(arguments.gguf, arguments.threads, arguments.port) if arguments.gguf else nullcontext(None)
    sample = as_file(files("hallumeter.samples") / "rag_answers.jsonl")
    with serving as model, sample as path:
        settings = StressSettings(
            claims="evidence",
            limit=arguments.limit,
            judging=AuditSettings(
                judges=(*LOCAL, model) if model else LOCAL,
                concurrency=1,
                cache=arguments.work,
                pace=PaceSettings(timeout_seconds=900),
                language_model=LanguageModelSettings(claims_per_call=1, wants_quotes=False, wants_logprobs=True),
            ),
        )
        result = stress_files([path], None, settings=settings, progress=NoProgress()).result
    print(f"{result.claims} claims, {result.cases} cases, seed {result.seed}\n")
    kinds = [f"{kind.kind} ({kind.n})" for kind in result.judges[0].kinds if kind.is_error]
    print("| judge | mutation score | false alarms |", " | ".join(kinds), "| place right |")
    print("| --- " * (len(kinds) + 4) + "|")
    for judge in result.judges[:-1]:  # the majority stands last
        print(row(judge))


if __name__ == "__main__":
    main()
