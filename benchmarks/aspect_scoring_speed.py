"""How long it takes to score outputs of aspect agents and to aggregate scorecards, and in how much memory.

    python benchmarks/aspect_scoring_speed.py [OUTPUTS.jsonl] [--sentences 100000] [--workers 2]

Without a file it makes outputs: Korean and English sentences with two or three aspects, both stages, a debate, logs,
states and gold; a tenth of the spans is wrong. The outputs of a file are repeated with other ids until there are
enough. Every step runs in a process of its own. Beside it stands the time that orjson takes to parse every line of the
same file into dicts, in this run; the goal is at most five times that, and at most 1 GiB at the peak of the parent and
its workers together.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

MOST_TIMES = 5.0
MOST_MEGABYTES = 1024.0
SENTENCES = {
    "ko": (
        ("배터리는 하루 종일 가는데 충전 속도가 너무 느리고 화면은 선명해요.", ("배터리", "충전 속도", "화면")),
        ("배송은 빨랐지만 포장이 찢어져서 기분이 별로였어요.", ("배송", "포장")),
        ("음식은 맛있고 직원도 친절한데 주차장이 좁아서 불편했습니다.", ("음식", "직원", "주차장")),
    ),
    "en": (
        ("The staff was friendly, but the soup came cold and the bill took forever.", ("staff", "soup", "bill")),
        ("Great battery and a bright screen, although the speakers are tinny.", ("battery", "screen", "speakers")),
        ("I liked the view; the room itself was small and not clean.", ("view", "room")),
    ),
}


def made_outputs(number: int) -> Iterator[bytes]:
    """As many outputs, each as a line."""
    rng = random.Random(0)
    encoder = msgspec.json.Encoder()
    for place in range(number):
        language = "ko" if place % 2 else "en"
        text, terms = SENTENCES[language][place // 2 % 3]
        yield encoder.encode(_output(f"s{place // 2}", text, terms, rng=rng, seed=place % 2)) + b"\n"


def repeated_outputs(path: Path, number: int) -> Iterator[bytes]:
    """The outputs of a file, with other ids each time."""
    lines = [msgspec.json.decode(line) for line in path.read_bytes().splitlines() if line.strip()]
    for place in range(number):
        turn, which = divmod(place, len(lines))
        yield msgspec.json.encode({**lines[which], "text_id": f"{lines[which]['text_id']}-{turn}"}) + b"\n"


def _output(name: str, text: str, terms: tuple[str, ...], *, rng: random.Random, seed: int) -> dict[str, object]:
    polarities = ("positive", "negative", "neutral")
    spans = {}
    for term in terms:
        start = text.index(term) + (rng.choice((-1, 1, 3)) if rng.random() < 0.1 else 0)
        spans[term] = {"start": start, "end": start + len(term)}
    gold = {term: polarities[place % 2] for place, term in enumerate(terms)}
    first = {term: rng.choice(polarities) if rng.random() < 0.2 else gold[term] for term in terms}
    second = {term: gold[term] if rng.random() < 0.5 else first[term] for term in terms}
    risks = [
        {"type": "CONTRAST", "scope": {"start": 0, "end": len(text)}, "severity": "medium", "description": "but"}
    ] * (rng.random() < 0.6)
    turns = [
        {
            "agent": agent,
            "proposed_edits": [
                {"op": "set_polarity", "target": {"aspect_term": term}, "value": gold[term], "evidence": text[:20]}
                for term in terms
            ],
        }
        for agent in ("epm", "tan", "cj")
    ]
    points = [
        {
            "speaker": agent,
            "stance": "patch",
            "aspect_terms": list(terms),
            "mapping_confidence": "direct",
            "weight": 0.5,
            "polarity_hint": "positive",
            "provenance_hint": f"source:{agent}/patch",
        }
        for agent in ("epm", "tan", "cj")
    ]

    def sentiments(polarity: dict[str, str]) -> list[dict[str, object]]:
        return [
            {
                "aspect_term": {"term": term, "span": spans[term]},
                "polarity": polarity[term],
                "confidence": 0.8,
                "evidence": text[: len(text) // 2],
                "polarity_distribution": {polarity[term]: 0.8, "neutral": 0.2},
                "is_implicit": False,
                "is_backfilled": False,
                "neutral_reason": None,
            }
            for term in terms
        ]

    def tuples(polarity: dict[str, str]) -> list[dict[str, object]]:
        return [
            {"aspect_term": term, "polarity": polarity[term], "aspect_ref": None, "span": spans[term]} for term in terms
        ]

    aspects = [{"term": term, "span": spans[term], "confidence": 0.9, "rationale": "a noun"} for term in terms]
    states = [
        {
            "step": step,
            "aspects": [{"term": t, "span": spans[t], "polarity": first[t], "has_sentiment": True} for t in terms],
        }
        for step in ("ate", "atsa", "atsa_review", "debate_override")
    ]
    return {
        "text_id": name,
        "input_text": text,
        "stage1": {
            "ate": {"aspects": aspects},
            "atsa": {"aspect_sentiments": sentiments(first)},
            "validator": {
                "structural_risks": risks,
                "correction_proposals": [
                    {"target_aspect": terms[0], "proposal_type": "FLIP_POLARITY", "rationale": "after but"}
                ],
                "consistency_score": 0.7,
            },
        },
        "stage2": {
            "ate": {"aspect_review": [{"term": term, "action": "keep", "reason": "it is there"} for term in terms]},
            "atsa": {
                "sentiment_review": [{"aspect_term": term, "action": "maintain", "reason": "it fits"} for term in terms]
            },
            "validator": {"structural_risks": [], "correction_proposals": [], "consistency_score": 0.9},
        },
        "debate": {
            "rounds": [{"round_index": 0, "turns": turns}],
            "summary": {"final_tuples": tuples(gold), "sentence_polarity": "mixed", "sentence_evidence_spans": [text]},
            "topic": text,
        },
        "debate_review_context": {
            "aspect_terms": list(terms),
            "rebuttal_points": points,
            "aspect_hints": {
                term: [{"speaker": "epm", "stance": "patch", "weight": 0.5, "polarity_hint": gold[term]}]
                for term in terms
            },
            "mapping_stats": {"direct": 2, "fallback": 1, "none": 0},
            "mapping_coverage": 1.0,
            "mapping_fail_reasons": {"fallback_used": 1},
        },
        "patched_stage2_ate": {"aspects": aspects},
        "patched_stage2_atsa": {"aspect_sentiments": sentiments(second)},
        "correction_applied_log": [
            {
                "proposal_type": "FLIP_POLARITY",
                "target_aspect": terms[0],
                "rationale": "after but",
                "applied": first != second,
                "reason": "",
                "ignored_reason": None if first != second else "without_effect",
                "step": "validator_proposals",
            }
        ],
        "override_log": [
            {
                "aspect_term": term,
                "positive": 1.0,
                "negative": 0.0,
                "decision": "skipped",
                "reason": "skipped_low_signal",
            }
            for term in terms
        ],
        "states": states,
        "analysis_flags": {
            "correction_occurred": first != second,
            "final_confidence_score": 0.8,
            "stage2_executed": True,
        },
        "moderator": {
            "final_label": "mixed",
            "confidence": 0.8,
            "rationale": "stage 2 is preferred",
            "applied_rules": ["B", "M", "D"],
            "arbiter_flags": {"rule_b_applied": True, "rule_e_attempted_after_b": True},
            "selected_stage": "stage2",
            "decision_reason": "stages_differ",
        },
        "final_result": {
            "label": "mixed",
            "confidence": 0.8,
            "final_aspects": [{"term": t, "span": spans[t], "polarity": second[t], "confidence": 0.8} for t in terms],
            "stage1_tuples": tuples(first),
            "stage2_tuples": tuples(second),
            "final_tuples": tuples(second),
        },
        "gold_tuples": [{"aspect_term": term, "polarity": gold[term]} for term in terms],
        "usage": {"calls": 10, "tokens_in": 4000, "tokens_out": 900, "cost_usd": 0.002, "latency_ms": 2100.0},
        "meta": {"run_id": "speed", "seed": seed, "profile": "regression", "language_code": "ko"},
    }


def parse(path: Path) -> None:
    """Parse every line with orjson."""
    import orjson

    started = time.perf_counter()
    with path.open("rb") as stream:
        for line in stream:
            orjson.loads(line)
    print(json.dumps({"seconds": time.perf_counter() - started}))


def work(step: str, path: Path, workers: int) -> None:
    """Do one step in this process, and print seconds and memory."""
    from hallumeter.aspects.aggregate.overview import AggregateSettings
    from hallumeter.aspects.aggregate.pipeline import aggregate_file
    from hallumeter.aspects.aggregate.run_writer import aggregate_to_folder
    from hallumeter.aspects.grounding import target_words
    from hallumeter.aspects.score.pipeline import ScoreSettings, score_outputs

    started = time.perf_counter()
    if step == "score":
        with path.with_name("scorecards.jsonl").open("wb") as stream:
            score_outputs(path, ScoreSettings(words=target_words(), workers=workers), stream.write)
    elif step == "aggregate":
        aggregate_file(path, AggregateSettings(workers=workers))
    else:
        aggregate_to_folder(path, path.with_name("run"), AggregateSettings(workers=workers))
    seconds = time.perf_counter() - started
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = sum(each.ru_utime + each.ru_stime for each in used)
    own, worker = (each.ru_maxrss / 1024 for each in used)
    print(json.dumps({"seconds": seconds, "processor": processor, "megabytes": own + workers * worker}))


def in_a_process(*arguments: str) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, *arguments]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="?", type=Path)
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--run", action="store_true", help="also write a run folder")
    parser.add_argument("--step", choices=("parse", "score", "aggregate", "run"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step == "parse":
        parse(given.path)
        return
    if given.step is not None:
        work(given.step, given.path, given.workers)
        return
    print(f"{'step':<10} {'MB of file':>10} {'orjson s':>9} {'seconds':>8} {'times':>6} {'CPU s':>7} {'peak MB':>8}")
    is_met = True
    with tempfile.TemporaryDirectory() as folder:
        outputs, cards = Path(folder) / "outputs.jsonl", Path(folder) / "scorecards.jsonl"
        with outputs.open("wb") as stream:
            lines = (
                made_outputs(given.sentences) if given.path is None else repeated_outputs(given.path, given.sentences)
            )
            stream.writelines(lines)
        for step, path in (("score", outputs), ("aggregate", cards), *([("run", cards)] if given.run else [])):
            parsed = in_a_process("--step", "parse", str(path))["seconds"]
            found = in_a_process("--step", step, str(path), "--workers", str(given.workers))
            times = found["seconds"] / parsed
            is_met &= step == "run" or (times <= MOST_TIMES and found["megabytes"] <= MOST_MEGABYTES)
            size = path.stat().st_size / 1e6
            row = f"{step:<10} {size:>10,.0f} {parsed:>9.2f} {found['seconds']:>8.2f} {times:>6.2f}"
            print(f"{row} {found['processor']:>7.2f} {found['megabytes']:>8.0f}", flush=True)
    print(f"at most {MOST_TIMES:g} times orjson and {MOST_MEGABYTES:g} MB: {'met' if is_met else 'NOT met'}")


if __name__ == "__main__":
    main()
