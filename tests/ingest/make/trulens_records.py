"""Let TruLens judge groundedness with a scripted model: `python trulens_records.py FOLDER`, trulens-feedback installed.

The feedback is TruLens's own; the table around it is laid out as `get_records_and_feedback()` documents it, because
recording an application would need more than a script.
"""

import ast
import json
import sys
from contextlib import suppress
from pathlib import Path

from questions import ANSWERS, EVIDENCE, QUESTION
from trulens.core.feedback import feedback as core_feedback
from trulens.feedback.dummy.provider import DummyProvider
from trulens.feedback.generated import ParseError

SPLIT = core_feedback.GroundednessConfigs(use_sent_tokenize=False, filter_trivial_statements=True)


class Scripted(DummyProvider):
    """Cuts answers at their full stops, filters greetings, and grades statements; one grade cannot be read."""

    def _create_chat_completion(self, prompt=None, messages=None, **options) -> str:
        system, user = messages[0]["content"], messages[-1]["content"]
        if "trivial" in system.lower():
            given = ast.literal_eval(user[user.index("[") : user.rindex("]") + 1])
            return json.dumps([text for text in given if "Hello" not in text])
        if "Score:" not in system and "score" not in system.lower():
            return user.replace(". ", ".\n")
        if "atlas" in user:
            return "I would rather not say."
        grade = 0 if "999" in user.rpartition("Hypothesis")[2] or "Rouen" in user else 3
        return f"Criteria: groundedness\nSupporting Evidence: {EVIDENCE}\nScore: {grade}"


def main(folder: Path) -> None:
    provider = Scripted(loading_prob=0.0, error_prob=0.0, freeze_prob=0.0, overloaded_prob=0.0, delay=0.0, alloc=0)
    rows = []
    for number, (name, answer) in enumerate(ANSWERS.items(), 1):
        row = {
            "app_id": "app_1", "app_name": "rivers", "app_version": "base", "type": "SPAN", "record_id": name,
            "input": QUESTION, "output": answer, "tags": "", "record_json": {}, "cost_json": {}, "perf_json": {},
            "ts": f"2026-11-17T10:00:0{number}", "latency": 0.1, "total_tokens": 0, "total_cost": 0.0,
        }  # fmt: skip
        calls = []
        score = None
        if name != "broken":
            with suppress(ParseError):  # TruLens logs it, and leaves the record without a score
                score, meta = provider.groundedness_measure_with_cot_reasons(
                    EVIDENCE, answer, groundedness_configs=SPLIT
                )
                calls = [{"args": {"source": EVIDENCE, "statement": answer}, "ret": score, "meta": meta}]
        row |= {"Groundedness": score, "Groundedness_calls": calls, "Groundedness direction": True}
        rows.append(row)
    (folder / "trulens.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
