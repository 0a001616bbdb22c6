"""What the steps, the errors and the rules of aspect agents are called on a page: `wording.toml` says it in English."""

from __future__ import annotations

import tomllib
from importlib import resources

from hallumeter.report.languages.speaking import message, say

_WORDS: dict[str, dict[str, str]] = tomllib.loads(
    resources.files("hallumeter.aspects.report").joinpath("wording.toml").read_text(encoding="utf-8")
)
STEP_WORDS = _WORDS["steps"]
ERROR_WORDS = _WORDS["errors"]
ERROR_NOTES = _WORDS["error_notes"]
POLARITY_WORDS = _WORDS["polarities"]
ASK_WORDS = _WORDS["asks"]
IGNORED_WORDS = _WORDS["ignored"]
RULE_WORDS = _WORDS["rules"]
PART_WORDS = _WORDS["parts"]
CODE_WORDS = _WORDS["codes"]
DEEDS = _WORDS["deeds"]
STAGES = {
    message("Stage 1"): ("ate", "ate_tidying", "atsa", "atsa_tidying", "validator", "stage1"),
    message("Debate"): ("epm", "tan", "cj", "debate_summary"),
    message("Stage 2"): (
        *("validator_proposals", "ate_review", "atsa_review", "validator_review", "debate_override", "anchoring"),
    ),
    message("Decision"): ("moderator", "final"),
}
"""The stages that the steps belong to; others speak in the debate."""


def step_words(step: str) -> str:
    """What a step or a speaker is called; a name that is not known, as a debate's own, is shown as it is."""
    return say(STEP_WORDS[step]) if step in STEP_WORDS else step


def part_words(name: str, part: str) -> str:
    """What a part of a whole is called."""
    if name == "moderator_rule" and part in RULE_WORDS:
        return f"{part} – {say(RULE_WORDS[part])}"
    known = IGNORED_WORDS | CODE_WORDS
    return say(known[part]) if part in known else part.replace("_", " ")


def said(words: dict[str, str]) -> dict[str, str]:
    """Words in the language that is being spoken."""
    return {code: say(text) for code, text in words.items()}
