"""Evaluators with the habits of real ones, for the conformance kit."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence

Ask = Callable[[str], str]


def share_of_words(response: str, evidence: Sequence[str]) -> float:
    """Takes an empty answer for a perfect one."""
    words = response.split()
    return sum(word in " ".join(evidence).split() for word in words) / len(words) if words else 1.0


def only_the_beginning(response: str, evidence: Sequence[str], question: str | None = None) -> float | None:
    """Reads 512 words of the answer and of the evidence, and does not say so."""
    words, known = response.split()[:512], set(" ".join(evidence).split()[:512])
    return sum(word in known for word in words) / len(words) if words and known else None


def not_a_number(response: object, evidence: Sequence[str]) -> float:
    return float("nan")


def a_text(response: object, evidence: Sequence[str]) -> str:
    return "good"


def faithfulness_of_a_model(response: str, evidence: Sequence[str], ask: Ask | None = None) -> dict[str, object]:
    """Takes a reply in which no "no" can be read for approval, as more than one tool has done."""
    sys.stdout.write("what an evaluator prints is no outcome\n")
    reply = ask("judge this") if ask is not None else "yes"
    return {"score": 0.0 if "no." in reply else 1.0}


def ends_the_process(response: object, evidence: Sequence[str]) -> float:
    os._exit(3)


def never_comes_back(response: object, evidence: Sequence[str]) -> float:
    time.sleep(600)
    return 1.0
