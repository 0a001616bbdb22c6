"""Whose value, drug or condition is it, of what time, and what is advised? How many of 541 probe answers are read so.

    python benchmarks/probe_answers.py [--list]

On the answers of three files of clinical_labels, half of them Korean, to two patients. An answer is right when exactly
the labelled mentions are SUPPORTED and REFUTED, and exactly the labelled safety rules are violated. Labels were
written before the reader was changed. Of probes.jsonl 89 answers are held back; of whose_and_when.jsonl those whose
SHA-256 begins with an even byte. --list prints what is wrong among the others; without it all are counted.
"""

import argparse
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from hallumeter.dialogue.judges.safety import judge_safety
from hallumeter.dialogue.judges.slots import judge_slots
from hallumeter.dialogue.reading.reader import ClinicalReader
from hallumeter.dialogue.records import Mention, PatientSlots
from hallumeter.records.claim import Label

FOLDER = Path(__file__).parent / "clinical_labels"
FILES = ("probes.jsonl", "whose_and_when.jsonl", "first_reading.jsonl")


def named(mention: Mention) -> str:
    """A mention as the labels write it."""
    if mention.value is None:
        return mention.name
    value = f"{mention.value:.12g}" if isinstance(mention.value, float | int) else mention.value
    return f"{mention.name}={value}"


def found_in(case: dict[str, Any], slots: PatientSlots) -> dict[str, set[str]]:
    """What is supported, refuted and violated."""
    text = ClinicalReader().read(case["answer"])
    findings = judge_slots(text, slots)
    return {
        "supported": {named(each.mention) for each in findings if each.label is Label.SUPPORTED},
        "refuted": {named(each.mention) for each in findings if each.label is Label.REFUTED},
        "violated": {each.rule_id for each in judge_safety(text, "", slots, turn_id=case["turn"]) if each.is_violated},
    }


def expected_of(case: dict[str, Any]) -> dict[str, set[str]]:
    """What the labels say."""
    return {key: set(case[key]) for key in ("supported", "refuted", "violated")}


def is_held_back(case: dict[str, Any]) -> bool:
    """Whether an answer was kept unseen while the reader was changed."""
    is_even = hashlib.sha256(case["answer"].encode()).digest()[0] % 2 == 0
    return bool(case.get("held_back", is_even))


def main() -> None:
    """Count the answers of each file that are read as labelled."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    is_listing = parser.parse_args().list
    patients = msgspec.json.decode((FOLDER / "probe_patients.json").read_bytes(), type=dict[str, PatientSlots])
    for name in FILES:
        cases = [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]
        if is_listing:
            list_errors([case for case in cases if not is_held_back(case)], patients)
        else:
            print(name)
            count_cases(cases, patients)


def list_errors(cases: list[dict[str, Any]], patients: dict[str, PatientSlots]) -> None:
    """Print the answers that are not read as labelled."""
    for case in cases:
        found, expected = found_in(case, patients[case["patient"]]), expected_of(case)
        if found != expected:
            print(f"{case['id']}: {case['answer']}\n    expected {expected}\n    found    {found}")


def count_cases(cases: list[dict[str, Any]], patients: dict[str, PatientSlots]) -> None:
    """Print how many answers are right by group and part."""
    right: Counter[tuple[str, bool]] = Counter()
    total: Counter[tuple[str, bool]] = Counter()
    for case in cases:
        key = case["group"], is_held_back(case)
        total[key] += 1
        right[key] += found_in(case, patients[case["patient"]]) == expected_of(case)
    print(f"{'group':<17} {'held back':>10} {'seen':>8}")
    for group in dict.fromkeys(group for group, _ in total):
        counts = [f"{right[group, is_held]} of {total[group, is_held]}" for is_held in (True, False)]
        print(f"{group:<17} {counts[0]:>10} {counts[1]:>8}")
    for is_held, words in ((True, "held back"), (False, "seen")):
        of = [sum(counter[key] for key in counter if key[1] is is_held) for counter in (right, total)]
        print(f"all {words}: {of[0]} of {of[1]}")


if __name__ == "__main__":
    main()
